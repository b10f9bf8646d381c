//! All heaps of one process.

use kcore_mem::{Addr, AddrRange};

use crate::{Allocator, Block, HeapHost, NativeHeap, Refused};

/// A heap of a process by its number, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HeapNumber(pub usize);

/// The heaps that were found in a process, in the order of their allocators.
#[derive(Default)]
pub struct Heaps {
    heaps: Vec<Box<dyn NativeHeap>>,
    refused: Vec<Refused>,
    /// The memory of all of them, lowest first, and whose it is.
    ranges: Vec<(AddrRange, HeapNumber)>,
}

impl Heaps {
    /// Looks for all of them.
    pub fn find(allocators: &[Allocator], host: &dyn HeapHost) -> Self {
        let mut heaps = Self::default();
        for found in allocators.iter().flat_map(|allocator| (allocator.detect)(host)) {
            match found {
                Ok(heap) => heaps.add(heap, host),
                Err(refused) => heaps.refused.push(refused),
            }
        }
        heaps.ranges.sort_unstable();
        heaps
    }

    fn add(&mut self, heap: Box<dyn NativeHeap>, host: &dyn HeapHost) {
        let number = HeapNumber(self.heaps.len());
        self.ranges.extend(heap.ranges(host).into_iter().map(|range| (range, number)));
        self.heaps.push(heap);
    }

    /// Whether none was found.
    pub fn is_empty(&self) -> bool {
        self.heaps.is_empty()
    }

    /// Those that can be read, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = (HeapNumber, &dyn NativeHeap)> {
        self.heaps.iter().enumerate().map(|(index, heap)| (HeapNumber(index), heap.as_ref()))
    }

    /// One of them.
    pub fn get(&self, number: HeapNumber) -> Option<&dyn NativeHeap> {
        self.heaps.get(number.0).map(AsRef::as_ref)
    }

    /// Those that cannot be read.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// The heaps whose memory holds `at`, the innermost first: an allocator may have its memory from another one.
    pub fn owners(&self, at: Addr) -> impl Iterator<Item = (HeapNumber, &dyn NativeHeap)> {
        let owners = self.ranges.iter().filter(move |(range, _)| range.contains(at)).rev();
        owners.filter_map(|(_, number)| Some((*number, self.get(*number)?)))
    }

    /// The block that holds `at`, and whose it is.
    pub fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<(HeapNumber, Block)> {
        self.owners(at).find_map(|(number, heap)| Some((number, heap.block_at(host, at)?)))
    }
}
