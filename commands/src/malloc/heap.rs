//! `::heap` — what native allocators hold.

use kcore::native_heap::{Depth, HeapNumber, Usage};
use kcore::objects::Stopped;
use kcore_dcmd::{Args, Cx, Dcmd, Example, Group, Opt, Result, Spec};

use super::{
    subject,
    usage_record::{ArenaRecord, EqualityRecord, OwnRecord, UsageRecord},
};
use crate::watched::watched;

const OPTIONS: &[Opt] = &[
    subject::ALLOCATOR,
    Opt {
        flag: 'c',
        value: None,
        help: "count all blocks one by one, and check totals against each other",
    },
    Opt {
        flag: 'v',
        value: None,
        help: "also show the allocator's own figures and what was checked",
    },
];

const HELP: &str = "\
Shows each heap of a native allocator that the process holds: its version, how it was found, and what it has. That is \
glibc's malloc, with or without symbols.\n\n\
In use is what the program has. Cached is what the program freed and a thread's cache or a fast bin keeps; glibc's own \
mallinfo2 counts it as allocated. Free is what bins and the tops of arenas have. Internal is the allocator's own, such as \
the caches themselves. Bytes count headers and rounding.\n\n\
Then each arena has a line. A locked arena may have been half changed. Without -c, the number of blocks in use is not \
known: only a walk over all of them tells it.\n\n\
::blocks and ::walk malloc list blocks, ::whatis says what block holds an address, and ::heapcheck looks for what is torn.";

const EXAMPLES: &[Example] = &[
    Example { line: "::heap", shows: "what each heap and each arena holds" },
    Example { line: "::heap -c", shows: "the same, with blocks counted one by one" },
    Example { line: "::heap -v", shows: "also what mallinfo2 would have said" },
];

/// Shows what heaps hold.
pub struct Heap;

impl Dcmd for Heap {
    fn spec(&self) -> Spec {
        Spec::new("heap", Group::Memory, "show what malloc and other allocators hold")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let depth = if args.has('c') { Depth::Blocks } else { Depth::Lists };
        for heap in subject::wanted(cx, args)? {
            let core = cx.core().clone();
            let usage = watched(cx, |watch| core.heaps().usage(heap, depth, watch).ok_or(Stopped))?;
            show(cx, heap, &usage, args.has('v'))?;
        }
        Ok(())
    }
}

fn show(cx: &mut Cx<'_>, heap: HeapNumber, usage: &Usage, all: bool) -> Result<()> {
    let core = cx.core().clone();
    let Some(found) = core.heaps().found().get(heap) else { return Ok(()) };
    let identity = found.identity();
    cx.emit(&UsageRecord { identity, usage })?;
    for (index, arena) in usage.arenas.iter().enumerate() {
        cx.emit(&ArenaRecord { identity, index, arena })?;
    }
    for figure in usage.own.iter().filter(|_| all) {
        cx.emit(&OwnRecord { identity, figure })?;
    }
    for equality in usage.equalities.iter().filter(|it| all || !it.holds()) {
        cx.emit(&EqualityRecord { identity, equality })?;
    }
    identity.unknown.iter().try_for_each(|unknown| cx.note(unknown))?;
    usage.notes.iter().try_for_each(|note| cx.note(note))
}
