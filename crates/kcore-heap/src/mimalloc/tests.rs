//! A segment of mimalloc 2.2 made in code: whole, torn, and of a layout that is not known.

use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::ALLOCATOR;
use crate::testing::{Made, put};
use crate::{
    Block, BlockFilter, BlockSink, BlockState, Depth, HeapHost, NativeHeap, Refused, Torn, TornKind,
};

const SEGMENT: u64 = 32 << 20;
const SLICE: u64 = 1 << 16;
/// The page's blocks: five of 48 bytes in the second slice.
const START: u64 = SEGMENT + SLICE;
const SIZE: u64 = 48;
/// `slices` of a segment, and the bytes of one (2.1.9 to 2.4).
const SLICES: u64 = 288;
const PAGE: u64 = 96;
const HEAP: u64 = 0x5000;

/// A segment of three slices: its header, a page, and a free span. Of the page's blocks 0 and 3 are used, 1 is free, 2 was
/// freed by the owner and 4 by another thread.
fn segment() -> Vec<u8> {
    let mut bytes = vec![0; 3 * SLICE as usize];
    put(&mut bytes, 224, &[0x1234_5678 ^ SEGMENT, 0, 0, 3, 1, 0, 3, 0xf000]);
    put(&mut bytes, SLICES, &[1]);
    let page = SLICES + PAGE;
    let block = |index: u64| START + index * SIZE;
    put(
        &mut bytes,
        page,
        &[1, 5 << 16 | 5 << 32, block(1), block(2), 3, SIZE, START, block(4), HEAP],
    );
    // `capacity` lies at 10, `reserved` at 12.
    put(&mut bytes, page + 8, &[5 << 16 | 5 << 32]);
    put(&mut bytes, SLICES + 2 * PAGE, &[1]);
    bytes
}

fn process(segment: Vec<u8>) -> Made {
    let text = b"mimalloc: warning: \0".to_vec();
    Made::new(vec![(0x1000, text), (0x3000, vec![0; 4096]), (SEGMENT, segment)], 0xf000)
}

fn found(host: &Made) -> Result<Box<dyn NativeHeap>, Refused> {
    (ALLOCATOR.detect)(host).into_iter().next().expect("it is there")
}

fn states(heap: &dyn NativeHeap, host: &dyn HeapHost) -> Vec<BlockState> {
    let mut states = Vec::new();
    let mut tell = |blocks: &[Block]| {
        states.extend(blocks.iter().map(|block| block.state));
        ControlFlow::Continue(())
    };
    let mut watch = |_, _| ControlFlow::Continue(());
    let mut sink = BlockSink::new(BlockFilter::ALL, &mut watch, &mut tell);
    assert!(heap.walk(host, &mut sink).is_continue() && sink.flush().is_continue());
    states
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
fn blocks_in_each_of_the_lists_are_free() {
    use BlockState::{Free, Used};
    let host = process(segment());
    let heap = found(&host).unwrap();
    assert_eq!(heap.identity().version.as_deref(), Some("2.1.9 to 2.4"));
    assert_eq!(states(heap.as_ref(), &host), [Used, Free, Free, Used, Free]);
    let lists = [1, 2, 4].map(|index| {
        let block = heap.block_at(&host, Addr::new(START + index * SIZE + 7)).unwrap();
        heap.list(block.list.unwrap()).name.into_owned()
    });
    let wanted = ["free list", "local free list", "thread free list"];
    assert_eq!(lists, wanted.map(|list| format!("{list} of its page")));
    let usage = heap.usage(&host, Depth::Lists, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(usage.equalities.iter().all(crate::Equality::holds));
    assert_eq!((usage.used.bytes, usage.free.bytes), (2 * SIZE, 3 * SIZE));
    assert_eq!(usage.arenas[0].at, Some(Addr::new(HEAP)));
    assert!(torn(heap.as_ref(), &host).is_empty());
}

/// What is behind the last block is none.
#[test]
fn an_address_outside_of_blocks_leads_to_none() {
    let host = process(segment());
    let heap = found(&host).unwrap();
    let at = |at: u64| heap.block_at(&host, Addr::new(at));
    assert_eq!((at(START - 1), at(START + 5 * SIZE), at(0)), (None, None, None));
    assert!(at(START + 5 * SIZE - 1).is_some());
}

/// Two pages that are whole, so that the layout is proven, and one that is torn.
fn with_a_torn_page(link: u64) -> Made {
    let mut bytes = segment();
    let whole = bytes[(SLICES + PAGE) as usize..(SLICES + 2 * PAGE) as usize].to_vec();
    bytes.resize(20 * SLICE as usize, 0);
    for slice in 2..18 {
        let at = SLICES + slice * PAGE;
        bytes[at as usize..(at + PAGE) as usize].copy_from_slice(&whole);
        let start = SEGMENT + slice * SLICE;
        let block = |index: u64| start + index * SIZE;
        put(&mut bytes, at + 16, &[block(1), block(2)]);
        put(&mut bytes, at + 48, &[start, block(4)]);
    }
    put(&mut bytes, 248, &[20]);
    put(&mut bytes, 272, &[18]);
    put(&mut bytes, SLICE + SIZE, &[link]);
    process(bytes)
}

#[test]
fn a_block_that_is_freed_twice_is_told() {
    let host = with_a_torn_page(START + SIZE);
    let heap = found(&host).unwrap();
    let torn = torn(heap.as_ref(), &host);
    assert_eq!(torn.iter().map(|it| it.kind).collect::<Vec<_>>(), [TornKind::DoubleFree]);
    assert_eq!(torn[0].block.map(|block| block.at), Some(Addr::new(START + SIZE)));
}

#[test]
fn a_link_that_leads_elsewhere_is_told_and_costs_no_other_page() {
    let host = with_a_torn_page(START + 5);
    let heap = found(&host).unwrap();
    let torn = torn(heap.as_ref(), &host);
    assert_eq!(torn.iter().map(|it| it.kind).collect::<Vec<_>>(), [TornKind::Link]);
    let states = states(heap.as_ref(), &host);
    let free = states.iter().filter(|state| **state == BlockState::Free).count();
    assert_eq!((states.len(), free), (17 * 5, 17 * 3));
}

#[test]
fn a_layout_that_no_table_has_is_refused() {
    let mut bytes = segment();
    put(&mut bytes, SLICES, &[9]);
    let why = found(&process(bytes)).err().expect("it is refused").why;
    assert!(why.contains("its version is not known"), "{why}");
}

#[test]
fn a_process_without_it_has_none() {
    let parts = vec![(0x1000, b"nothing".to_vec()), (0x3000, vec![0; 64]), (SEGMENT, segment())];
    assert!((ALLOCATOR.detect)(&Made::new(parts, 0)).is_empty());
}
