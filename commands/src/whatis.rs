//! `::whatis` — what lies at an address.

use kcore::{Frame, Mapping, MappingKind, Origin, Tid, What};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Dot, Example, Fields, Group, Message, Opt, Record, Result, Spec,
    View,
};

use crate::{
    malloc::{block_record::BlockRecord, event_record::EventRecord, type_text::TypeText},
    names::Names,
};

const VIEW: &str = "{address} is \
    {known^unknown}\
    {known?{symbol_text?{symbol_text}, }{object?{object}, }{block_text?in {block_text} [{block_base},{block_limit}){block_offset?+{block_offset:#x}}{block_offset^, whose header this is}, }{type_text?{type_text}, }in {place}\
    {in_stack^ [{base},{limit})}{frame?, frame {frame}{frame_text? of {frame_text}}}}";

/// The sources that may know an address, most specific first.
const SOURCES: [&str; 3] = ["threads", "stacks", "mappings"];

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show every answer: for a stack, also its mapping" },
    Opt { flag: 'i', value: None, help: "the number is an identifier, that of a thread" },
    Opt { flag: 'k', value: None, help: "keep the order of the pipe instead of sorting" },
    Opt { flag: 'q', value: None, help: "show one line for each answer, as always" },
    Opt { flag: 'v', value: None, help: "name the sources that are searched" },
];

const EXAMPLES: &[Example] = &[
    Example { line: "<rip::whatis", shows: "the symbol and mapping of the program counter" },
    Example { line: "<rsp::whatis", shows: "the thread and frame whose stack it is" },
    Example { line: "::walk object | ::whatis", shows: "the mapping at the base of each object" },
];

/// Says what lies at each address.
pub struct Whatis;

impl Dcmd for Whatis {
    fn spec(&self) -> Spec {
        Spec::new("whatis", Group::Memory, "say what lies at an address")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .takes_list()
            .help(
                "Shows the symbol that holds the address, if any, and where the address lies. \
                 That is the stack of a thread, with its frame, or a mapping, with its bounds. \
                 The innermost frame is 0, and inlined calls do not count. In the heap of a \
                 language, the object is shown too; in that of malloc or another allocator, the block. Of \
                 a block in use, the likely type is shown, and the pointer that tells it: see \
                 ::malloctypes. AddressSanitizer knows who allocated a block, and who freed it: both are shown with \
                 their stacks. JSON adds the module and the origin of the \
                 bytes.\n\n\
                 The sources are kcore`threads, for identifiers, and kcore`stacks and \
                 kcore`mappings, for addresses.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let mut dots = match &cx.input().list {
            Some(list) => list.iter().map(|value| value.dot).collect(),
            None => vec![cx.dot()],
        };
        if !args.has('k') {
            dots.sort_by_key(|dot| dot.number());
        }
        if args.has('v') {
            announce(cx, args.has('i'))?;
        }
        dots.into_iter().try_for_each(|dot| match dot {
            _ if args.has('i') => identify(cx, dot),
            Dot::Thread(_) => identify(cx, dot),
            dot => answer(cx, dot, args.has('a')),
        })
    }
}

/// Names the sources that are searched. For an identifier, only those that know identifiers.
fn announce(cx: &mut Cx<'_>, identifiers: bool) -> Result<()> {
    let asked = SOURCES.iter().filter(|source| (**source == "threads") == identifiers);
    asked.copied().try_for_each(|source| cx.emit(&Message(format!("Searching kcore`{source}..."))))
}

/// Says what an identifier is of.
fn identify(cx: &mut Cx<'_>, dot: Dot) -> Result<()> {
    let number = dot.number();
    let tid = u32::try_from(number).ok().map(Tid::new);
    let thread = tid.filter(|tid| cx.core().thread(*tid).is_some());
    cx.emit(&Identified { number, thread })
}

/// What an identifier is of.
struct Identified {
    number: u64,
    thread: Option<Tid>,
}

impl Record for Identified {
    fn kind(&self) -> &'static str {
        "identifier"
    }

    fn view(&self) -> View {
        View::Line("{value:x} is {thread?the identifier of thread {thread:d}}{thread^unknown}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.hex("value", self.number).num("thread", self.thread.map(|tid| u64::from(tid.get())));
    }
}

fn answer(cx: &mut Cx<'_>, dot: Dot, all: bool) -> Result<()> {
    let core = cx.core();
    let what = core.memory().whatis(dot.addr());
    let frame =
        what.thread.zip(what.frame).and_then(|(tid, index)| core.registers().of_frame(tid, index));
    let block = what.block.clone().map(|owned| BlockRecord::of(core, owned));
    let frame = frame.map(|(frame, _)| frame);
    let block_type = TypeText::of(cx, what.block.as_ref())?;
    let noted = what.block.as_ref().map(|owned| (owned.block.at, core.heaps().history(owned)));
    let core = core.clone();
    let mut record = WhatRecord { names: Names::new(cx), what, frame, block, block_type };
    cx.emit(&record)?;
    if all && record.what.thread.is_some() {
        record.what = What { thread: None, frame: None, ..record.what };
        cx.emit(&record)?;
    }
    let (block, events) = noted.unwrap_or_default();
    events.into_iter().try_for_each(|event| cx.emit(&EventRecord::new(&core, block, event)))
}

struct WhatRecord<'c> {
    names: Names<'c>,
    what: What,
    frame: Option<Frame>,
    block: Option<BlockRecord>,
    block_type: Option<TypeText>,
}

impl WhatRecord<'_> {
    /// The block that holds the address, in words.
    fn block_fields(&self, out: &mut Fields<'_>) {
        let block = self.block.as_ref();
        let range = block.map(|record| record.block().range());
        let offset = range.and_then(|range| self.what.at.offset_from(range.start));
        out.display("block_text", Cell::or_null(block, |record| Cell::text(record.words())))
            .display("block_base", Cell::or_null(range, |range| Cell::Addr(range.start)))
            .display("block_limit", Cell::or_null(range, |range| Cell::Addr(range.end)))
            .display("block_offset", Cell::or_null(offset, Cell::Hex));
    }

    fn place(&self) -> Option<String> {
        match self.what.thread {
            Some(tid) => Some(format!("[ stack tid={tid} ]")),
            // A mapping may hold the stack of a thread, and beside it an object that is on no stack.
            None if self.what.object.is_some() => match self.what.mapping.as_ref()?.kind {
                MappingKind::ThreadStack(_) => Some("[ anon ]".to_owned()),
                _ => self.what.mapping.as_ref().map(Mapping::name),
            },
            None => self.what.mapping.as_ref().map(Mapping::name),
        }
    }

    /// What runs in the frame.
    fn frame_symbol(&self) -> Cell<'_> {
        let frame = self.frame.filter(|_| self.what.frame.is_some());
        Cell::or_null(frame, |frame| {
            let at = frame.pc;
            let mut cell = self.names.cell(at.lookup());
            let past = at.addr().offset_from(at.lookup()).unwrap_or_default();
            cell.addr = at.addr();
            cell.offset = cell.offset.saturating_add(past);
            Cell::Symbol(cell)
        })
    }
}

impl Record for WhatRecord<'_> {
    fn kind(&self) -> &'static str {
        "whatis"
    }

    fn view(&self) -> View {
        View::Line(VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let what = &self.what;
        let symbol = self.names.at(what.at);
        let place = self.place();
        out.addr("address", what.at)
            .put("mapping", Cell::or_null(what.mapping.as_ref(), mapping_cell))
            .opt_text("module", what.module.as_deref())
            .opt_text("symbol", symbol.as_ref().and_then(|symbol| symbol.name.clone()))
            .hex("offset", symbol.as_ref().map(|symbol| symbol.offset))
            .num("thread", what.thread.map(|tid| u64::from(tid.get())))
            .num("frame", what.frame.map(|index| index as u64))
            .opt_text("object", what.object.as_deref())
            .put("block", Cell::or_null(self.block.as_ref(), BlockRecord::cell))
            .put("block_type", Cell::or_null(self.block_type.as_ref(), TypeText::cell))
            .opt_text("origin", what.origin.map(Origin::as_str))
            .display("known", Cell::Bool(place.is_some()))
            .display("place", Cell::or_null(place, Cell::text))
            .display(
                "type_text",
                Cell::or_null(self.block_type.as_ref(), |it| Cell::text(it.words())),
            )
            .display("in_stack", Cell::Bool(what.thread.is_some()))
            .display(
                "symbol_text",
                Cell::or_null(symbol, |_| Cell::Symbol(self.names.cell(what.at))),
            )
            .display("frame_text", self.frame_symbol());
        self.block_fields(out);
        let range = what.mapping.as_ref().map(|mapping| mapping.range);
        out.display("base", Cell::or_null(range, |range| Cell::Addr(range.start)))
            .display("limit", Cell::or_null(range, |range| Cell::Addr(range.end)));
    }
}

fn mapping_cell(mapping: &Mapping) -> Cell<'_> {
    Cell::Object(vec![
        ("base", Cell::Addr(mapping.range.start)),
        ("limit", Cell::Addr(mapping.range.end)),
        ("name", Cell::text(mapping.name())),
        ("permissions", Cell::or_null(mapping.permissions(), Cell::text)),
    ])
}
