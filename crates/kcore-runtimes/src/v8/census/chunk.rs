//! Chunks: the pieces of memory that a heap consists of.
//!
//! `src/heap/memory-chunk.h` and, since V8 13, `memory-chunk-metadata.h`: a chunk begins at a multiple of its
//! usual size with what describes it, or with a pointer to that.

use kcore_mem::{Addr, AddrRange};

use super::{
    super::{Heap, Layout},
    listed,
};

/// Chunks are this long, and those of one large object longer.
pub const CHUNK: u64 = 1 << 18;
/// No chunk is longer: a process cannot have so much memory.
const MAX_CHUNK: u64 = 1 << 40;
/// Objects begin within so many bytes: behind what describes the chunk, and a page that guards code.
const MAX_HEADER: u64 = 0x6000;
/// Memory is had in multiples of this.
const PAGE: u64 = 0x1000;

/// Flags, `MemoryChunk::Flag`: objects of the young generation are copied from such a chunk.
const FROM: u64 = 1 << 3;
/// Objects of the young generation lie in such a chunk.
const TO: u64 = 1 << 4;

/// What holds objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// Where it begins.
    pub base: Addr,
    /// Where its objects lie.
    pub area: AddrRange,
    /// The C++ object of the heap that it is of; 0 where isolates share it.
    pub heap: Addr,
    /// What it is for.
    pub use_: Use,
}

/// What a chunk is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Objects of the young generation.
    New,
    /// What they were copied from, or what V8 keeps to make another chunk of: it holds nothing.
    Empty,
    /// All others.
    Old,
    /// One large object; what it was made shorter by may lie behind it.
    Large,
    /// Its beginning is damaged, but objects lie in it.
    Damaged,
}

/// Where what describes a chunk lies, in bytes from it or from the chunk.
struct Fields {
    size: u64,
    heap: u64,
    start: u64,
    end: u64,
    space: u64,
}

const UP_TO_11: Fields = Fields { size: 0, heap: 16, start: 24, end: 32, space: 64 };
const SINCE_12: Fields = Fields { size: 16, heap: 24, start: 32, end: 40, space: 72 };
const SINCE_13: Fields = Fields { size: 48, heap: 64, start: 72, end: 56, space: 80 };

/// `BaseSpace`, `src/heap/base-space.h`: its heap.
const HEAP_OF_SPACE: u64 = 8;

impl Chunk {
    /// The chunk that begins at `base`, if one does.
    pub fn load(heap: &Heap<'_>, base: Addr) -> Option<Self> {
        let (fields, holder, flags) = description(heap, base)?;
        let word = |offset| heap.word(holder, offset);
        let area = AddrRange::new(Addr::new(word(fields.start)?), Addr::new(word(fields.end)?));
        let size = word(fields.size)?;
        let owner = Addr::new(word(fields.heap)?);
        let header = area.start.offset_from(base)?;
        let is_one = (CHUNK >> 6..=MAX_CHUNK).contains(&size)
            && size.is_multiple_of(PAGE)
            && (1..=MAX_HEADER).contains(&header)
            && area.start <= area.end
            && area.end <= base.checked_add(size)?.checked_add(PAGE)?
            && [area.start, area.end, owner].iter().all(|at| at.get().is_multiple_of(8));
        let space = Addr::new(word(fields.space)?);
        (is_one && is_of_space(heap, space, owner)).then_some(())?;
        let use_ = match listed::is_listed(heap, holder, space) {
            true => Use::of(flags, size, area),
            false => Use::Empty,
        };
        Some(Self { base, area, heap: owner, use_ })
    }

    /// A chunk whose beginning tells nothing.
    pub fn damaged(held: AddrRange) -> Self {
        Self { base: held.start, area: held, heap: Addr::new(0), use_: Use::Damaged }
    }

    /// Where it ends, and another may begin.
    pub fn end(&self) -> Addr {
        self.area.end.max(self.base.saturating_add(1))
    }
}

impl Use {
    /// The area of a chunk of one large object ends with the object, of others with a page. Only chunks of the
    /// old generation are made smaller.
    const fn of(flags: u64, size: u64, area: AddrRange) -> Self {
        match flags & (FROM | TO) {
            FROM => Self::Empty,
            _ if size > CHUNK || !area.end.get().is_multiple_of(PAGE) => Self::Large,
            TO if size < CHUNK => Self::Large,
            0 => Self::Old,
            _ => Self::New,
        }
    }
}

/// Whether the space that a chunk is said to be of is one of its heap, as far as that was dumped. What isolates
/// share is of none.
fn is_of_space(heap: &Heap<'_>, space: Addr, owner: Addr) -> bool {
    space.get() == 0 || heap.word(space, HEAP_OF_SPACE).is_none_or(|known| known == owner.get())
}

/// What describes the chunk at `base`: its fields, where they are, and its flags.
fn description(heap: &Heap<'_>, base: Addr) -> Option<(Fields, Addr, u64)> {
    if has_metadata(heap.layout) {
        let metadata = Addr::new(heap.word(base, 8)?);
        metadata.get().is_multiple_of(8).then_some(())?;
        return Some((SINCE_13, metadata, heap.word(base, 0)?));
    }
    if heap.layout.column.is_since(12, 4) {
        return Some((SINCE_12, base, heap.word(base, 0)?));
    }
    Some((UP_TO_11, base, heap.word(base, 8)?))
}

/// The chunk that is described at `holder`, if one is.
pub fn described_at(heap: &Heap<'_>, holder: Addr) -> Option<Addr> {
    let base = match has_metadata(heap.layout) {
        true => Addr::new(heap.word(holder, 8)?),
        false => holder,
    };
    let is_base = base.get() != 0 && base.get().is_multiple_of(CHUNK);
    is_base.then_some(())?;
    description(heap, base).filter(|(_, known, _)| *known == holder).map(|_| base)
}

/// Whether what describes a chunk lies elsewhere: since V8 13.
fn has_metadata(layout: &Layout) -> bool {
    layout.column.is_since(13, 6)
}
