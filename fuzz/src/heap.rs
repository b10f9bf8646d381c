//! Heaps of native allocators, in memory that may hold anything.

use std::ops::ControlFlow;

use kcore_heap::{
    ALLOCATORS, BlockFilter, BlockSink, Depth, HeapHost, HeapMapping, HeapModule, Heaps,
};
use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_unwind::Tid;

use crate::{input::Input, memory::Memory};

/// Blocks of which the one around an address is asked for.
const ASKED: usize = 64;
/// Bytes of heaps that are walked for one input, at most.
const MAX_WALKED: u64 = 1 << 26;

/// The bit beside the number of the module's data that has the module export what AddressSanitizer's runtime does.
pub const RUNTIME: u8 = 0x80;

/// The address of the thread pointer, which part of memory is the module's data, and memory. All parts are writable, and
/// the second is what `brk` grows.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (pointer, data) = (Addr::new(input.word()), input.byte());
    let memory = Memory::read(&mut input);
    let range =
        |(at, bytes): &(u64, Vec<u8>)| AddrRange::with_len(Addr::new(*at), bytes.len() as u64);
    let mut ranges: Vec<AddrRange> = memory.0.iter().map(range).collect();
    let own = ranges.get(usize::from(data & !RUNTIME)).copied().unwrap_or_default();
    let module = Module { range: own, is_runtime: data & RUNTIME != 0 };
    ranges.sort_unstable();
    let mapping = |(index, range): (usize, AddrRange)| HeapMapping {
        range,
        readable: true,
        writable: true,
        is_file: range == module.range,
        is_brk: index == 1,
    };
    let mappings = ranges.into_iter().enumerate().map(mapping).collect();
    ask(&Host { memory, module, mappings, pointer });
}

fn ask(host: &Host) {
    let heaps = Heaps::find(ALLOCATORS, host);
    let mut go_on = |done, _| match done > MAX_WALKED {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    for (_, heap) in heaps.all() {
        for depth in [Depth::Lists, Depth::Blocks] {
            let _ = heap.usage(host, depth, &mut go_on);
        }
        let mut blocks: Vec<kcore_heap::Block> = Vec::new();
        let mut tell = |batch: &[kcore_heap::Block]| {
            blocks.extend(batch.iter().take(ASKED));
            ControlFlow::Continue(())
        };
        let mut sink = BlockSink::new(BlockFilter::ALL, &mut go_on, &mut tell);
        let _ = heap.walk(host, &mut sink);
        let _ = sink.flush();
        for block in blocks.iter().take(ASKED) {
            let found = heap.block_at(host, block.at);
            assert!(
                found.is_none_or(|it| it.whole.contains(block.at)),
                "a block holds its address"
            );
            let _ = block.list.map(|list| heap.list(list));
            let _ = heap.history(host, block);
        }
        let _ = heap.check(host, &mut go_on, &mut |_| ControlFlow::Continue(()));
        let _ = heap.samples(host, &mut go_on);
    }
}

struct Host {
    memory: Memory,
    module: Module,
    mappings: Vec<HeapMapping>,
    pointer: Addr,
}

impl HeapHost for Host {
    fn space(&self) -> &dyn AddressSpace {
        &self.memory
    }

    fn modules(&self) -> Vec<&dyn HeapModule> {
        vec![&self.module]
    }

    fn mappings(&self) -> &[HeapMapping] {
        &self.mappings
    }

    fn threads(&self) -> Vec<Tid> {
        vec![Tid::new(1)]
    }

    fn thread_pointer(&self, _: Tid) -> Option<Addr> {
        Some(self.pointer)
    }
}

struct Module {
    range: AddrRange,
    is_runtime: bool,
}

impl HeapModule for Module {
    fn name(&self) -> &str {
        "libc.so.6"
    }

    fn span(&self) -> AddrRange {
        self.range
    }

    fn data(&self) -> Vec<AddrRange> {
        vec![self.range]
    }

    fn constants(&self) -> Vec<AddrRange> {
        vec![self.range]
    }

    fn exported(&self, name: &str) -> Option<(Addr, u64)> {
        (self.is_runtime && name == "__asan_init").then_some((self.range.start, 8))
    }

    fn symbol(&self, _: &str) -> Option<(Addr, u64)> {
        None
    }
}
