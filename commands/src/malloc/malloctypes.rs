//! `::malloctypes` — what the blocks of native heaps are.

use std::{cmp::Reverse, collections::BTreeMap, ops::ControlFlow, sync::Arc};

use kcore::{
    Addr,
    native_heap::{Block, BlockFilter, BlockRole, BlockStates, BlockType, BlockTypes},
    objects::Stopped,
};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::{
    beginning::{Beginning, Beginnings},
    subject,
    type_text::{type_words, types_of},
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
Groups blocks in use by what they most likely are, the group with the most bytes first. Types come from pointers: kcore \
follows those of global and local variables as their debug information declares them, and so on from block to block. \
A block to which a struct node * leads is a struct node. void * tells nothing.\n\n\
'[]' is an array. 'and more' is an object with something behind it, such as a larger object that begins with it. \
'part of' is what a container owns: its buffer, its nodes, its table. An object of a C++ class with virtual functions \
begins with a pointer to the class's table, so its class is known in stripped programs too.\n\n\
DISPUTED counts blocks that other pointers say to be something else. Other blocks begin with a pointer to a symbol, with \
text, with a pointer into a heap or to other memory, with zeros, or with anything else. That is no type. EXAMPLE is one \
block of the group.";

const EXAMPLES: &[Example] = &[
    Example { line: "::malloctypes", shows: "what the blocks are that take the most bytes" },
    Example { line: "::malloctypes -s -n 5", shows: "the five largest groups of one size" },
];

/// Groups blocks by what they are.
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
    let heaps = subject::wanted(cx, args)?;
    let types = types_of(cx)?;
    let mut kinds = Kinds { types: &types, beginnings: Beginnings::new(&core) };
    let mut groups = Groups { all: BTreeMap::new(), by_size: args.has('s') };
    for heap in heaps {
        let filter = BlockFilter::of_states(BlockStates::USED);
        let notes = watched(cx, |watch| {
            let told = core.heaps().each_block(heap, filter, watch, &mut |blocks| {
                for block in blocks {
                    let (kind, is_disputed) = kinds.of(block.at);
                    groups.count(kind, is_disputed, block);
                }
                ControlFlow::Continue(())
            });
            told.ok_or(Stopped)
        })?;
        notes.iter().try_for_each(|note| cx.note(note))?;
    }
    let mut groups: Vec<GroupRecord> = groups.all.into_values().collect();
    groups.sort_by_key(|group| Reverse((group.bytes, group.count)));
    Ok(groups)
}

/// What a block is: a type, or how it begins.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Type { words: String, name: Arc<str>, kind: &'static str },
    Beginning(Beginning),
}

impl Kind {
    fn of(ty: &BlockType) -> Self {
        let kind = match ty.role {
            BlockRole::Part => "container",
            BlockRole::Array | BlockRole::CountedArray => "array",
            _ => "type",
        };
        Self::Type { words: type_words(ty), name: Arc::clone(&ty.name), kind }
    }
}

/// Tells what blocks are.
struct Kinds<'c> {
    types: &'c BlockTypes,
    beginnings: Beginnings<'c>,
}

impl Kinds<'_> {
    /// What the block at an address is, and whether pointers to it disagree. What a container owns is counted to it; else
    /// an object's own table tells more of its class than pointers do. That a pointer to characters leads there says less
    /// than how the block begins.
    fn of(&mut self, at: Addr) -> (Kind, bool) {
        let ty = self.types.at(at);
        if let Some(ty) = ty.as_ref().filter(|ty| ty.role == BlockRole::Part) {
            return (Kind::of(ty), ty.is_disputed);
        }
        let beginning = self.beginnings.of(at);
        let is_class = matches!(beginning, Beginning::Class(_));
        let has_text = beginning == Beginning::Text && self.types.is_plain(at);
        match ty.filter(|_| !is_class && !has_text) {
            Some(ty) => (Kind::of(&ty), ty.is_disputed),
            None => (Kind::Beginning(beginning), false),
        }
    }
}

/// Groups under construction.
struct Groups {
    all: BTreeMap<(Kind, u64), GroupRecord>,
    by_size: bool,
}

impl Groups {
    fn count(&mut self, kind: Kind, is_disputed: bool, block: &Block) {
        let key = (kind, if self.by_size { block.usable } else { 0 });
        if self.all.len() >= MAX_GROUPS && !self.all.contains_key(&key) {
            return;
        }
        let group = self.all.entry(key).or_insert_with_key(|(kind, _)| GroupRecord {
            kind: kind.clone(),
            usable: self.by_size.then_some(block.usable),
            count: 0,
            bytes: 0,
            disputed: 0,
            example: block.at,
        });
        group.count = group.count.saturating_add(1);
        group.bytes = group.bytes.saturating_add(block.usable);
        group.disputed = group.disputed.saturating_add(u64::from(is_disputed));
    }
}

const COLUMNS: &[Column] = &[
    Column::right("count", "COUNT", 10),
    Column::right("bytes", "BYTES", 13),
    Column::right("usable", "SIZE", 9),
    Column::right("disputed", "DISPUTED", 8),
    Column::right("example", "EXAMPLE", 16).spec("x"),
    Column::left("words", "WHAT", 0),
];

/// Blocks that are the same.
struct GroupRecord {
    kind: Kind,
    usable: Option<u64>,
    count: u64,
    bytes: u64,
    disputed: u64,
    example: Addr,
}

impl GroupRecord {
    fn words(&self) -> String {
        match &self.kind {
            Kind::Type { words, kind: "container", .. } => words.clone(),
            Kind::Type { words, .. } => format!("likely {words}"),
            Kind::Beginning(beginning) => begun(beginning),
        }
    }

    fn names(&self) -> (&'static str, Option<&str>) {
        match &self.kind {
            Kind::Type { name, kind, .. } => (kind, Some(name)),
            Kind::Beginning(beginning) => (beginning.kind(), beginning.name()),
        }
    }
}

/// How a block begins, in words.
fn begun(beginning: &Beginning) -> String {
    match beginning {
        Beginning::Class(class) => class.to_string(),
        Beginning::Symbol(symbol) => format!("begins with a pointer to {symbol}"),
        Beginning::Text => "begins with text".to_owned(),
        Beginning::Pointer => "begins with a pointer into a heap".to_owned(),
        Beginning::Memory => "begins with a pointer to other memory".to_owned(),
        Beginning::Zeros => "begins with zeros".to_owned(),
        Beginning::Other => "other".to_owned(),
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
        let (kind, name) = self.names();
        out.text("kind", kind)
            .opt_text("name", name)
            .num("count", self.count)
            .num("bytes", self.bytes)
            .num("usable", self.usable)
            .num("disputed", self.disputed)
            .addr("example", self.example)
            .display("words", Cell::text(self.words()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.example))
    }
}
