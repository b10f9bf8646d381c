//! What AddressSanitizer notes of blocks, held against the program that allocated them, and damaged cores of it.

use std::collections::{BTreeMap, BTreeSet};

use kcore::native_heap::BlockState;
use serde_json::Value;

use crate::blocks;
use crate::others::{Truth, heap_of};
use crate::truth::{Opened, opened};
use crate::types::damaged;

const SCENARIOS: [&str; 3] = ["heap-asan", "heap-asan-clang", "heap-asan-19"];
/// Blocks of each thread of the program, in their order.
const BLOCKS: usize = 3000;

fn each(test: impl Fn(&Opened, &Truth)) {
    let all: Vec<Opened> = SCENARIOS.into_iter().flat_map(opened).collect();
    assert!(!all.is_empty(), "there is no core");
    all.iter().for_each(|opened| test(opened, &Truth::read(&opened.dir)));
}

/// What `::whatis` says of a block: who allocated it, and who freed it.
fn events(opened: &Opened, at: u64) -> Vec<Value> {
    let records = opened.records(&format!("{at:x}::whatis"));
    records.into_iter().filter(|record| record["type"] == "block_event").collect()
}

/// The functions of a stack, innermost first.
fn functions(event: &Value) -> Vec<&str> {
    let stack = event["stack"].as_array().expect("a stack");
    stack.iter().filter_map(|frame| frame["function"].as_str()).collect()
}

#[test]
fn a_block_in_use_knows_the_thread_and_the_stack_that_allocated_it() {
    each(|opened, truth| {
        let mut threads: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        for (index, known) in
            truth.blocks.iter().enumerate().filter(|(_, it)| it.is_live).step_by(97)
        {
            let events = events(opened, known.at);
            assert_eq!(events.len(), 1, "{}: {:x} {events:?}", opened.name, known.at);
            assert_eq!(events[0]["event"], "allocated");
            let functions = functions(&events[0]);
            assert!(functions.contains(&"work"), "{}: {functions:?}", opened.name);
            let frame = &events[0]["stack"].as_array().expect("a stack")[1];
            assert!(frame["line"].is_u64(), "{}: {frame}", opened.name);
            let number = events[0]["number"].as_u64().expect("a number");
            threads.entry(index / BLOCKS).or_default().insert(number);
            // The first of the threads has ended, and its number may say so.
            let tid = events[0]["thread"].as_u64().map(|tid| kcore::Tid::new(tid as u32));
            if index >= BLOCKS {
                let tid = tid.unwrap_or_else(|| panic!("{}: {events:?}", opened.name));
                assert!(opened.core.thread(tid).is_some(), "{}: {tid}", opened.name);
            }
        }
        // Each thread has one number, and no two have the same.
        let numbers: BTreeSet<u64> = threads.values().flatten().copied().collect();
        assert_eq!((threads.len(), numbers.len()), (4, 4), "{}: {threads:?}", opened.name);
        assert!(threads.values().all(|numbers| numbers.len() == 1), "{}: {threads:?}", opened.name);
    });
}

#[test]
fn a_freed_block_knows_who_freed_it() {
    each(|opened, truth| {
        let (blocks, _) = blocks(&opened.core, heap_of(&opened.core, "AddressSanitizer"));
        let cached: BTreeSet<u64> = blocks
            .iter()
            .filter(|block| block.state == BlockState::Cached)
            .map(|block| block.at.get())
            .collect();
        let freed = truth.blocks.iter().filter(|it| !it.is_live && it.at != 0);
        let freed: Vec<u64> = freed.map(|it| it.at).filter(|at| cached.contains(at)).collect();
        assert!(freed.len() > 1000, "{}: {} in quarantine", opened.name, freed.len());
        for at in freed.iter().step_by(97) {
            let events = events(opened, *at);
            let told: Vec<_> = events.iter().map(|event| &event["event"]).collect();
            assert_eq!(told, ["allocated", "freed"], "{}: {at:x}", opened.name);
            let functions = functions(&events[1]);
            assert!(functions.contains(&"work"), "{}: {functions:?}", opened.name);
        }
    });
}

#[test]
fn people_see_who_allocated_and_freed() {
    let opened = opened("heap-asan");
    let opened = opened.first().expect("a core");
    let truth = Truth::read(&opened.dir);
    let at = truth.live().next().expect("a block").at;
    let text = crate::harness::run_on(&opened.core, &format!("{at:x}::whatis")).out;
    assert!(text.contains("\n    allocated by thread "), "{text}");
    assert!(text.contains(" at ") && text.contains("main.c:"), "{text}");
}

/// What is left of a core that was cut, or in which bytes are wrong, is right.
#[test]
fn cut_and_flipped_cores_show_what_is_left() {
    for scenario in SCENARIOS {
        for opened in opened(scenario).iter().take(1) {
            let whole = blocks(&opened.core, heap_of(&opened.core, "AddressSanitizer")).0;
            let whole: BTreeSet<(u64, u64)> =
                whole.iter().map(|block| (block.at.get(), block.usable)).collect();
            for tenths in [3, 5, 8] {
                let cut = damaged(opened, "cut", |bytes| bytes.truncate(bytes.len() * tenths / 10));
                for (number, _) in cut.core.heaps().found().all() {
                    let (left, notes) = blocks(&cut.core, number);
                    let known =
                        left.iter().filter(|it| whole.contains(&(it.at.get(), it.usable))).count();
                    let is_asan = left.iter().any(|block| block.at.get() >> 44 == 6);
                    assert!(!is_asan || known == left.len(), "{tenths} tenths of {}", cut.name);
                    assert!(!is_asan || !notes.is_empty(), "{tenths} tenths of {}", cut.name);
                }
            }
            let flip = |bytes: &mut Vec<u8>| {
                bytes.iter_mut().skip(0x4000).step_by(509).for_each(|byte| *byte ^= 0x41);
            };
            let flipped = damaged(opened, "flipped", flip);
            for line in ["::heap", "::heapcheck", "::blocks", "::findleaks"] {
                assert!(!flipped.records(line).is_empty(), "{}: {line}", flipped.name);
            }
        }
    }
}
