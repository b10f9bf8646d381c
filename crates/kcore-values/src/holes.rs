//! Holes in structures: bytes and bits between members that belong to none.

use std::ops::Range;

use kcore_mem::Addr;
use kcore_symbols::{BaseType, BitField, Encoding, Keyword, Type, TypeKind, TypeNode};

use crate::{Content, Field, Limits, Object, ObjectPlace, Process, Value};

/// What stands for the name of a hole.
const NAME: &str = "<<HOLE>>";
/// Bits of the longest hole that is shown as one; a longer one is split where words begin.
const WORD: u64 = 64;

impl Value {
    /// Adds to each structure in it a member for each hole: an integer of the hole's size. Without
    /// `process` nothing is read of them.
    #[must_use]
    pub fn with_holes(mut self, process: Option<&dyn Process>) -> Self {
        fill(&mut self, process);
        self
    }
}

fn fill(value: &mut Value, process: Option<&dyn Process>) {
    match &mut value.content {
        Content::Fields(fields) => {
            fields.iter_mut().for_each(|field| fill(&mut field.value, process));
        }
        Content::Elements(elements) => {
            elements.values.iter_mut().for_each(|value| fill(value, process));
        }
        _ => return,
    }
    let Some((base, size)) = structure(value) else { return };
    if let Content::Fields(fields) = &mut value.content {
        *fields = filled(std::mem::take(fields), base, size, process);
    }
}

/// Where a structure lies and how many bits it has; `None` for a union, whose members lie all at one
/// place, and for what is not read from memory.
fn structure(value: &Value) -> Option<(Addr, u64)> {
    let ty = value.ty.stripped().ok()?;
    let is_union = ty.composite()?.keyword == Keyword::Union;
    let size = ty.size()?.checked_mul(8)?;
    value.at.filter(|_| !is_union).map(|at| (at, size))
}

fn filled(fields: Vec<Field>, base: Addr, size: u64, process: Option<&dyn Process>) -> Vec<Field> {
    let mut all = Vec::with_capacity(fields.len());
    let mut end = 0;
    for field in fields {
        if let Some(place) = place(&field.value, base) {
            all.extend(holes(end..place.start, base, process));
            end = end.max(place.end);
        }
        all.push(field);
    }
    all.extend(holes(end..size, base, process));
    all
}

/// The bits that a member takes, counted from the beginning of its structure.
fn place(value: &Value, base: Addr) -> Option<Range<u64>> {
    let start = value.at?.offset_from(base)?.checked_mul(8)?;
    let bits = match value.bits {
        Some(bits) => bits,
        // A flexible array takes no room of its structure.
        None => BitField { offset: 0, size: value.ty.size().unwrap_or(0).checked_mul(8)? },
    };
    let start = start.checked_add(bits.offset)?;
    Some(start..start.checked_add(bits.size)?)
}

/// A range of bits as integers, none of which crosses into another word.
fn holes(
    range: Range<u64>,
    base: Addr,
    process: Option<&dyn Process>,
) -> impl Iterator<Item = Field> {
    let is_short = range.end.saturating_sub(range.start) <= WORD;
    let mut start = range.start;
    // A structure may claim to be larger than anybody could look at.
    let pieces = std::iter::from_fn(move || {
        let next_word = start.checked_add(1)?.checked_next_multiple_of(WORD)?;
        let end = if is_short { range.end } else { next_word.min(range.end) };
        let piece = (start < end).then_some(start..end);
        start = end;
        piece
    });
    pieces.take(1 << 10).map(move |piece| hole(&piece, base, process))
}

fn hole(range: &Range<u64>, base: Addr, process: Option<&dyn Process>) -> Field {
    let size = range.end.saturating_sub(range.start);
    let is_integer = range.start.is_multiple_of(8) && matches!(size, 8 | 16 | 32 | 64);
    let at = Addr::new(base.get().wrapping_add(range.start / 8));
    let (ty, place) = match is_integer {
        true => (unsigned(&format!("uint{size}_t"), size / 8), ObjectPlace::Memory(at)),
        false => {
            let bits = BitField { offset: range.start % 8, size };
            (unsigned("unsigned", 4), ObjectPlace::Bits(at, bits))
        }
    };
    let object = Object { ty, place };
    let value = match process {
        Some(process) => object.value(process, &Limits::default()),
        None => Value {
            ty: object.ty.clone(),
            at: object.address(),
            bits: object.place.bits(),
            content: Content::Elided,
        },
    };
    Field { name: Some(NAME.into()), is_base: false, value }
}

fn unsigned(name: &str, size: u64) -> Type {
    Type::made(TypeNode {
        id: None,
        name: Some(name.into()),
        size: Some(size),
        is_declaration: false,
        kind: TypeKind::Base(BaseType { encoding: Encoding::Unsigned, bits: None, swapped: false }),
    })
}
