//! `::malloctypes` — what the blocks of native heaps are.

use std::{cmp::Reverse, collections::BTreeMap, ops::ControlFlow};

use kcore::{
    Addr,
    native_heap::{BlockFilter, BlockStates},
    objects::Stopped,
};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::{
    beginning::{Beginning, Beginnings},
    subject,
};
use crate::{operand, watched::watched};

/// Groups that are shown unless more are asked for.
const SHOWN: usize = 20;
/// Groups that are kept, at most.
const MAX_GROUPS: usize = 1 << 18;

const OPTIONS: &[Opt] = &[
    subject::ALLOCATOR,
    Opt { flag: 'a', value: None, help: "show every group" },
    Opt {
        flag: 'n',
        value: Some("count"),
        help: "how many groups to show, in decimal (default 20)",
    },
    Opt { flag: 's', value: None, help: "also tell blocks of different sizes apart" },
];

const HELP: &str = "\
Groups blocks in use by how they begin, the group with the most bytes first. An object of a C++ class with virtual \
functions begins with a pointer to the class's table: so its class is known, also in stripped programs.\n\n\
Other blocks begin with a pointer to a symbol, with text, with a pointer into a heap or to other memory, with zeros, or with \
anything else. That is no type, but groups of one size may show what fills the heap. EXAMPLE is one block of the group.";

const EXAMPLES: &[Example] = &[
    Example { line: "::malloctypes", shows: "what the blocks are that take the most bytes" },
    Example { line: "::malloctypes -s -n 5", shows: "the five largest groups of one size" },
];

/// Groups blocks by how they begin.
pub struct Malloctypes;

impl Dcmd for Malloctypes {
    fn spec(&self) -> Spec {
        Spec::new("malloctypes", Group::Memory, "group the blocks of native heaps by what they are")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let most = match args.value('n') {
            _ if args.has('a') => usize::MAX,
            Some(word) => operand::decimal(word)?,
            None => SHOWN,
        };
        let groups = groups(cx, args)?;
        let rest = groups.len().saturating_sub(most);
        groups.iter().take(most).try_for_each(|group| cx.emit(group))?;
        if rest > 0 { cx.note(&format!("{rest} more groups (-a shows them)")) } else { Ok(()) }
    }
}

fn groups(cx: &mut Cx<'_>, args: &Args) -> Result<Vec<GroupRecord>> {
    let core = cx.core().clone();
    let by_size = args.has('s');
    let mut beginnings = Beginnings::new(&core);
    let mut groups: BTreeMap<(Beginning, u64), GroupRecord> = BTreeMap::new();
    for heap in subject::wanted(cx, args)? {
        let filter = BlockFilter::of_states(BlockStates::USED);
        let notes = watched(cx, |watch| {
            let told = core.heaps().each_block(heap, filter, watch, &mut |blocks| {
                for block in blocks {
                    let size = if by_size { block.usable } else { 0 };
                    let beginning = beginnings.of(block.at);
                    if groups.len() >= MAX_GROUPS
                        && !groups.contains_key(&(beginning.clone(), size))
                    {
                        continue;
                    }
                    let group =
                        groups.entry((beginning.clone(), size)).or_insert_with(|| GroupRecord {
                            beginning,
                            usable: by_size.then_some(block.usable),
                            count: 0,
                            bytes: 0,
                            example: block.at,
                        });
                    group.count = group.count.saturating_add(1);
                    group.bytes = group.bytes.saturating_add(block.usable);
                }
                ControlFlow::Continue(())
            });
            told.ok_or(Stopped)
        })?;
        notes.iter().try_for_each(|note| cx.note(note))?;
    }
    let mut groups: Vec<GroupRecord> = groups.into_values().collect();
    groups.sort_by_key(|group| Reverse((group.bytes, group.count)));
    Ok(groups)
}

const COLUMNS: &[Column] = &[
    Column::right("count", "COUNT", 10),
    Column::right("bytes", "BYTES", 13),
    Column::right("usable", "SIZE", 9),
    Column::right("example", "EXAMPLE", 16).spec("x"),
    Column::left("words", "WHAT", 0),
];

/// Blocks that begin alike.
struct GroupRecord {
    beginning: Beginning,
    usable: Option<u64>,
    count: u64,
    bytes: u64,
    example: Addr,
}

impl GroupRecord {
    fn words(&self) -> String {
        match &self.beginning {
            Beginning::Class(class) => class.to_string(),
            Beginning::Symbol(symbol) => format!("begins with a pointer to {symbol}"),
            Beginning::Text => "begins with text".to_owned(),
            Beginning::Pointer => "begins with a pointer into a heap".to_owned(),
            Beginning::Memory => "begins with a pointer to other memory".to_owned(),
            Beginning::Zeros => "begins with zeros".to_owned(),
            Beginning::Other => "other".to_owned(),
        }
    }
}

impl Record for GroupRecord {
    fn kind(&self) -> &'static str {
        "heap_type"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("kind", self.beginning.kind())
            .opt_text("name", self.beginning.name())
            .num("count", self.count)
            .num("bytes", self.bytes)
            .num("usable", self.usable)
            .addr("example", self.example)
            .display("words", Cell::text(self.words()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.example))
    }
}
