//! A process whose memory is made of words, with a heap of glibc in it.

use kcore_mem::{Addr, AddrRange, AddressSpace, Fault, Origin, Region, Target};
use kcore_unwind::Tid;

use super::super::layout::{ArenaLayout, BINS, NEXT, ParLayout, TcacheLayout};
use crate::{HeapHost, HeapMapping, HeapModule};

/// Where the data of the C library lies.
pub const DATA: u64 = 0x10_0000;
/// `mp_` in it.
pub const PAR: u64 = DATA + 0x100;
/// `main_arena` in it.
pub const ARENA: u64 = DATA + 0x400;
/// What `brk` grows.
pub const HEAP: u64 = 0x20_0000;
/// Memory that was mapped.
pub const MAPPED: u64 = 0x40_0000;
/// The thread pointer.
pub const POINTER: u64 = 0x30_0800;
/// Bytes that the arena had from the system.
pub const SYSTEM: u64 = 0x2_1000;

/// The versions that a heap is made of.
#[derive(Clone, Copy)]
pub struct Versions {
    pub arena: &'static ArenaLayout,
    pub par: &'static ParLayout,
    pub tcache: Option<&'static TcacheLayout>,
    pub protected: bool,
}

/// The process.
pub struct Made {
    parts: Vec<(u64, Vec<u8>)>,
    mappings: Vec<HeapMapping>,
    library: Library,
    pub versions: Versions,
    /// Where the next chunk begins.
    pub next: u64,
}

impl Made {
    /// With an arena of empty bins, and with a thread's cache where the version has one.
    pub fn new(versions: Versions) -> Self {
        let sizes = [(DATA, 0x1000), (HEAP, SYSTEM), (POINTER - 0x800, 0x1000), (MAPPED, 0x8000)];
        let parts = sizes.map(|(at, size)| (at, vec![0; size as usize])).to_vec();
        let mapping = |(at, size): (u64, u64)| HeapMapping {
            range: AddrRange::with_len(Addr::new(at), size),
            readable: true,
            writable: true,
            is_file: at == DATA,
            is_brk: at == HEAP,
        };
        let mut mappings: Vec<HeapMapping> = sizes.into_iter().map(mapping).collect();
        mappings.sort_by_key(|mapping| mapping.range.start);
        let library = Library(AddrRange::with_len(Addr::new(DATA), 0x1000));
        let mut made = Self { parts, mappings, library, versions, next: HEAP };
        made.put_arena();
        made.put_par(0, 0);
        made.put_cache();
        made
    }

    /// Writes a word.
    pub fn put(&mut self, at: u64, value: u64) {
        self.put_bytes(at, &value.to_le_bytes());
    }

    /// Writes bytes.
    pub fn put_bytes(&mut self, at: u64, value: &[u8]) {
        let (start, bytes) = self
            .parts
            .iter_mut()
            .find(|(start, bytes)| at >= *start && at < *start + bytes.len() as u64)
            .expect("memory");
        let offset = (at - *start) as usize;
        bytes[offset..offset + value.len()].copy_from_slice(value);
    }

    fn put_arena(&mut self) {
        let layout = self.versions.arena;
        let bins = ARENA + layout.bins;
        for bin in 0..BINS {
            let header = bins + bin * 16 - 16;
            self.put(bins + bin * 16, header);
            self.put(bins + bin * 16 + 8, header);
        }
        self.put(bins + NEXT, ARENA);
        if let Some(attached) = layout.attached {
            self.put(ARENA + attached, 1);
        }
        self.put(ARENA + layout.system_mem, SYSTEM);
        self.put(ARENA + layout.system_mem + 8, SYSTEM);
    }

    /// `mp_`, with so many mmapped chunks.
    pub fn put_par(&mut self, mmaps: u32, bytes: u64) {
        let layout = self.versions.par;
        for (offset, value) in [(0, 0x2_0000), (8, 0x2_0000), (16, 0x2_0000), (24, 8)] {
            self.put(PAR + offset, value);
        }
        for (index, value) in (0_u64..).zip([mmaps, 65536, mmaps, 0]) {
            self.put_bytes(PAR + layout.n_mmaps + index * 4, &value.to_le_bytes());
        }
        self.put(PAR + layout.mmapped_mem, bytes);
        self.put(PAR + layout.mmapped_mem + 8, bytes);
        self.put(PAR + layout.sbrk_base, HEAP);
        if let Some(tcache) = layout.tcache {
            for (offset, value) in [(0, 64), (8, 1032), (16, 7), (24, 0)] {
                self.put(PAR + tcache + offset, value);
            }
        }
    }

    fn put_cache(&mut self) {
        let Some(layout) = self.versions.tcache else { return };
        let chunk = self.chunk(layout.chunk);
        self.put(POINTER - 0x48, chunk + 16);
        self.put(POINTER - 0x38, ARENA);
        if layout.counts_down {
            (0..layout.bins).for_each(|bin| self.put_count(layout, bin, 0));
        }
    }

    fn put_count(&mut self, layout: &TcacheLayout, bin: u64, count: u64) {
        let value = if layout.counts_down { 7 - count } else { count };
        let bytes = value.to_le_bytes();
        let at = HEAP + 16 + bin * layout.count_size;
        self.put_bytes(at, &bytes[..layout.count_size as usize]);
    }

    /// A chunk in use behind the last one.
    pub fn chunk(&mut self, size: u64) -> u64 {
        let at = self.next;
        self.put(at + 8, size | 1);
        self.next = at + size;
        self.top();
        at
    }

    /// `top` behind the last chunk.
    fn top(&mut self) {
        let next = self.next;
        self.put(next + 8, (HEAP + SYSTEM - next) | 1);
        self.put(ARENA + self.versions.arena.bins - 16, next);
    }

    /// Stores a link of a one-way list.
    pub fn link(&mut self, at: u64, to: u64) {
        let mask = if self.versions.protected { at >> 12 } else { 0 };
        self.put(at, to ^ mask);
    }

    /// Puts chunks of one size into the thread's cache, the first one first.
    pub fn cache(&mut self, chunks: &[u64], size: u64) {
        let layout = self.versions.tcache.expect("a cache");
        let bin = (size - 32) / 16;
        self.put_count(layout, bin, chunks.len() as u64);
        self.put(HEAP + 16 + layout.entries + bin * 8, chunks[0] + 16);
        for (index, chunk) in chunks.iter().enumerate() {
            let next = chunks.get(index + 1).map_or(0, |next| next + 16);
            self.link(chunk + 16, next);
        }
    }

    /// Puts chunks of one size into a fast bin.
    pub fn fast(&mut self, chunks: &[u64], size: u64) {
        self.put(ARENA + self.versions.arena.fastbins + (size - 32) / 16 * 8, chunks[0]);
        for (index, chunk) in chunks.iter().enumerate() {
            self.link(chunk + 16, chunks.get(index + 1).copied().unwrap_or(0));
        }
    }

    /// Frees a chunk of a size into the unsorted bin, which is empty.
    pub fn free(&mut self, chunk: u64, size: u64) {
        let bin = ARENA + self.versions.arena.bins;
        self.put(bin, chunk);
        self.put(bin + 8, chunk);
        self.put(chunk + 16, bin - 16);
        self.put(chunk + 24, bin - 16);
        self.put(chunk + size, size);
        let behind = self.space().read_word(Addr::new(chunk + size + 8)).expect("a chunk");
        self.put(chunk + size + 8, behind & !1);
    }
}

impl AddressSpace for Made {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let part = self.parts.iter().find_map(|(start, bytes)| {
            let into = usize::try_from(at.get().checked_sub(*start)?).ok()?;
            bytes.get(into..).filter(|left| !left.is_empty())
        });
        part.ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        let range = |mapping: &HeapMapping| Region { range: mapping.range, origin: Origin::Core };
        self.mappings.iter().map(range).collect()
    }
}

impl HeapHost for Made {
    fn space(&self) -> &dyn AddressSpace {
        self
    }

    fn modules(&self) -> Vec<&dyn HeapModule> {
        vec![&self.library]
    }

    fn mappings(&self) -> &[HeapMapping] {
        &self.mappings
    }

    fn threads(&self) -> Vec<Tid> {
        vec![Tid::new(1)]
    }

    fn thread_pointer(&self, _: Tid) -> Option<Addr> {
        Some(Addr::new(POINTER))
    }
}

struct Library(AddrRange);

impl HeapModule for Library {
    fn name(&self) -> &str {
        "libc.so.6"
    }

    fn span(&self) -> AddrRange {
        self.0
    }

    fn data(&self) -> Vec<AddrRange> {
        vec![self.0]
    }

    fn constants(&self) -> Vec<AddrRange> {
        Vec::new()
    }

    fn exported(&self, _: &str) -> Option<(Addr, u64)> {
        None
    }

    fn symbol(&self, _: &str) -> Option<(Addr, u64)> {
        None
    }
}
