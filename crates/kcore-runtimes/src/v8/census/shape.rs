//! How far objects go, and which of their words may refer to others, by their maps.
//!
//! `HeapObject::SizeFromMap` in `src/objects/objects-inl.h`: a map says how large its objects are, or that
//! they say it themselves.

use super::super::{Heap, Layout, string::Representation};
use kcore_mem::Addr;

/// Bits of a Smi in its word.
const SMI: u32 = 32;
/// The length of a PropertyArray; above it is the identity hash of its object.
const PROPERTIES_MASK: u32 = 0x3ff;
/// Bits that no length has.
const LENGTH_MASK: u32 = 0x7fff_ffff;
/// The header of machine code since V8 12.4, and in it its Code and how long what follows is
/// (`InstructionStream::kBodySizeOffset`).
const STREAM: u64 = 32;
pub const CODE_OF_STREAM: u64 = 8;
const SIZE_OF_STREAM: u64 = 24;
/// Machine code is aligned to this, in V8 9 to half of it.
const CODE_ALIGNMENT: u64 = 64;

/// What a map says of its objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// How far an object goes.
    pub extent: Extent,
    /// Which of its words may refer to others.
    pub tagged: Tagging,
    /// Whether it is no object but what fills a gap.
    pub is_gap: bool,
}

/// How far an object goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Bytes.
    Fixed(u64),
    /// What the word behind the map counts: `(word >> shift) & mask` units behind a header.
    Counted {
        /// Where the count begins in the word.
        shift: u32,
        /// Its bits.
        mask: u32,
        /// Bytes before the units.
        header: u64,
        /// Bytes of a unit.
        unit: u64,
    },
    /// Bytes, and behind them references: both are counted.
    Preparse,
    /// Machine code.
    Instructions,
    /// To where the next object begins. Such objects never refer to maps.
    ToNext,
}

/// Which words of an object may refer to others, beside the first, which refers to its map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tagging {
    /// All of them.
    All,
    /// Those up to an offset in bytes: what follows is bytes.
    Below(u64),
    /// As all, but the word at this offset does not keep its object.
    WeakAt(u64),
}

/// Nothing but bytes behind the map.
const BYTES: Tagging = Tagging::Below(8);

impl Shape {
    /// Of the objects of a map: of their type, and of the size that it says, 0 if they say it.
    pub fn of(layout: &Layout, kind: u64, instance_size: u64) -> Self {
        let extent = match instance_size {
            0 => variable(layout, kind),
            size => Extent::Fixed(size),
        };
        Self { extent, tagged: tagging(layout, kind), is_gap: is_gap(layout, kind) }
    }

    /// The size of the object at `at` in bytes, whose second word is given; `None` where only the next
    /// object tells, or what tells it is damaged.
    pub fn size(&self, heap: &Heap<'_>, at: Addr, second: u64) -> Option<u64> {
        let bytes = match self.extent {
            Extent::Fixed(bytes) => bytes,
            Extent::Counted { shift, mask, header, unit } => {
                let count = second.checked_shr(shift)? & u64::from(mask);
                count.checked_mul(unit)?.checked_add(header)?
            }
            Extent::Preparse => {
                let bytes = (second & u64::from(u32::MAX)).checked_add(16)?;
                let children = second.checked_shr(SMI)?.checked_mul(8)?;
                bytes.checked_next_multiple_of(8)?.checked_add(children)?
            }
            Extent::Instructions => return instructions(heap, at),
            Extent::ToNext => return None,
        };
        bytes.checked_next_multiple_of(8)
    }
}

fn is_gap(layout: &Layout, kind: u64) -> bool {
    kind == layout.heap.filler() || kind == layout.heap.free_space()
}

const fn counted(header: u64, unit: u64) -> Extent {
    Extent::Counted { shift: SMI, mask: LENGTH_MASK, header, unit }
}

/// The extent of objects that say their size themselves.
fn variable(layout: &Layout, kind: u64) -> Extent {
    if kind < layout.types.first_nonstring {
        // Bit 3 of a string's type: its units are bytes.
        return counted(16, if kind & 8 == 0 { 2 } else { 1 });
    }
    bytes_extent(layout, kind).or_else(|| words_extent(layout, kind)).unwrap_or(Extent::ToNext)
}

/// The extent of what is mostly bytes.
fn bytes_extent(layout: &Layout, kind: u64) -> Option<Extent> {
    let types = &layout.types;
    Some(match kind {
        0 => return None,
        kind if kind == types.byte_array || kind == types.trusted_byte_array => counted(16, 1),
        kind if kind == types.fixed_double_array => counted(16, 8),
        kind if kind == types.bytecode_array => counted(layout.offsets.bytecode_data, 1),
        kind if kind == types.bigint() => {
            Extent::Counted { shift: 1, mask: LENGTH_MASK >> 1, header: 16, unit: 8 }
        }
        kind if kind == layout.heap.free_space_in_bytes => counted(0, 1),
        kind if kind == layout.heap.free_space() => counted(0, 8),
        kind if kind == layout.heap.preparse_data => Extent::Preparse,
        kind if kind == holder_of_instructions(layout) => Extent::Instructions,
        _ => return None,
    })
}

/// The extent of what is mostly references.
fn words_extent(layout: &Layout, kind: u64) -> Option<Extent> {
    let (types, heap) = (&layout.types, &layout.heap);
    let is_array = kind >= types.fixed_array && kind < types.byte_array;
    let is_context = (types.first_context..=types.last_context).contains(&kind);
    Some(match kind {
        0 => return None,
        // Behind its slots lies the queue of microtasks, a pointer.
        kind if kind == native_context(layout) => counted(24, 8),
        _ if is_array || is_context => counted(16, 8),
        kind if simple_arrays(layout).contains(&kind) => counted(16, 8),
        kind if kind == types.property_array => {
            Extent::Counted { shift: SMI, mask: PROPERTIES_MASK, header: 16, unit: 8 }
        }
        kind if kind == heap.feedback_vector => {
            let header = feedback_header(layout);
            Extent::Counted { shift: 0, mask: LENGTH_MASK, header, unit: 8 }
        }
        kind if [heap.descriptor_array, heap.strong_descriptor_array].contains(&kind) => {
            let header = layout.offsets.descriptors;
            Extent::Counted { shift: 0, mask: 0xffff, header, unit: 24 }
        }
        kind if [heap.weak_array_list, heap.array_list].contains(&kind) => counted(24, 8),
        kind if [heap.sloppy_elements, heap.object_boilerplate, heap.script_contexts]
            .contains(&kind) =>
        {
            counted(32, 8)
        }
        kind if kind == heap.regexp_match => counted(40, 8),
        _ => return None,
    })
}

/// Before the slots of feedback: V8 11 and 12 also keep the cell of the function around.
fn feedback_header(layout: &Layout) -> u64 {
    let column = layout.column;
    if column.is_since(11, 3) && !column.is_since(13, 6) { 56 } else { 48 }
}

/// Types of arrays that have a length and elements, and nothing else.
const fn simple_arrays(layout: &Layout) -> [u64; 9] {
    let heap = &layout.heap;
    [
        heap.weak_fixed_array,
        heap.transition_array(),
        heap.embedder_data_array,
        heap.closure_cells,
        heap.external_pointers,
        heap.trusted_array,
        heap.trusted_weak_array,
        heap.protected_array,
        heap.protected_weak_array,
    ]
}

/// The type of the contexts of global objects: the eighth of the types of contexts, which stand in the order of their names.
pub const fn native_context(layout: &Layout) -> u64 {
    layout.types.first_context.saturating_add(7)
}

/// The type of what holds machine code.
pub const fn holder_of_instructions(layout: &Layout) -> u64 {
    match layout.types.instruction_stream {
        0 => layout.types.code,
        stream => stream,
    }
}

/// The size of what holds machine code: a header, instructions, and what describes them, whose sizes the
/// Code has. `src/objects/code.h`, `instruction-stream.h`.
fn instructions(heap: &Heap<'_>, at: Addr) -> Option<u64> {
    let (layout, offsets) = (heap.layout, &heap.layout.offsets);
    let (header, body) = match layout.types.instruction_stream {
        0 => (offsets.code_start, body_by_code(heap, at)?),
        _ if layout.column.is_since(12, 4) => (STREAM, body_of_stream(heap, at)?),
        _ => (16, body_by_code(heap, heap.field(at, 8)?.at)?),
    };
    let alignment = if layout.column.is_since(10, 2) { CODE_ALIGNMENT } else { CODE_ALIGNMENT / 2 };
    body.checked_add(header)?.checked_next_multiple_of(alignment)
}

fn body_by_code(heap: &Heap<'_>, code: Addr) -> Option<u64> {
    let sizes = heap.layout.offsets.code_size;
    let (size, metadata) = (heap.uint(code, sizes, 4)?, heap.uint(code, sizes.checked_add(4)?, 4)?);
    size.checked_add(metadata)
}

/// While V8 makes machine code it has no Code yet, but says how long it is.
fn body_of_stream(heap: &Heap<'_>, at: Addr) -> Option<u64> {
    match heap.word(at, CODE_OF_STREAM)? {
        0 => heap.uint(at, SIZE_OF_STREAM, 4),
        _ => body_by_code(heap, heap.field(at, CODE_OF_STREAM)?.at),
    }
}

fn tagging(layout: &Layout, kind: u64) -> Tagging {
    let types = &layout.types;
    if kind < types.first_nonstring {
        return match Representation::of(kind) {
            Some(Representation::Sequential | Representation::External) | None => BYTES,
            Some(_) => Tagging::All,
        };
    }
    match kind {
        kind if is_gap(layout, kind) => BYTES,
        kind if is_bytes(layout, kind) => BYTES,
        kind if kind == types.bytecode_array => Tagging::Below(layout.offsets.bytecode_data & !7),
        kind if kind == holder_of_instructions(layout) => Tagging::Below(32),
        kind if kind == types.weak_ref => Tagging::WeakAt(24),
        kind if kind == layout.heap.weak_cell => Tagging::WeakAt(16),
        _ => Tagging::All,
    }
}

/// Whether objects of a type hold nothing but bytes. Before feedback stands what describes it.
fn is_bytes(layout: &Layout, kind: u64) -> bool {
    let types = &layout.types;
    kind == types.byte_array
        || kind == types.fixed_double_array
        || kind == types.heap_number
        || kind == types.bigint()
        || kind == layout.heap.feedback_vector.saturating_sub(1)
        || (kind == types.trusted_byte_array && kind != 0)
}
