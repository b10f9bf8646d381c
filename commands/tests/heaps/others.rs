//! Heaps of AddressSanitizer, jemalloc, mimalloc, musl and both tcmallocs, held against what the program knows of each
//! block, and against what the allocators say of themselves.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::{fs, ops::ControlFlow, path::Path};

use kcore::native_heap::{Block, BlockState, Depth, HeapNumber, Samples};
use kcore::{Addr, Core};

use crate::truth::{Opened, opened};
use crate::{blocks, usage};

/// Scenarios and their allocators.
const CASES: &[(&str, &str)] = &[
    ("heap-asan", "AddressSanitizer"),
    ("heap-asan-clang", "AddressSanitizer"),
    ("heap-asan-19", "AddressSanitizer"),
    ("heap-jemalloc", "jemalloc"),
    ("heap-jemalloc-static", "jemalloc"),
    ("heap-jemalloc-prof", "jemalloc"),
    ("heap-mimalloc", "mimalloc"),
    ("heap-musl", "musl"),
    ("heap-tcmalloc", "tcmalloc"),
    ("heap-tcmalloc-static", "tcmalloc"),
    ("heap-tcmalloc-prof", "tcmalloc"),
    ("heap-google-tcmalloc", "Google's tcmalloc"),
    ("heap-google-tcmalloc-threads", "Google's tcmalloc"),
    ("heap-google-tcmalloc-prof", "Google's tcmalloc"),
];

/// A block as the program knows it.
pub struct KnownBlock {
    pub at: u64,
    pub asked: u64,
    usable: u64,
    pub is_live: bool,
}

/// What a program wrote beside its core: `blocks.bin` and `statistics.txt`.
pub struct Truth {
    pub blocks: Vec<KnownBlock>,
    figures: BTreeMap<String, u64>,
}

impl Truth {
    pub fn read(dir: &Path) -> Self {
        let bytes = fs::read(dir.join("blocks.bin")).expect("the blocks");
        let word = |bytes: &[u8], index: usize| {
            u64::from_le_bytes(bytes[index * 8..][..8].try_into().expect("eight bytes"))
        };
        let known = |bytes: &[u8]| KnownBlock {
            at: word(bytes, 0),
            asked: word(bytes, 1),
            usable: word(bytes, 2),
            is_live: word(bytes, 3) == 1,
        };
        let blocks: Vec<KnownBlock> = bytes.chunks_exact(32).map(known).collect();
        assert!(blocks.iter().filter(|block| block.is_live).count() > 5000);
        let text = fs::read_to_string(dir.join("statistics.txt")).expect("the statistics");
        let figure = |line: &str| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        Self { blocks, figures: text.lines().filter_map(figure).collect() }
    }

    pub fn live(&self) -> impl Iterator<Item = &KnownBlock> {
        self.blocks.iter().filter(|block| block.is_live)
    }
}

pub fn heap_of(core: &Core, allocator: &str) -> HeapNumber {
    let found = core.heaps().found();
    assert!(found.refused().is_empty(), "{:?}", found.refused());
    let of_it = found.all().filter(|(_, heap)| heap.identity().allocator == allocator);
    let all: Vec<HeapNumber> = of_it.map(|(number, _)| number).collect();
    let [one] = all[..] else { panic!("{} heaps of {allocator}", all.len()) };
    one
}

fn each_case(test: impl Fn(&Opened, HeapNumber, &Truth)) {
    let mut count = 0;
    for (scenario, allocator) in CASES {
        for opened in opened(scenario) {
            let truth = Truth::read(&opened.dir);
            test(&opened, heap_of(&opened.core, allocator), &truth);
            count += 1;
        }
    }
    assert!(count > 0, "there is no core");
}

/// The block of a list in order of addresses that holds an address.
fn holding<'b>(blocks: &[&'b Block], at: u64) -> Option<&'b Block> {
    let index = blocks.partition_point(|block| block.whole.start.get() <= at).checked_sub(1)?;
    blocks.get(index).copied().filter(|block| block.whole.contains(Addr::new(at)))
}

#[test]
fn each_block_of_the_program_is_used_and_has_its_size() {
    each_case(|opened, heap, truth| {
        let (blocks, notes) = blocks(&opened.core, heap);
        assert_eq!(notes, [""; 0], "{}", opened.name);
        let in_order = blocks.is_sorted_by(|one, next| one.whole.end <= next.whole.start);
        assert!(in_order, "{}", opened.name);
        let used: Vec<&Block> = blocks.iter().filter(|it| it.state == BlockState::Used).collect();
        for known in truth.live() {
            let block = holding(&used, known.at);
            let block =
                block.unwrap_or_else(|| panic!("{}: {:x} is missing", opened.name, known.at));
            // What was given for an alignment may lie within its block.
            let usable = block.range().end.get() - known.at;
            assert_eq!(usable, known.usable, "{}: {:x} in {block:?}", opened.name, known.at);
        }
        // Structures of threads, and of the allocator's profile.
        let rest = used.len() - truth.live().count();
        assert!(rest < 100, "{}: {rest} others", opened.name);
    });
}

/// Where threads keep the addresses of their thread-local storage. In a static program the C library takes it from the
/// program's own allocator when a thread begins, and so perhaps from memory that the program has freed.
fn vectors_of_threads(core: &Core) -> impl Iterator<Item = u64> {
    const DTV: u64 = 8;
    let pointers = core.tids().into_iter().filter_map(|tid| core.tls().pointer(tid));
    pointers.filter_map(|at| Some(core.space().read_addr(at.checked_add(DTV)?).ok()?.get()))
}

#[test]
fn no_block_that_the_program_freed_is_used() {
    each_case(|opened, heap, truth| {
        let (blocks, _) = blocks(&opened.core, heap);
        let used: Vec<&Block> = blocks.iter().filter(|it| it.state == BlockState::Used).collect();
        let live = truth.live().map(|known| known.at);
        let again = live.chain(vectors_of_threads(&opened.core));
        let again: HashSet<Addr> =
            again.filter_map(|known| Some(holding(&used, known)?.at)).collect();
        let freed = truth.blocks.iter().filter(|known| !known.is_live && known.at != 0);
        for known in freed {
            let block = holding(&used, known.at).filter(|block| !again.contains(&block.at));
            // Where a profiler takes blocks for itself, memory may be used again in blocks of another size.
            let is_same =
                |block: &&Block| block.usable == known.usable || !opened.name.contains("-prof");
            let block = block.filter(is_same);
            assert_eq!(block, None, "{}: {:x}", opened.name, known.at);
        }
    });
}

#[test]
fn totals_are_those_that_the_allocator_says() {
    each_case(|opened, heap, truth| {
        let usage = usage(&opened.core, heap, Depth::Lists);
        let broken: Vec<_> = usage.equalities.iter().filter(|it| !it.holds()).collect();
        assert!(broken.is_empty(), "{}: {broken:?}", opened.name);
        let both =
            usage.own.iter().filter_map(|own| Some((own, truth.figures.get(own.name.as_ref())?)));
        let mut count = 0;
        for (own, value) in both {
            assert_eq!(own.value, *value, "{}: {}", opened.name, own.name);
            count += 1;
        }
        let is_silent = ["mimalloc", "musl"].iter().any(|name| opened.name.contains(name));
        let least = if opened.name.contains("asan") { 2 } else { 5 };
        assert!(is_silent || count >= least, "{}: {count} figures", opened.name);
        let parts = [usage.used, usage.cached, usage.free, usage.internal];
        let sum: u64 = parts.iter().map(|amount| amount.bytes).sum();
        assert!(sum <= usage.mapped, "{}: {sum} of {}", opened.name, usage.mapped);
    });
}

/// The number of blocks of each class in each arena, and what threads cache.
#[test]
fn classes_of_jemalloc_have_as_many_blocks_as_it_says() {
    for (scenario, _) in CASES.iter().filter(|(name, _)| name.starts_with("heap-jemalloc")) {
        for opened in opened(scenario).iter().filter(|opened| !opened.name.contains("prof")) {
            let truth = Truth::read(&opened.dir);
            let heap = heap_of(&opened.core, "jemalloc");
            let arenas = usage(&opened.core, heap, Depth::Lists).arenas;
            let (blocks, _) = blocks(&opened.core, heap);
            let mut counts: HashMap<(String, u64), u64> = HashMap::new();
            for block in blocks.iter().filter(|block| block.state != BlockState::Free) {
                let arena = arenas[block.arena.expect("an arena") as usize].name.to_string();
                *counts.entry((arena, block.usable)).or_default() += 1;
            }
            for (name, value) in &truth.figures {
                let parts: Vec<&str> = name.split('.').collect();
                let [_, _, arena, kind, index, "curregs" | "curlextents"] = parts[..] else {
                    continue;
                };
                let index = index.parse::<usize>().expect("an index");
                let size = class_size(if kind == "bins" { index } else { index + 36 });
                let counted = counts.remove(&(arena.to_owned(), size)).unwrap_or(0);
                assert_eq!(counted, *value, "{}: {name}", opened.name);
            }
            assert!(counts.is_empty(), "{}: {counts:?}", opened.name);
            let cached = blocks.iter().filter(|block| block.state == BlockState::Cached);
            let cached: u64 = cached.map(|block| block.usable).sum();
            assert_eq!(Some(&cached), truth.figures.get("stats.arenas.4096.tcache_bytes"));
        }
    }
}

/// The sizes of jemalloc's classes as its manual lists them.
fn class_size(index: usize) -> u64 {
    const FIRST: [u64; 9] = [8, 16, 32, 48, 64, 80, 96, 112, 128];
    match FIRST.get(index) {
        Some(size) => *size,
        None => {
            let (group, part) = ((index - 9) / 4, (index - 9) as u64 % 4 + 1);
            let base = 128_u64 << group;
            base + base / 4 * part
        }
    }
}

#[test]
fn what_lists_count_a_walk_counts() {
    each_case(|opened, heap, _| {
        let usage = usage(&opened.core, heap, Depth::Lists);
        let (blocks, _) = blocks(&opened.core, heap);
        let states = [
            (BlockState::Used, usage.used),
            (BlockState::Cached, usage.cached),
            (BlockState::Free, usage.free),
            (BlockState::Internal, usage.internal),
        ];
        for (state, amount) in states {
            let of_state = blocks.iter().filter(|block| block.state == state);
            let bytes: u64 = of_state.clone().map(|block| block.whole.len()).sum();
            assert_eq!(amount.blocks, Some(of_state.count() as u64), "{}: {state:?}", opened.name);
            assert_eq!(amount.bytes, bytes, "{}: {state:?}", opened.name);
        }
    });
}

#[test]
fn any_address_within_a_block_of_any_allocator_leads_to_it() {
    each_case(|opened, heap, _| {
        let (blocks, _) = blocks(&opened.core, heap);
        for block in blocks.iter().step_by(7) {
            for at in [block.whole.start, block.at, Addr::new(block.whole.end.get() - 1)] {
                let found = opened.core.heaps().block_at(at);
                assert_eq!(found.map(|it| it.block), Some(*block), "{}: {at:x}", opened.name);
            }
        }
    });
}

#[test]
fn nothing_is_torn_in_heaps_of_other_allocators() {
    each_case(|opened, heap, _| {
        let mut torn = Vec::new();
        let mut watch = |_, _| ControlFlow::Continue(());
        let checked = opened.core.heaps().check(heap, &mut watch, &mut |it| {
            torn.push(it);
            ControlFlow::Continue(())
        });
        assert_eq!((checked, torn.len()), (Some(()), 0), "{}: {:?}", opened.name, torn.first());
    });
}

#[test]
fn each_thread_that_allocates_has_a_cache() {
    each_case(|opened, heap, _| {
        let usage = usage(&opened.core, heap, Depth::Lists);
        let threads: HashSet<_> = usage.caches.iter().filter_map(|cache| cache.thread).collect();
        let without = ["mimalloc", "musl", "asan", "google-tcmalloc/", "google-tcmalloc-prof"];
        let has_none = without.iter().any(|name| opened.name.contains(name));
        let wanted = if has_none { 0 } else { opened.core.tids().len() };
        assert_eq!(threads.len(), wanted, "{}", opened.name);
    });
}

fn samples(opened: &Opened, heap: HeapNumber) -> Option<Samples> {
    opened.core.heaps().samples(heap, &mut |_, _| ControlFlow::Continue(()))
}

/// Each sample of a block that the program knows has the size that was asked for, and a stack that leads to the program.
#[test]
fn samples_are_the_program_s_blocks_with_their_sizes_and_stacks() {
    each_case(|opened, heap, truth| {
        let samples = samples(opened, heap);
        let keeps = ["-prof", "asan"].iter().any(|word| opened.name.contains(word));
        assert_eq!(samples.is_some(), keeps, "{}", opened.name);
        let Some(samples) = samples else { return };
        let asked: HashMap<u64, u64> = truth.live().map(|known| (known.at, known.asked)).collect();
        let known = samples.samples.iter().filter(|sample| asked.contains_key(&sample.at.get()));
        let (count, right) = known.fold((0, 0), |(count, right), sample| {
            let is_right = asked[&sample.at.get()] == sample.requested;
            assert!(!sample.stack.is_empty(), "{}: {:x}", opened.name, sample.at);
            (count + 1, right + usize::from(is_right))
        });
        // `realloc` in place and alignment change what the allocator was asked for.
        assert!(count > 100 && right * 100 >= count * 80, "{}: {right} of {count}", opened.name);
        let all = samples.samples.len();
        assert!(count * 100 >= all * 90, "{}: {count} of {all} are known", opened.name);
    });
}
