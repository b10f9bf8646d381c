//! Heaps of all layouts, made in memory, whole and torn.

mod made;

use std::ops::ControlFlow;

use kcore_mem::Addr;

use self::made::{ARENA, HEAP, MAPPED, Made, SYSTEM, Versions};
use super::layout::{ARENAS, PARS, TCACHES};
use crate::{
    ALLOCATORS, Block, BlockFilter, BlockSink, BlockState, Depth, Heaps, NativeHeap, Torn, TornKind,
};

/// What each release has, oldest first.
fn all_versions() -> Vec<Versions> {
    let tcache = |index: usize| TCACHES.get(index);
    let row = |arena: usize, par: usize, tcache, protected| Versions {
        arena: &ARENAS[arena],
        par: &PARS[par],
        tcache,
        protected,
    };
    vec![
        row(0, 0, None, false),
        row(1, 0, None, false),
        row(1, 1, None, false),
        row(1, 2, tcache(0), false),
        row(2, 2, tcache(0), false),
        row(2, 2, tcache(1), false),
        row(2, 2, tcache(1), true),
        row(2, 3, tcache(1), true),
        row(2, 3, tcache(2), true),
    ]
}

/// Chunks in all states.
struct Chunks {
    made: Made,
    used: u64,
    cached: Vec<u64>,
    fast: Vec<u64>,
    free: u64,
}

fn chunks(versions: Versions) -> Chunks {
    let mut made = Made::new(versions);
    let used = made.chunk(0x60);
    let cached = vec![made.chunk(0x30), made.chunk(0x30), made.chunk(0x30)];
    let fast = vec![made.chunk(0x40), made.chunk(0x40)];
    let free = made.chunk(0x500);
    made.chunk(0x20);
    if versions.tcache.is_some() {
        made.cache(&cached, 0x30);
    }
    made.fast(&fast, 0x40);
    made.free(free, 0x500);
    Chunks { made, used, cached, fast, free }
}

fn with_heap<T>(made: &Made, ask: impl FnOnce(&dyn NativeHeap) -> T) -> T {
    let heaps = Heaps::find(ALLOCATORS, made);
    let found: Vec<_> = heaps.all().collect();
    assert_eq!(found.len(), 1, "{:?}", heaps.refused());
    ask(found[0].1)
}

fn blocks(made: &Made) -> (Vec<Block>, Vec<String>) {
    with_heap(made, |heap| {
        let mut blocks = Vec::new();
        let mut go_on = |_, _| ControlFlow::Continue(());
        let mut tell = |batch: &[Block]| {
            blocks.extend_from_slice(batch);
            ControlFlow::Continue(())
        };
        let mut sink = BlockSink::new(BlockFilter::ALL, &mut go_on, &mut tell);
        assert!(heap.walk(made, &mut sink).is_continue() && sink.flush().is_continue());
        let notes = sink.into_notes();
        (blocks, notes)
    })
}

fn torn(made: &Made) -> Vec<Torn> {
    with_heap(made, |heap| {
        let mut all = Vec::new();
        heap.check(made, &mut |_, _| ControlFlow::Continue(()), &mut |torn| {
            all.push(torn);
            ControlFlow::Continue(())
        });
        all
    })
}

fn state_of(blocks: &[Block], chunk: u64) -> BlockState {
    let block = blocks.iter().find(|block| block.whole.start.get() == chunk);
    block.expect("a block").state
}

#[test]
fn heaps_of_all_layouts_are_found_and_walked() {
    for (row, versions) in all_versions().into_iter().enumerate() {
        let Chunks { made, used, cached, fast, free } = chunks(versions);
        let (blocks, notes) = blocks(&made);
        assert_eq!(notes, [""; 0], "{row}");
        assert_eq!(state_of(&blocks, used), BlockState::Used, "{row}");
        let in_cache =
            if versions.tcache.is_some() { BlockState::Cached } else { BlockState::Used };
        cached.iter().for_each(|chunk| assert_eq!(state_of(&blocks, *chunk), in_cache, "{row}"));
        fast.iter()
            .for_each(|chunk| assert_eq!(state_of(&blocks, *chunk), BlockState::Cached, "{row}"));
        assert_eq!(state_of(&blocks, free), BlockState::Free, "{row}");
        let bytes: u64 = blocks.iter().map(|block| block.whole.len()).sum();
        assert_eq!(bytes, SYSTEM, "{row}");
        if versions.tcache.is_some() {
            assert_eq!(state_of(&blocks, HEAP), BlockState::Internal, "{row}");
        }
        assert_eq!(torn(&made), [], "{row}");
    }
}

#[test]
fn totals_hold_in_all_layouts() {
    for (row, versions) in all_versions().into_iter().enumerate() {
        let made = chunks(versions).made;
        let usage = with_heap(&made, |heap| {
            heap.usage(&made, Depth::Blocks, &mut |_, _| ControlFlow::Continue(()))
        });
        let usage = usage.expect("nobody stops it");
        assert!(
            usage.equalities.iter().all(crate::Equality::holds),
            "{row}: {:?}",
            usage.equalities
        );
        let parts = [usage.used, usage.cached, usage.free, usage.internal];
        assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), SYSTEM, "{row}");
    }
}

#[test]
fn any_address_leads_to_its_block() {
    let Chunks { made, used, free, .. } = chunks(all_versions()[7]);
    with_heap(&made, |heap| {
        let chunks = [(used, HEAP), (used + 8, used), (used + 0x5f, used), (free + 0x300, free)];
        for (at, chunk) in chunks {
            let block = heap.block_at(&made, Addr::new(at)).expect("a block");
            assert_eq!(block.whole.start.get(), chunk);
        }
        // The first word of the next chunk is the last usable one of the block; the size behind it is the next one's.
        let usable = heap.block_at(&made, Addr::new(used + 16)).expect("a block").range();
        for (offset, is_its) in [(0x5f, true), (0x60, true), (0x67, true), (0x68, false)] {
            let at = Addr::new(used + offset);
            let block = heap.block_at(&made, at).expect("a block");
            assert_eq!(block.whole.start.get() == used, is_its, "{offset:#x}");
            assert_eq!(usable.contains(at), is_its, "{offset:#x}");
        }
        let top = heap.block_at(&made, Addr::new(HEAP + SYSTEM - 1)).expect("the rest");
        assert_eq!(heap.list(top.list.expect("a list")).name, "top");
        assert_eq!(heap.block_at(&made, Addr::new(HEAP + SYSTEM)), None);
        assert_eq!(heap.block_at(&made, Addr::new(HEAP - 1)), None);
    });
}

#[test]
fn mmapped_chunks_are_found_and_those_with_an_alignment_once() {
    let mut made = chunks(all_versions()[7]).made;
    made.put_par(2, 0x5000);
    made.put(MAPPED + 8, 0x2000 | 2);
    // The second one was moved by 0xff0 bytes; its first header stays.
    let (second, moved) = (MAPPED + 0x2000, 0xff0);
    made.put(second + 8, 0x3000 | 2);
    made.put(second + moved, moved);
    made.put(second + moved + 8, (0x3000 - moved) | 2);
    let (blocks, _) = blocks(&made);
    let apart: Vec<_> = blocks.iter().filter(|block| block.arena.is_none()).collect();
    assert_eq!(apart.len(), 2, "{apart:?}");
    assert_eq!((apart[0].at.get(), apart[0].usable), (MAPPED + 16, 0x1ff0));
    assert_eq!((apart[1].at.get(), apart[1].usable), (second + 0x1000, 0x2000));
    assert_eq!(apart[1].whole.start.get(), second);
}

/// `realloc` moves the end of a chunk, and leaves the first header of one that was moved.
#[test]
fn the_first_header_of_a_moved_chunk_may_say_another_size() {
    for stale in [0x1000, 0x4_0000] {
        let mut made = chunks(all_versions()[7]).made;
        made.put_par(1, 0x2000);
        made.put(MAPPED + 8, stale | 2);
        made.put(MAPPED + 0xf0, 0xf0);
        made.put(MAPPED + 0xf8, (0x2000 - 0xf0) | 2);
        let (blocks, _) = blocks(&made);
        let apart: Vec<_> = blocks.iter().filter(|block| block.arena.is_none()).collect();
        assert_eq!(apart.len(), 1, "{apart:?}");
        assert_eq!((apart[0].at.get(), apart[0].usable), (MAPPED + 0x100, 0x1f00));
    }
}

#[test]
fn a_torn_size_is_told_and_the_walk_goes_on_behind_it() {
    let mut made = Made::new(all_versions()[7]);
    let all: Vec<u64> = (0..64).map(|_| made.chunk(0x70)).collect();
    for wrong in [0, 0x18, 0x4141_4141_4141_4141, 0x73, 1 << 40] {
        let right = 0x71;
        made.put(all[20] + 8, wrong);
        let told = torn(&made);
        assert_eq!(told.len(), 1, "{wrong:#x}: {told:?}");
        assert_eq!((told[0].kind, told[0].at.get()), (TornKind::Header, all[20] + 8), "{wrong:#x}");
        assert_eq!(
            told[0].before.map(|block| block.whole.start.get()),
            Some(all[19]),
            "{wrong:#x}"
        );
        let (blocks, notes) = blocks(&made);
        assert_eq!(notes.len(), 1, "{notes:?}");
        let seen =
            all.iter().filter(|at| blocks.iter().any(|block| block.whole.start.get() == **at));
        assert_eq!(seen.count(), 63, "{wrong:#x}");
        made.put(all[20] + 8, right);
    }
    assert_eq!(torn(&made), []);
}

#[test]
fn a_block_that_is_free_twice_is_told() {
    let Chunks { mut made, fast, .. } = chunks(all_versions()[7]);
    made.link(fast[1] + 16, fast[0]);
    let told = torn(&made);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].kind, told[0].at.get()), (TornKind::Loop, fast[1] + 16));
    assert_eq!(told[0].block.map(|block| block.whole.start.get()), Some(fast[0]));
    let Chunks { mut made, cached, .. } = chunks(all_versions()[7]);
    made.link(cached[2] + 16, cached[1] + 16);
    let told = torn(&made);
    assert!(
        told.iter().any(|it| it.block.map(|block| block.whole.start.get()) == Some(cached[1])),
        "{told:?}"
    );
}

#[test]
fn links_that_lead_astray_are_told() {
    let Chunks { mut made, cached, .. } = chunks(all_versions()[7]);
    made.put(cached[0] + 16, 0x4242_4242_4242_4242);
    let told = torn(&made);
    assert_eq!((told[0].kind, told[0].at.get()), (TornKind::Link, cached[0] + 16), "{told:?}");
    let Chunks { mut made, free, used, .. } = chunks(all_versions()[7]);
    made.put(free + 24, used);
    let told = torn(&made);
    assert!(
        told.iter().any(|it| it.kind == TornKind::Link && it.at.get() == free + 24),
        "{told:?}"
    );
}

#[test]
fn a_copy_of_a_size_that_differs_and_a_mark_without_a_list_are_told() {
    let Chunks { mut made, free, used, .. } = chunks(all_versions()[7]);
    made.put(free + 0x500, 0x4f0);
    assert_eq!(torn(&made)[0].kind, TornKind::Sizes);
    made.put(free + 0x500, 0x500);
    made.put(used + 0x60 + 8, 0x30);
    assert_eq!(torn(&made)[0].kind, TornKind::Marks);
}

#[test]
fn a_top_that_is_too_large_is_told_and_counts_no_more_than_there_is() {
    let mut made = chunks(all_versions()[7]).made;
    let top = made.next;
    made.put(top + 8, 0x4141_4141_4141_4141);
    assert_eq!((torn(&made)[0].kind, torn(&made)[0].at.get()), (TornKind::Header, top + 8));
    let usage = with_heap(&made, |heap| {
        heap.usage(&made, Depth::Lists, &mut |_, _| ControlFlow::Continue(()))
    });
    assert!(usage.expect("usage").free.bytes < SYSTEM);
}

#[test]
fn memory_without_a_heap_holds_none() {
    let mut made = chunks(all_versions()[7]).made;
    for offset in (0..2200).step_by(8) {
        made.put(ARENA + offset, 0);
    }
    assert!(Heaps::find(ALLOCATORS, &made).is_empty());
}
