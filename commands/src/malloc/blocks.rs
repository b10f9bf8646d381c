//! `::blocks` — the blocks of native heaps.

use std::ops::ControlFlow;

use kcore::{
    Core,
    native_heap::{Block, BlockFilter, BlockState, BlockStates, Depth, HeapNumber},
};
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

use super::{block_record::BlockRecord, subject};
use crate::operand;

const OPTIONS: &[Opt] = &[
    subject::ALLOCATOR,
    Opt {
        flag: 'a',
        value: Some("arena"),
        help: "only those of this arena, by the name that ::heap shows",
    },
    Opt {
        flag: 's',
        value: Some("bytes"),
        help: "only those with at least so many usable bytes, in decimal",
    },
    Opt {
        flag: 'S',
        value: Some("bytes"),
        help: "only those with at most so many usable bytes, in decimal",
    },
    Opt {
        flag: 't',
        value: Some("thread"),
        help: "only those in the cache of this thread, in decimal",
    },
    Opt { flag: 'u', value: None, help: "only those in use" },
    Opt { flag: 'f', value: None, help: "only those that are free, in caches too" },
];

const HELP: &str = "\
Lists the blocks that native allocators such as malloc handed out or keep, lowest address first. With an address, shows \
the block that holds it.\n\n\
A block is used, free, or internal, which is the allocator's own. A cached one was freed, and a cache of a thread keeps \
it. BYTES is how much the program may use, which may be more than it asked for.";

const EXAMPLES: &[Example] = &[
    Example { line: "::blocks -u -s 100000", shows: "blocks in use of at least 100,000 bytes" },
    Example { line: "::blocks -f | ::head -5", shows: "five blocks that are free" },
    Example { line: "::walk malloc | ::head -3 | ::blocks", shows: "the blocks at some addresses" },
];

/// Lists blocks.
pub struct Blocks;

impl Dcmd for Blocks {
    fn spec(&self) -> Spec {
        Spec::new("blocks", Group::Memory, "list the blocks of malloc and other allocators")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core().clone();
        if let Some(dot) = cx.addr() {
            return match core.heaps().block_at(dot.addr()) {
                Some(owned) => cx.emit(&BlockRecord::of(&core, owned)),
                None => Err(DcmdError::failed(format!("{:x} is in no block", dot.addr()))),
            };
        }
        let choice = Choice::of(args)?;
        let heaps = subject::wanted(cx, args)?;
        if let Some(arena) = &choice.arena
            && !heaps.iter().any(|heap| has_arena(&core, *heap, arena))
        {
            return Err(DcmdError::failed(format!("there is no arena {arena}")));
        }
        for heap in heaps {
            let filter = BlockFilter { states: choice.states, ..BlockFilter::ALL };
            subject::each_block(cx, &core, heap, filter, &mut |cx, block| {
                let record =
                    choice.has_size(block).then(|| BlockRecord::new(&core, heap, *block)).flatten();
                record
                    .filter(|record| choice.wants(record))
                    .map_or(Ok(()), |record| cx.emit(&record))
            })?;
        }
        Ok(())
    }
}

/// Whether a heap has an arena of a name.
fn has_arena(core: &Core, heap: HeapNumber, name: &str) -> bool {
    let mut watch = |_, _| ControlFlow::Continue(());
    let usage = core.heaps().usage(heap, Depth::Lists, &mut watch);
    usage.is_none_or(|usage| usage.arenas.iter().any(|arena| arena.name.as_ref() == name))
}

/// Which blocks are shown.
struct Choice {
    states: BlockStates,
    least: u64,
    most: u64,
    arena: Option<String>,
    thread: Option<u32>,
}

impl Choice {
    fn of(args: &Args) -> Result<Self> {
        let number = |flag: char, other: usize| match args.value(flag) {
            Some(word) => operand::decimal(word),
            None => Ok(other),
        };
        let states = match (args.has('u'), args.has('f')) {
            (true, false) => BlockStates::USED,
            (false, true) => BlockStates::FREE,
            (true, true) => BlockStates::USED.and(BlockState::Free).and(BlockState::Cached),
            (false, false) => BlockStates::ALL,
        };
        let thread = args.value('t').map(operand::decimal).transpose()?;
        Ok(Self {
            states,
            least: number('s', 0)? as u64,
            most: number('S', usize::MAX)? as u64,
            arena: args.value('a').map(|arena| arena.to_text()),
            thread: thread.map(|tid| u32::try_from(tid).unwrap_or(u32::MAX)),
        })
    }

    const fn has_size(&self, block: &Block) -> bool {
        block.usable >= self.least && block.usable <= self.most
    }

    fn wants(&self, record: &BlockRecord) -> bool {
        let is_of_arena = self.arena.as_deref().is_none_or(|arena| record.arena() == Some(arena));
        is_of_arena && self.thread.is_none_or(|tid| record.thread() == Some(tid))
    }
}
