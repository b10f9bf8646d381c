use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_unwind::Tid;

use super::detect::detect;
use crate::testing::{Made, THREAD, put};
use crate::{
    Block, BlockEventKind, BlockFilter, BlockSink, BlockState, Depth, HeapHost, HeapMapping,
    HeapModule, NativeHeap,
};

const CONSTANTS: u64 = 0x1000;
const DATA: u64 = 0x2000;
/// Leaves of the depot, a stack, and threads.
const LEAF: u64 = 0x10_0000;
const STACK: u64 = 0x20_0000;
const VECTOR: u64 = 0x30_0000;
const LARGE: u64 = 0x40_0000;
const TABLE: u64 = 0x50_0000;
const BASE: u64 = 0x6000_0000_0000;
/// The region of 48 bytes.
const REGION: u64 = BASE + (3 << 36);
const INFOS: u64 = BASE + (64 << 36);
const MOVED: u64 = 0xcc6e_96b9_cc6e_96b9;

const fn header(state: u64, requested: u64) -> u64 {
    state | requested << 32
}

/// A process with four chunks of 48 bytes: in use, in quarantine, in use behind a moved header, and free; and a large block.
fn parts() -> Vec<(u64, Vec<u8>)> {
    let mut data = vec![0; 4096];
    put(&mut data, 0x100, &[BASE, (64 << 36) + 0x2000, 0, 0, 0, 0, INFOS, 0]);
    put(&mut data, 0x140, &[4096, TABLE]);
    put(&mut data, 0x178, &[1]);
    put(&mut data, 0x400, &[LEAF]);
    put(&mut data, 0x500, &[VECTOR, 4096, 1]);
    let mut leaf = vec![0; 4096];
    put(&mut leaf, 0, &[0, STACK, STACK + 32]);
    let mut stack = vec![0; 4096];
    put(&mut stack, 0, &[2, DATA + 8, DATA + 16, 0, 1, CONSTANTS + 4]);
    let mut vector = vec![0; 4096];
    put(&mut vector, 0, &[VECTOR + 64]);
    put(&mut vector, 64 + 32, &[THREAD.into()]);
    let mut large = vec![0; 0x3000];
    put(&mut large, 0, &[LARGE, 0x3000, 0x1800, 0]);
    put(&mut large, 0x1000, &[MOVED, LARGE + 0x17f0]);
    put(&mut large, 0x17f0, &[header(2, 0x1700), 1]);
    let mut table = vec![0; 4096];
    put(&mut table, 0, &[LARGE]);
    let mut region = vec![0; 4096];
    put(&mut region, 0, &[header(2, 20), 1]);
    put(&mut region, 48, &[header(3, 32), 1, 2]);
    put(&mut region, 96, &[MOVED, REGION + 112, header(2, 16), 2]);
    let mut infos = vec![0; 0x2000];
    put(&mut infos, 3 * 128, &[0, 0, 1, 4096, 192, 0, 4096, 0, 0, 3, 0]);
    vec![
        (CONSTANTS, vec![0; 64]),
        (DATA, data),
        (LEAF, leaf),
        (STACK, stack),
        (VECTOR, vector),
        (LARGE, large),
        (TABLE, table),
        (REGION, region),
        (INFOS, infos),
    ]
}

/// The same with a module that exports what the runtime does.
struct Exporting(Made);

struct Runtime;

impl HeapModule for Runtime {
    fn name(&self) -> &str {
        "libasan.so.8"
    }

    fn span(&self) -> AddrRange {
        AddrRange::new(Addr::new(CONSTANTS), Addr::new(DATA + 4096))
    }

    fn data(&self) -> Vec<AddrRange> {
        vec![AddrRange::with_len(Addr::new(DATA), 4096)]
    }

    fn constants(&self) -> Vec<AddrRange> {
        Vec::new()
    }

    fn exported(&self, name: &str) -> Option<(Addr, u64)> {
        (name == "__asan_init").then_some((Addr::new(CONSTANTS), 8))
    }

    fn symbol(&self, name: &str) -> Option<(Addr, u64)> {
        self.exported(name)
    }
}

impl HeapHost for Exporting {
    fn space(&self) -> &dyn AddressSpace {
        self.0.space()
    }

    fn modules(&self) -> Vec<&dyn HeapModule> {
        vec![&Runtime]
    }

    fn mappings(&self) -> &[HeapMapping] {
        self.0.mappings()
    }

    fn threads(&self) -> Vec<Tid> {
        self.0.threads()
    }
}

fn process(parts: Vec<(u64, Vec<u8>)>) -> Exporting {
    Exporting(Made::new(parts, 0))
}

fn heap(host: &Exporting) -> Option<Box<dyn NativeHeap>> {
    detect(host).into_iter().next()?.ok()
}

fn blocks(host: &Exporting, heap: &dyn NativeHeap) -> Vec<Block> {
    let mut found = Vec::new();
    let mut watch = |_, _| ControlFlow::Continue(());
    let mut tell = |blocks: &[Block]| {
        found.extend_from_slice(blocks);
        ControlFlow::Continue(())
    };
    let mut sink = BlockSink::new(BlockFilter::ALL, &mut watch, &mut tell);
    assert!(heap.walk(host, &mut sink).is_continue() && sink.flush().is_continue());
    found
}

fn torn(host: &Exporting, heap: &dyn NativeHeap) -> Vec<String> {
    let mut found = Vec::new();
    let mut watch = |_, _| ControlFlow::Continue(());
    heap.check(host, &mut watch, &mut |torn| {
        found.push(torn.why);
        ControlFlow::Continue(())
    });
    found
}

#[test]
fn chunks_are_told_by_their_headers() {
    let host = process(parts());
    let heap = heap(&host).expect("a heap");
    let found = blocks(&host, heap.as_ref());
    let mut told: Vec<_> = found.iter().map(|it| (it.at.get(), it.usable, it.state)).collect();
    let large = told.pop();
    assert_eq!(large, Some((LARGE + 0x1800, 0x1700, BlockState::Used)));
    assert_eq!(
        told,
        [
            (REGION + 16, 20, BlockState::Used),
            (REGION + 64, 32, BlockState::Cached),
            (REGION + 128, 16, BlockState::Used),
            (REGION + 160, 32, BlockState::Free),
        ]
    );
    for block in &found {
        assert_eq!(heap.block_at(&host, block.at), Some(*block));
        assert_eq!(heap.block_at(&host, block.whole.start), Some(*block));
    }
    assert_eq!(heap.block_at(&host, Addr::new(REGION + 192)), None);
    let mut watch = |_, _| ControlFlow::Continue(());
    let usage = heap.usage(&host, Depth::Lists, &mut watch).expect("nobody stops it");
    assert_eq!((usage.used.blocks, usage.cached.blocks), (Some(3), Some(1)));
    assert_eq!(usage.own[0].value, 20 + 16 + 0x1700);
    assert!(usage.equalities.iter().all(crate::Equality::holds), "{:?}", usage.equalities);
    assert_eq!(torn(&host, heap.as_ref()), [""; 0]);
}

#[test]
fn a_block_knows_who_allocated_and_freed_it() {
    let host = process(parts());
    let heap = heap(&host).expect("a heap");
    let block = heap.block_at(&host, Addr::new(REGION + 64)).expect("a block");
    let events = heap.history(&host, &block);
    let told: Vec<_> = events.iter().map(|it| (it.kind, it.thread.map(Tid::get))).collect();
    let thread = Some(THREAD);
    assert_eq!(told, [(BlockEventKind::Allocated, thread), (BlockEventKind::Freed, thread)]);
    let stack = |index: usize| -> Vec<u64> {
        let stack = events[index].stack.as_ref().expect("a stack");
        stack.iter().map(|pc| pc.addr().get()).collect()
    };
    assert_eq!((stack(0), stack(1)), (vec![DATA + 8, DATA + 16], vec![CONSTANTS + 4]));
    let mut watch = |_, _| ControlFlow::Continue(());
    let samples = heap.samples(&host, &mut watch).expect("nobody stops it");
    assert_eq!((samples.period, samples.samples.len()), (crate::Samples::ALL, 3));
}

#[test]
fn a_header_that_was_written_over_is_torn_and_hides_no_other() {
    let mut all = parts();
    all[7].1[0] = b'x';
    let host = process(all);
    let heap = heap(&host).expect("a heap");
    assert_eq!(torn(&host, heap.as_ref()), ["the header of the block has an impossible state"]);
    assert_eq!(blocks(&host, heap.as_ref()).len(), 5);
    let mut all = parts();
    put(&mut all[7].1, 96 + 8, &[REGION]);
    let host = process(all);
    let heap = super::tests::heap(&host).expect("a heap");
    let why = "what should lead to the header of the block leads elsewhere";
    assert_eq!(torn(&host, heap.as_ref()), [why]);
}

#[test]
fn an_allocator_that_is_laid_out_otherwise_is_refused() {
    let mut all = parts();
    all[1].1[0x100 + 8] ^= 1;
    let host = process(all);
    let refused = detect(&host).into_iter().next().expect("one").err().expect("it is refused");
    let why = "its allocator is not laid out as that of GCC 12 or LLVM 14 to 19";
    assert_eq!(refused.why.as_ref(), why);
}

#[test]
fn no_flipped_byte_costs_more_than_what_it_is_of() {
    for part in [1, 2, 3, 4, 5, 6, 7, 8] {
        for at in (0..0x600).step_by(3) {
            for flip in [0x01, 0x80, 0xff] {
                let mut all = parts();
                all[part].1[at] ^= flip;
                let host = process(all);
                let Some(heap) = heap(&host) else { continue };
                let found = blocks(&host, heap.as_ref());
                assert!(found.len() <= 128, "{part} {at:x}");
                found.iter().for_each(|block| drop(heap.history(&host, block)));
                torn(&host, heap.as_ref());
                heap.ranges(&host);
                heap.samples(&host, &mut |_, _| ControlFlow::Continue(()));
            }
        }
    }
}
