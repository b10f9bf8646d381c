//! Native heaps in real cores, held against what their programs know of each block.

mod asan;
mod check;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
mod leaks;
#[path = "../dcmds/made.rs"]
mod made;
mod others;
mod paths;
mod profile;
mod retained;
mod truth;
mod types;

use std::{collections::HashMap, ops::ControlFlow};

use kcore::native_heap::{Block, BlockFilter, BlockState, Depth, HeapNumber, Usage};
use kcore::{Addr, Core};
use truth::{HeapTruth, Opened, opened};

const GLIBC: &[&str] = &["heap-glibc", "heap-glibc-sbrk"];

fn glibc(core: &Core) -> HeapNumber {
    let found = core.heaps().found();
    assert!(found.refused().is_empty(), "{:?}", found.refused());
    let of_glibc = found.all().filter(|(_, heap)| heap.identity().allocator == "glibc");
    let all: Vec<HeapNumber> = of_glibc.map(|(number, _)| number).collect();
    let [one] = all[..] else { panic!("{} heaps of glibc", all.len()) };
    one
}

fn usage(core: &Core, heap: HeapNumber, depth: Depth) -> Usage {
    core.heaps().usage(heap, depth, &mut |_, _| ControlFlow::Continue(())).expect("nobody stops it")
}

/// All blocks in their order, and what could not be walked.
fn blocks(core: &Core, heap: HeapNumber) -> (Vec<Block>, Vec<String>) {
    let mut blocks = Vec::new();
    let mut watch = |_, _| ControlFlow::Continue(());
    let notes = core.heaps().each_block(heap, BlockFilter::ALL, &mut watch, &mut |batch| {
        blocks.extend_from_slice(batch);
        ControlFlow::Continue(())
    });
    (blocks, notes.expect("nobody stops it"))
}

fn each_glibc(test: impl Fn(&Opened, &HeapTruth)) {
    let mut count = 0;
    for scenario in GLIBC {
        for opened in opened(scenario) {
            let truth = HeapTruth::read(&opened.dir);
            test(&opened, &truth);
            count += 1;
        }
    }
    assert!(count > 0, "there is no core");
}

#[test]
fn each_block_of_the_program_is_used_and_has_its_size_and_none_that_it_freed_is() {
    each_glibc(|opened, truth| {
        let (blocks, notes) = blocks(&opened.core, glibc(&opened.core));
        assert_eq!(notes, [""; 0], "{}", opened.name);
        let in_order = blocks.is_sorted_by(|one, next| one.whole.end <= next.whole.start);
        assert!(in_order, "{}", opened.name);
        let used: HashMap<u64, &Block> = blocks
            .iter()
            .filter(|block| block.state == BlockState::Used)
            .map(|block| (block.at.get(), block))
            .collect();
        for (at, usable) in &truth.used {
            let block =
                used.get(at).unwrap_or_else(|| panic!("{}: {at:x} is missing", opened.name));
            assert_eq!(block.usable, *usable, "{}: {at:x}", opened.name);
        }
        let wrong: Vec<_> = truth.freed.iter().filter(|at| used.contains_key(at)).collect();
        assert!(wrong.is_empty(), "{}: {wrong:x?}", opened.name);
        // What the C library has for itself: structures of threads, and no more than a few.
        let rest = used.len() - truth.used.len();
        assert!(rest < 40, "{}: {rest} others", opened.name);
    });
}

#[test]
fn totals_are_those_of_mallinfo2() {
    each_glibc(|opened, truth| {
        let heap = glibc(&opened.core);
        for depth in [Depth::Lists, Depth::Blocks] {
            let usage = usage(&opened.core, heap, depth);
            assert_eq!(usage.notes, [""; 0], "{}", opened.name);
            for (name, value) in &truth.figures {
                let own = usage.own.iter().find(|own| own.name.ends_with(&format!(".{name}")));
                assert_eq!(own.map(|own| own.value), Some(*value), "{}: {name}", opened.name);
            }
            let broken: Vec<_> = usage.equalities.iter().filter(|it| !it.holds()).collect();
            assert!(broken.is_empty(), "{}: {broken:?}", opened.name);
            let parts = [usage.used, usage.cached, usage.free, usage.internal];
            let sum: u64 = parts.iter().map(|amount| amount.bytes).sum();
            assert!(sum <= usage.mapped, "{}: {sum} of {}", opened.name, usage.mapped);
        }
    });
}

/// What is counted by lists is what a walk counts.
#[test]
fn a_walk_counts_what_lists_say() {
    each_glibc(|opened, _| {
        let heap = glibc(&opened.core);
        let by_lists = usage(&opened.core, heap, Depth::Lists);
        let (blocks, _) = blocks(&opened.core, heap);
        let bytes = |state| -> u64 {
            let of_state = blocks.iter().filter(|block| block.state == state);
            of_state.map(|block| block.whole.len()).sum()
        };
        assert_eq!(bytes(BlockState::Cached), by_lists.cached.bytes, "{}", opened.name);
        assert_eq!(bytes(BlockState::Free), by_lists.free.bytes, "{}", opened.name);
        assert_eq!(by_lists.used.blocks, None);
    });
}

#[test]
fn any_address_within_a_block_leads_to_it() {
    each_glibc(|opened, truth| {
        let (blocks, _) = blocks(&opened.core, glibc(&opened.core));
        for block in blocks.iter().step_by(7) {
            // The first word of a chunk is the last one of the block before, if that is in use.
            let last = match block.state {
                BlockState::Free => block.whole.end.get() - 1,
                _ => block.at.get() + block.usable.max(1) - 1,
            };
            for at in [block.at, Addr::new(last)] {
                let found = opened.core.heaps().block_at(at);
                assert_eq!(found.map(|it| it.block), Some(*block), "{}: {at:x}", opened.name);
            }
        }
        for (at, usable) in &truth.used {
            let inside = Addr::new(at + usable / 2);
            let found = opened.core.heaps().block_at(inside).expect("a block").block;
            assert_eq!((found.at.get(), found.state), (*at, BlockState::Used), "{}", opened.name);
        }
    });
}

#[test]
fn parts_of_a_walk_are_those_of_the_whole() {
    each_glibc(|opened, _| {
        let heap = glibc(&opened.core);
        let (all, _) = blocks(&opened.core, heap);
        let middle = all[all.len() / 2];
        let within = kcore::AddrRange::new(middle.at, Addr::new(middle.at.get() + 50_000));
        let mut part = Vec::new();
        let mut watch = |_, _| ControlFlow::Continue(());
        let filter = BlockFilter { within, ..BlockFilter::ALL };
        opened.core.heaps().each_block(heap, filter, &mut watch, &mut |batch| {
            part.extend_from_slice(batch);
            ControlFlow::Continue(())
        });
        let wanted: Vec<Block> = all.iter().filter(|block| filter.wants(block)).copied().collect();
        assert_eq!(part, wanted, "{}", opened.name);
    });
}

/// Each thread that allocates has an arena and a cache.
#[test]
fn threads_have_arenas_and_caches() {
    each_glibc(|opened, _| {
        let usage = usage(&opened.core, glibc(&opened.core), Depth::Lists);
        let threads: usize = usage.arenas.iter().map(|arena| arena.threads.len()).sum();
        assert_eq!(threads, opened.core.tids().len(), "{}", opened.name);
        let caches = usage.caches.iter().filter_map(|cache| cache.thread);
        let mut caches: Vec<_> = caches.collect();
        caches.sort_unstable();
        caches.dedup();
        assert_eq!(caches.len(), opened.core.tids().len(), "{}", opened.name);
    });
}

#[test]
fn a_stopped_walk_says_so() {
    let opened = &opened("heap-glibc")[0];
    let heap = glibc(&opened.core);
    let stopped =
        opened.core.heaps().usage(heap, Depth::Blocks, &mut |_, _| ControlFlow::Break(()));
    assert_eq!(stopped, None);
    let mut count = 0;
    let mut watch = |_, _| ControlFlow::Continue(());
    let first = opened.core.heaps().each_block(heap, BlockFilter::ALL, &mut watch, &mut |batch| {
        count += batch.len();
        ControlFlow::Break(())
    });
    assert!(first.is_some() && count < 2000, "{count}");
}

#[test]
fn the_version_is_the_one_that_the_library_says() {
    for opened in opened("heap-glibc") {
        let found = opened.core.heaps().found();
        let (_, heap) = found.all().next().expect("a heap");
        let version = heap.identity().version.as_deref().expect("a version");
        // A static program does not say which one it is.
        let is_range = version.contains(" to ");
        assert_eq!(is_range, opened.name.contains("static"), "{}: {version}", opened.name);
    }
}

#[test]
fn whatis_says_what_block_it_is_and_walkers_give_blocks_by_their_state() {
    for opened in opened("heap-glibc").iter().take(2) {
        let truth = HeapTruth::read(&opened.dir);
        let (at, usable) = truth.used[truth.used.len() / 2];
        let what = &opened.records(&format!("{:x}::whatis", at + 1))[0]["block"];
        assert_eq!(what["address"], format!("0x{at:x}"), "{}", opened.name);
        assert_eq!((&what["state"], &what["usable"]), (&"used".into(), &usable.into()));
        let lines = |line: &str| opened.records(line).len();
        let (used, free) = (lines("::walk malloc"), lines("::walk free"));
        assert!(used >= truth.used.len(), "{}: {used}", opened.name);
        assert_eq!(free, lines("::blocks -f"), "{}", opened.name);
        let arenas = opened.records("::heap");
        let arenas = arenas.iter().filter(|record| record["type"] == "heap_arena");
        let of_arenas: usize = arenas
            .map(|arena| {
                lines(&format!("{}::walk malloc", arena["address"].as_str().expect("an address")))
            })
            .sum();
        // Blocks with mappings of their own are in no arena.
        assert!(
            of_arenas < used && of_arenas + 10 > used,
            "{}: {of_arenas} of {used}",
            opened.name
        );
    }
}
