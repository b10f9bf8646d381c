use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::detect::detect;
use crate::testing::{Made, put};
use crate::{Block, BlockFilter, BlockSink, BlockState, Depth, NativeHeap};

const CONSTANTS: u64 = 0x1000;
const DATA: u64 = 0x2000;
const AREA: u64 = 0x10_0000;
const GROUP: u64 = 0x20_0000;
const SECRET: u64 = 0x1234_5678_9abc_def1;
/// Slots of 48 bytes, of which two are free.
const STRIDE: u64 = 48;

/// A process with one group of five slots: 20 bytes asked for, freed, 44 bytes, moved by 16 bytes, and never used.
fn parts() -> Vec<(u64, Vec<u8>)> {
    let mut data = vec![0; 4096];
    put(&mut data, 0x100, &[SECRET, 1]);
    put(&mut data, 0x138, &[AREA]);
    let mut area = vec![0; 4096];
    put(&mut area, 0, &[SECRET, 0, 3]);
    // Behind one that is not in use: slots 1 free and 4 never used, five of class 2.
    let masks = (1_u64 << 4) | (1 << 1) << 32;
    put(&mut area, 24 + 40, &[0, 0, GROUP, masks, 4 | 2 << 6 | 1 << 12]);
    let mut group = vec![0; 4096];
    put(&mut group, 0, &[AREA + 24 + 40, 0]);
    let mut header = |slot: u64, reserved: u64, moved: u64| {
        let at = (16 + slot * STRIDE + moved) as usize;
        group[at - 3] = slot as u8 | (reserved.min(5) as u8) << 5;
        group[at - 2..at].copy_from_slice(&((slot * 3 + moved / 16) as u16).to_le_bytes());
        let end = (16 + (slot + 1) * STRIDE - 4) as usize;
        if reserved >= 5 {
            group[end - 4..end].copy_from_slice(&(reserved as u32).to_le_bytes());
        }
    };
    header(0, 24, 0);
    header(2, 0, 0);
    header(3, 8, 16);
    let start = (16 + 3 * STRIDE) as usize;
    group[start - 3] = 0xe0;
    group[start - 2] = 1;
    let constants = vec![0; 64];
    vec![(CONSTANTS, constants), (DATA, data), (AREA, area), (GROUP, group)]
}

fn heap(made: &Made) -> Option<Box<dyn NativeHeap>> {
    detect(made).into_iter().next()?.ok()
}

fn blocks(made: &Made, heap: &dyn NativeHeap) -> Vec<Block> {
    let mut found = Vec::new();
    let mut watch = |_, _| ControlFlow::Continue(());
    let mut tell = |blocks: &[Block]| {
        found.extend_from_slice(blocks);
        ControlFlow::Continue(())
    };
    let mut sink = BlockSink::new(BlockFilter::ALL, &mut watch, &mut tell);
    assert!(heap.walk(made, &mut sink).is_continue() && sink.flush().is_continue());
    found
}

fn torn(made: &Made, heap: &dyn NativeHeap) -> Vec<String> {
    let mut found = Vec::new();
    let mut watch = |_, _| ControlFlow::Continue(());
    heap.check(made, &mut watch, &mut |torn| {
        found.push(torn.why);
        ControlFlow::Continue(())
    });
    found
}

#[test]
fn slots_are_told_by_masks_and_headers() {
    let made = Made::new(parts(), 0);
    let heap = heap(&made).expect("a heap");
    let found = blocks(&made, heap.as_ref());
    let told: Vec<_> = found.iter().map(|it| (it.at.get(), it.usable, it.state)).collect();
    let slot = |index: u64| GROUP + 16 + index * STRIDE;
    assert_eq!(
        told,
        [
            (slot(0), 20, BlockState::Used),
            (slot(1), 44, BlockState::Free),
            (slot(2), 44, BlockState::Used),
            (slot(3) + 16, 20, BlockState::Used),
            (slot(4), 44, BlockState::Free),
        ]
    );
    for block in &found {
        assert_eq!(heap.block_at(&made, block.at), Some(*block));
    }
    assert_eq!(heap.block_at(&made, Addr::new(GROUP + 8)), None);
    let mut watch = |_, _| ControlFlow::Continue(());
    let usage = heap.usage(&made, Depth::Blocks, &mut watch).expect("nobody stops it");
    assert_eq!((usage.used.blocks, usage.free.blocks), (Some(3), Some(2)));
    assert!(usage.equalities.iter().all(crate::Equality::holds));
    assert_eq!(torn(&made, heap.as_ref()), [""; 0]);
}

#[test]
fn what_is_written_behind_a_block_is_torn() {
    let mut all = parts();
    all[3].1[(16 + 20) as usize] = b'x';
    let made = Made::new(all, 0);
    let heap = heap(&made).expect("a heap");
    assert_eq!(torn(&made, heap.as_ref()), ["what lies behind the block was written over"]);
    // The header of the third slot.
    let mut all = parts();
    all[3].1[(16 + 2 * STRIDE - 2) as usize] = 9;
    let made = Made::new(all, 0);
    let heap = super::tests::heap(&made).expect("a heap");
    assert_eq!(torn(&made, heap.as_ref()), ["the header of the slot does not lead to its group"]);
}

#[test]
fn an_impossible_meta_hides_no_other_group() {
    let mut all = parts();
    // Another group, in memory that is not there.
    put(&mut all[2].1, 24 + 80, &[0, 0, 0x1000, 0, 1 << 40]);
    let made = Made::new(all, 0);
    let heap = heap(&made).expect("a heap");
    assert_eq!(blocks(&made, heap.as_ref()).len(), 5);
    assert_eq!(torn(&made, heap.as_ref()), ["the meta of a group is impossible"]);
}

#[test]
fn no_flipped_byte_costs_more_than_what_it_is_of() {
    for part in [1, 2, 3] {
        for at in 0..400 {
            for flip in [0x01, 0x80, 0xff] {
                let mut all = parts();
                all[part].1[at] ^= flip;
                let made = Made::new(all, 0);
                if let Some(heap) = heap(&made) {
                    assert!(blocks(&made, heap.as_ref()).len() <= 64);
                    torn(&made, heap.as_ref());
                    heap.ranges(&made);
                }
            }
        }
    }
}

#[test]
fn what_is_none_is_not_found() {
    let mut all = parts();
    all[2].1[0] ^= 1;
    assert!(heap(&Made::new(all, 0)).is_none());
}
