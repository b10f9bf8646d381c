//! `::findleaks` — blocks that nothing reaches.

use std::{cmp::Reverse, collections::BTreeMap, ops::ControlFlow};

use kcore::{
    Addr, Core,
    native_heap::{BlockTypes, Leak, Leaks},
    objects::Stopped,
};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use super::{
    beginning::{Beginning, Beginnings},
    block_record::BlockRecord,
    subject,
    type_text::{type_words, types_of},
};
use crate::watched::watched;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show each leak, and not groups of them" },
    Opt { flag: 'v', value: None, help: "also say how many blocks were looked at" },
];

const HELP: &str = "\
Finds blocks in use that nothing reaches. Every word of globals, thread-local storage, used parts of stacks, registers \
and other data counts as a pointer if it holds an address within a block. So does every word of a block that is \
reached. What allocators keep for themselves does not count.\n\n\
Leaks that other leaks refer to are not shown: their bytes count with the first one. Of a ring of leaks, one is shown. \
Leaks of one size and likely type, or beginning, are one group.\n\n\
A program may hide its pointers, by tags or by tables of offsets: then a block that is no leak is \
listed. A number may look like a pointer: then a leak is not found. OLD counts leaks to which a word below a stack pointer still refers. They were \
lost lately, or their pointer is in a register that a frame saved elsewhere.";

const EXAMPLES: &[Example] = &[
    Example { line: "::findleaks", shows: "what was leaked, in groups, the largest first" },
    Example { line: "::findleaks -a | ::whatis", shows: "the block of each leak" },
];

/// Finds leaks.
pub struct Findleaks;

impl Dcmd for Findleaks {
    fn spec(&self) -> Spec {
        Spec::new("findleaks", Group::Memory, "find blocks of native heaps that nothing reaches")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        if subject::wanted(cx, &Args::default())?.is_empty() {
            return Err(DcmdError::failed("no heap can be read: whether blocks leak is not known"));
        }
        let core = cx.core().clone();
        let leaks = if args.has('a') { each(cx, &core)? } else { grouped(cx, &core)? };
        notes(cx, &leaks, args.has('v'))
    }
}

fn notes(cx: &mut Cx<'_>, leaks: &Leaks, all: bool) -> Result<()> {
    if leaks.used > 0 && (all || leaks.leaked == 0) {
        let Leaks { used, leaked, leaked_bytes, .. } = leaks;
        cx.note(&format!(
            "{leaked} of {used} blocks in use are reached by nothing: {leaked_bytes} bytes"
        ))?;
    }
    if leaks.missing > 0 {
        let missing = leaks.missing;
        let why = match cx.core().snapshot().facts() {
            Some(facts) if !facts.reads_later => "were not copied (--live-memory reads them later)",
            _ => "are not in the core",
        };
        cx.note(&format!(
            "{missing} bytes of memory that may be written {why}: pointers in it are missing"
        ))?;
    }
    if leaks.skipped > 0 {
        let skipped = leaks.skipped;
        cx.note(&format!(
            "{skipped} bytes of heaps were not walked: no leak in them is found, and what they may refer to counts as reached"
        ))?;
    }
    leaks.notes.iter().try_for_each(|note| cx.note(note))
}

/// What a block is, in words: its class, its likely type, the symbol that its first word points to, or its text.
fn beginning(
    core: &Core,
    types: &BlockTypes,
    beginnings: &mut Beginnings<'_>,
    at: Addr,
) -> Option<String> {
    const MAX_TEXT: u64 = 24;
    let begins = beginnings.of(at);
    let is_class = matches!(begins, Beginning::Class(_));
    if let Some(ty) = types.at(at).filter(|_| !is_class && !types.is_plain(at)) {
        return Some(format!("likely {}", type_words(&ty)));
    }
    match begins {
        Beginning::Class(name) | Beginning::Symbol(name) => Some(name.to_string()),
        Beginning::Text => {
            let bytes = core.space().read_held(at, MAX_TEXT);
            let text = bytes.iter().take_while(|byte| matches!(byte, b' '..=b'~')).count();
            Some(format!("\"{}\"", String::from_utf8_lossy(bytes.get(..text)?)))
        }
        _ => None,
    }
}

/// Shows each leak, lowest address first.
fn each(cx: &mut Cx<'_>, core: &Core) -> Result<Leaks> {
    let mut all: Vec<Leak> = Vec::new();
    let leaks = found(cx, core, &mut |leak| all.push(leak))?;
    all.sort_unstable_by_key(|leak| leak.block.at);
    if all.is_empty() {
        return Ok(leaks);
    }
    let types = types_of(cx)?;
    let mut beginnings = Beginnings::new(core);
    for leak in all {
        if let Some(record) = LeakRecord::new(core, &types, &mut beginnings, leak) {
            cx.emit(&record)?;
        }
    }
    Ok(leaks)
}

/// Shows groups of leaks, the largest first.
fn grouped(cx: &mut Cx<'_>, core: &Core) -> Result<Leaks> {
    let mut all: Vec<Leak> = Vec::new();
    let leaks = found(cx, core, &mut |leak| all.push(leak))?;
    if all.is_empty() {
        return Ok(leaks);
    }
    let types = types_of(cx)?;
    let mut beginnings = Beginnings::new(core);
    let mut groups: BTreeMap<(u64, Option<String>), GroupRecord> = BTreeMap::new();
    for leak in all {
        let begins = beginning(core, &types, &mut beginnings, leak.block.at);
        let key = (leak.block.usable, begins);
        match groups.get_mut(&key) {
            Some(group) => group.add(&leak),
            None => {
                let mut group = GroupRecord::new(&leak, key.1.clone());
                group.add(&leak);
                groups.insert(key, group);
            }
        }
    }
    let mut groups: Vec<GroupRecord> = groups.into_values().collect();
    groups.sort_by_key(|group| Reverse((group.bytes, group.leaks)));
    groups.iter().try_for_each(|group| cx.emit(group))?;
    Ok(leaks)
}

fn found(cx: &mut Cx<'_>, core: &Core, take: &mut dyn FnMut(Leak)) -> Result<Leaks> {
    let mut tell = |leak| {
        take(leak);
        ControlFlow::Continue(())
    };
    watched(cx, |watch| core.heaps().leaks(watch, &mut tell).ok_or(Stopped))
}

const GROUP_COLUMNS: &[Column] = &[
    Column::right("leaks", "LEAKS", 8),
    Column::right("usable", "SIZE", 10),
    Column::right("blocks", "BLOCKS", 10),
    Column::right("bytes", "BYTES", 12),
    Column::right("old", "OLD", 6),
    Column::right("example", "EXAMPLE", 16).spec("x"),
    Column::left("begins", "IS OR BEGINS WITH", 0),
];

/// Leaks of one size and beginning.
struct GroupRecord {
    usable: u64,
    begins: Option<String>,
    leaks: u64,
    blocks: u64,
    bytes: u64,
    old: u64,
    example: Addr,
}

impl GroupRecord {
    /// Of none yet.
    const fn new(leak: &Leak, begins: Option<String>) -> Self {
        let (usable, example) = (leak.block.usable, leak.block.at);
        Self { usable, begins, leaks: 0, blocks: 0, bytes: 0, old: 0, example }
    }

    fn add(&mut self, leak: &Leak) {
        self.leaks = self.leaks.saturating_add(1);
        self.blocks = self.blocks.saturating_add(leak.count);
        self.bytes = self.bytes.saturating_add(leak.bytes);
        self.old = self.old.saturating_add(u64::from(leak.is_on_old_stack));
    }
}

impl Record for GroupRecord {
    fn kind(&self) -> &'static str {
        "leak_group"
    }

    fn view(&self) -> View {
        View::Table(GROUP_COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("leaks", self.leaks)
            .num("usable", self.usable)
            .num("blocks", self.blocks)
            .num("bytes", self.bytes)
            .num("old", self.old)
            .addr("example", self.example)
            .opt_text("begins", self.begins.as_deref());
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.example))
    }
}

const LEAK_COLUMNS: &[Column] = &[
    Column::right("address", "ADDRESS", 16).spec("x"),
    Column::right("usable", "SIZE", 10),
    Column::right("blocks", "BLOCKS", 10),
    Column::right("bytes", "BYTES", 12),
    Column::left("kind_text", "", 5),
    Column::left("begins", "IS OR BEGINS WITH", 0),
];

/// One leak.
struct LeakRecord {
    leak: Leak,
    block: BlockRecord,
    begins: Option<String>,
}

impl LeakRecord {
    fn new(
        core: &Core,
        types: &BlockTypes,
        beginnings: &mut Beginnings<'_>,
        leak: Leak,
    ) -> Option<Self> {
        let block = BlockRecord::new(core, leak.heap, leak.block)?;
        Some(Self { leak, block, begins: beginning(core, types, beginnings, leak.block.at) })
    }
}

impl Record for LeakRecord {
    fn kind(&self) -> &'static str {
        "leak"
    }

    fn view(&self) -> View {
        View::Table(LEAK_COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let leak = &self.leak;
        let kind = match (leak.is_ring, leak.is_on_old_stack) {
            (true, _) => "ring",
            (_, true) => "old",
            _ => "",
        };
        out.addr("address", leak.block.at)
            .num("usable", leak.block.usable)
            .num("blocks", leak.count)
            .num("bytes", leak.bytes)
            .flag("ring", leak.is_ring)
            .flag("on_old_stack", leak.is_on_old_stack)
            .opt_text("begins", self.begins.as_deref())
            .put("block", self.block.cell())
            .display("kind_text", Cell::text(kind));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.leak.block.at))
    }
}
