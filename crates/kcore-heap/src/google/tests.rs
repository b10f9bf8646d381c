//! A heap of Google's tcmalloc made in code: whole, torn, and of a layout that is not known.

use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::ALLOCATOR;
use crate::testing::{Made, put};
use crate::{
    Block, BlockFilter, BlockSink, BlockState, Depth, HeapHost, NativeHeap, Refused, Torn, TornKind,
};

const TEXT: u64 = 0x1000;
/// The root of the map, the allocator of descriptors, the sizes of classes, and where the caches of processors are.
const DATA: u64 = 0x3000;
const ROOT: u64 = 0xff8;
const DESCRIPTORS: u64 = 0x8000;
const SLABS: u64 = 0xa000;
const LEAF: u64 = 0x1_0000;
const PAGE: u64 = 1 << 13;
/// A page of blocks of 48 bytes, one of 64 bytes, a large block of two pages, and one that was freed.
const HEAP: u64 = 256 * PAGE;
const LISTED: u64 = 6;
const MAPPED: u64 = 8;

/// The parts of memory: text, data, descriptors, caches, leaf, heap.
type Parts = [(u64, Vec<u8>); 6];

fn descriptor(number: u64) -> u64 {
    DESCRIPTORS + number * 64
}

fn put_halves(bytes: &mut [u8], at: u64, halves: &[u16]) {
    for (index, half) in halves.iter().enumerate() {
        let at = at as usize + index * 2;
        bytes[at..at + 2].copy_from_slice(&half.to_le_bytes());
    }
}

fn data() -> Vec<u8> {
    let mut data = vec![0; 4096];
    // The root would go on behind the data.
    put(&mut data, ROOT, &[LEAF]);
    // Three descriptors of four are in use.
    put(&mut data, 0x800, &[DATA + 0x10, 0, descriptor(3), 3, 4]);
    for class in 0..25 {
        put_halves(&mut data, 0x900 + class * 4, &[class as u16 * 8]);
    }
    put_halves(&mut data, 0x900 + 25 * 4, &[7]);
    put(&mut data, 0xa00, &[SLABS | 12, SLABS + 0x1100, SLABS + 0x1200]);
    data
}

/// Blocks 0 and 1 of the first page are in the span's own list, 2 is a block that lists 3 and 4. Of the second, 5 is free.
fn descriptors() -> Vec<u8> {
    let mut bytes = vec![0; 4 * 64];
    let first = |number: u64| HEAP / PAGE + number;
    put(&mut bytes, 16, &[0, first(0), 1, 0]);
    put_halves(&mut bytes, 16, &[2, 2 * 6, 170 - 5, 2]);
    put_halves(&mut bytes, 40, &[0, 6]);
    put(&mut bytes, 64 + 16, &[(128 - 1) << 32, first(1), 1, 1 << 5, 0]);
    put(&mut bytes, 128 + 16, &[0, first(2), 2]);
    put(&mut bytes, 192 + 16, &[0, first(4), 1]);
    bytes
}

/// A part for one processor, which has block 7 of the second page.
fn slabs() -> Vec<u8> {
    let mut bytes = vec![0; 0x2000];
    let begin = |class: u64| if class <= MAPPED { 14 } else { 17 };
    for class in 1..25 {
        let current = begin(class) + u16::from(class == MAPPED);
        let end = begin(class) + 2 * u16::from(class == MAPPED);
        put_halves(&mut bytes, class * 4, &[current, end]);
        put_halves(&mut bytes, 0x1200 + class * 2, &[begin(class)]);
    }
    put(&mut bytes, 13 * 8, &[(SLABS + 13 * 8) | 1, HEAP + PAGE + 7 * 64]);
    // What is behind the last processor is no part of the caches.
    put(&mut bytes, 0x1000, &[0x1234_5678]);
    bytes
}

fn leaf() -> Vec<u8> {
    let mut bytes = vec![0; (1 << 15) + 8 * 264];
    (bytes[256], bytes[257]) = (LISTED as u8, MAPPED as u8);
    let entries = [
        LISTED << 48 | descriptor(0),
        MAPPED << 48 | descriptor(1),
        descriptor(2),
        0,
        descriptor(3),
    ];
    put(&mut bytes, (1 << 15) + 256 * 8, &entries);
    bytes
}

fn heap() -> Vec<u8> {
    let mut bytes = vec![0; 2 * PAGE as usize];
    put_halves(&mut bytes, 2 * 48, &[u16::MAX, 3 * 6, 4 * 6]);
    bytes
}

fn parts() -> Parts {
    let text = b"TEST_ONLY_TCMALLOC_POW2_SIZECLASS\0".to_vec();
    [
        (TEXT, text),
        (DATA, data()),
        (DESCRIPTORS, descriptors()),
        (SLABS, slabs()),
        (LEAF, leaf()),
        (HEAP, heap()),
    ]
}

fn process(parts: Parts) -> Made {
    Made::new(parts.into(), 0xf000)
}

fn found(host: &Made) -> Result<Box<dyn NativeHeap>, Refused> {
    (ALLOCATOR.detect)(host).into_iter().next().expect("it is there")
}

fn blocks(heap: &dyn NativeHeap, host: &dyn HeapHost) -> Vec<Block> {
    let mut all = Vec::new();
    let mut tell = |blocks: &[Block]| {
        all.extend(blocks);
        ControlFlow::Continue(())
    };
    let mut watch = |_, _| ControlFlow::Continue(());
    let mut sink = BlockSink::new(BlockFilter::ALL, &mut watch, &mut tell);
    assert!(heap.walk(host, &mut sink).is_continue() && sink.flush().is_continue());
    all
}

fn torn(heap: &dyn NativeHeap, host: &dyn HeapHost) -> Vec<Torn> {
    let mut torn = Vec::new();
    let mut watch = |_, _| ControlFlow::Continue(());
    let told = heap.check(host, &mut watch, &mut |it| {
        torn.push(it);
        ControlFlow::Continue(())
    });
    assert_eq!(told, Some(()));
    torn
}

#[test]
fn blocks_in_lists_bitmaps_and_caches_are_not_used() {
    let host = process(parts());
    let heap = found(&host).unwrap();
    let blocks = blocks(heap.as_ref(), &host);
    let of_state = |state: BlockState| -> Vec<u64> {
        let of_it = blocks.iter().filter(|block| block.state == state);
        of_it.map(|block| block.at.get() - HEAP).collect()
    };
    assert_eq!(of_state(BlockState::Free), [0, 48, 96, 144, 192, PAGE + 5 * 64]);
    assert_eq!(of_state(BlockState::Cached), [PAGE + 7 * 64]);
    assert_eq!(of_state(BlockState::Used).len(), 165 + 126 + 1);
    let large = heap.block_at(&host, Addr::new(HEAP + 3 * PAGE + 9)).unwrap();
    assert_eq!((large.at.get(), large.usable), (HEAP + 2 * PAGE, 2 * PAGE));
    assert_eq!(heap.block_at(&host, Addr::new(HEAP + 4 * PAGE)), None);
    let cached = heap.block_at(&host, Addr::new(HEAP + PAGE + 7 * 64 + 3)).unwrap();
    assert_eq!(heap.list(cached.list.unwrap()).name, "cache of processor 0, 64 bytes");
}

#[test]
fn what_is_counted_in_two_ways_is_equal() {
    let host = process(parts());
    let heap = found(&host).unwrap();
    let usage = heap.usage(&host, Depth::Lists, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(usage.equalities.iter().all(crate::Equality::holds), "{:?}", usage.equalities);
    assert_eq!(usage.used.blocks, Some(292));
    assert_eq!((usage.cached.bytes, usage.free.bytes), (64, 5 * 48 + 64));
    assert!(torn(heap.as_ref(), &host).is_empty());
}

#[test]
fn what_is_not_found_is_said() {
    let host = process(parts());
    let unknown = found(&host).unwrap().identity().unknown.clone();
    assert!(matches!(&unknown[..], [one] if one.starts_with("transfer caches")), "{unknown:?}");
    let mut without = parts();
    put(&mut without[1].1, 0xa00, &[0]);
    let unknown = found(&process(without)).unwrap().identity().unknown.clone();
    assert_eq!(unknown.len(), 2, "{unknown:?}");
}

#[test]
fn a_list_that_leads_to_no_block_is_told() {
    let mut parts = parts();
    put_halves(&mut parts[5].1, 2 * 48 + 2, &[3 * 6 + 1]);
    let host = process(parts);
    let heap = found(&host).unwrap();
    let torn = torn(heap.as_ref(), &host);
    assert_eq!((torn.len(), torn[0].kind), (1, TornKind::Link), "{torn:?}");
    // The other page is whole.
    assert!(blocks(heap.as_ref(), &host).iter().any(|block| block.at.get() == HEAP + PAGE));
}

#[test]
fn a_block_that_was_freed_twice_is_told() {
    let mut parts = parts();
    put(&mut parts[3].1, 14 * 8, &[HEAP + PAGE + 5 * 64]);
    let host = process(parts);
    let heap = found(&host).unwrap();
    let torn = torn(heap.as_ref(), &host);
    assert_eq!((torn.len(), torn[0].kind), (1, TornKind::DoubleFree), "{torn:?}");
    assert_eq!(torn[0].block.map(|block| block.at), Some(Addr::new(HEAP + PAGE + 5 * 64)));
}

#[test]
fn a_map_or_sizes_that_are_not_known_are_refused() {
    for (part, at, what) in [(1, ROOT, "its map of pages"), (1, 0x900, "no table of the sizes")] {
        let mut parts = parts();
        put(&mut parts[part].1, at, &[1]);
        let refused = found(&process(parts)).err().expect("it is refused");
        assert!(refused.why.starts_with(what), "{}", refused.why);
    }
}

/// Asks for all that a heap tells, if one is found.
fn ask(parts: Parts) {
    let host = process(parts);
    for heap in (ALLOCATOR.detect)(&host).into_iter().flatten() {
        let blocks = blocks(heap.as_ref(), &host);
        for block in blocks.iter().step_by(41) {
            let found = heap.block_at(&host, block.at);
            assert!(found.is_none_or(|found| found.whole.contains(block.at)));
        }
        let mut watch = |_, _| ControlFlow::Continue(());
        assert!(heap.usage(&host, Depth::Blocks, &mut watch).is_some());
        let _ = (torn(heap.as_ref(), &host), heap.samples(&host, &mut watch));
    }
}

#[test]
fn flipped_bytes_are_survived() {
    for part in 1..6 {
        let held = parts()[part].1.clone();
        for (at, _) in held.iter().enumerate().filter(|(_, byte)| **byte != 0) {
            for mask in [0x01, 0x08, 0x40, 0xff] {
                let mut parts = parts();
                parts[part].1[at] ^= mask;
                ask(parts);
            }
        }
    }
}

#[test]
fn parts_that_are_cut_are_survived() {
    for part in 1..6 {
        let len = parts()[part].1.len();
        for kept in (0..len).step_by(len / 61 + 1) {
            let mut parts = parts();
            parts[part].1.truncate(kept.max(1));
            ask(parts);
        }
    }
}
