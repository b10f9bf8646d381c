//! Which words of an object are pointers, by what the collector knows (`runtime/mbitmap.go`).

use kcore_mem::{Addr, AddressSpace};

use super::{
    Heap,
    layout::Masks,
    span::{INLINE_MARKS, SMALL, Span},
};

/// Bytes of an arena (`runtime/malloc.go`).
const ARENA_BITS: u32 = 26;
const ARENA: u64 = 1 << ARENA_BITS;
/// The table of the arena's words without pointers behind them, after its bits.
const NO_MORE: u64 = ARENA / 64;
/// Bytes of the word for the type in front of an object.
pub const HEADER: u64 = 8;

/// What the collector knows of the words of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerWords {
    /// None is a pointer.
    Plain,
    /// The mask of a small object.
    Mask(u64),
    /// A table of its arena, see [`Masks::ArenaPairs`].
    Pairs(Addr),
    /// Another, see [`Masks::ArenaBits`].
    Bits(Addr),
    /// It has this type, and so have those behind it up to the end of the slot.
    Typed(Addr),
    /// Nothing: any word may be a pointer.
    Nothing,
}

impl PointerWords {
    /// Whether the word number `index` of the object at `at` may be a pointer.
    pub fn has(self, space: &dyn AddressSpace, at: Addr, index: u64) -> bool {
        let word = || at.checked_add(index.checked_mul(8)?);
        match self {
            Self::Plain => false,
            Self::Mask(mask) => index < 64 && mask.wrapping_shr(index as u32) & 1 != 0,
            Self::Pairs(table) => word().is_some_and(|at| is_set(space, table, at, 4)),
            Self::Bits(table) => word().is_some_and(|at| is_set(space, table, at, 8)),
            Self::Typed(_) | Self::Nothing => true,
        }
    }

    /// Whether no word from number `index` on is a pointer.
    pub fn ends_before(self, space: &dyn AddressSpace, at: Addr, index: u64) -> bool {
        let Some(word) = index.checked_mul(8).and_then(|offset| at.checked_add(offset)) else {
            return true;
        };
        match self {
            Self::Plain => true,
            Self::Mask(mask) => index >= 64 || mask.wrapping_shr(index as u32) == 0,
            Self::Pairs(table) => !has_more(space, table, word).unwrap_or_default(),
            Self::Bits(table) => index > 0 && ended(space, table, word).unwrap_or_default(),
            Self::Typed(_) | Self::Nothing => false,
        }
    }
}

/// The number of a word in its arena.
const fn word_in_arena(at: Addr) -> u64 {
    (at.get() & (ARENA - 1)) / 8
}

/// The bit of a word in a table that has those of so many words in a byte, from its lowest bits on.
fn is_set(space: &dyn AddressSpace, table: Addr, at: Addr, words: u64) -> bool {
    let number = word_in_arena(at);
    let byte = number.checked_div(words).and_then(|byte| table.checked_add(byte));
    let byte = byte.and_then(|at| space.read_uint(at, 1).ok());
    byte.is_some_and(|byte| byte >> (number & words.saturating_sub(1)) & 1 != 0)
}

/// Whether there may be pointers from a word on: the bit is in the upper half of a byte.
fn has_more(space: &dyn AddressSpace, table: Addr, at: Addr) -> Option<bool> {
    let number = word_in_arena(at);
    let byte = space.read_uint(table.checked_add(number / 4)?, 1).ok()?;
    Some(byte >> (number % 4).saturating_add(4) & 1 != 0)
}

/// Whether the word begins 64 of the arena, and those before it were the last ones with pointers.
fn ended(space: &dyn AddressSpace, table: Addr, at: Addr) -> Option<bool> {
    let number = word_in_arena(at);
    number.is_multiple_of(64).then_some(())?;
    let before = (number / 64).checked_sub(1)?;
    let byte = table.checked_add(NO_MORE)?.checked_add(before / 8)?;
    Some(space.read_uint(byte, 1).ok()? >> (before % 8) & 1 != 0)
}

impl Heap {
    /// Bytes in front of the objects of a span.
    pub(super) fn header(&self, span: &Span) -> u64 {
        let has_one = matches!(self.layout.masks, Masks::Span | Masks::SpanWithMarks)
            && !span.is_plain
            && span.class != 0
            && span.slot > SMALL;
        if has_one { HEADER } else { 0 }
    }

    /// What the collector knows of the words of the object of a slot, behind its header.
    pub(super) fn known(&self, space: &dyn AddressSpace, span: &Span, index: u32) -> PointerWords {
        if span.is_plain {
            return PointerWords::Plain;
        }
        let at = span.slot_at(index);
        let known = match self.layout.masks {
            Masks::ArenaPairs(arenas) => self.arena(space, arenas, at).map(PointerWords::Pairs),
            Masks::ArenaBits(arenas) => self.arena(space, arenas, at).map(PointerWords::Bits),
            _ if span.class == 0 => span.large_type.map(PointerWords::Typed),
            _ if span.slot > SMALL => header_type(space, at).map(PointerWords::Typed),
            Masks::Span => small_mask(space, span, index, 0).map(PointerWords::Mask),
            Masks::SpanWithMarks => {
                let marks = if span.slot >= 16 { INLINE_MARKS } else { 0 };
                small_mask(space, span, index, marks).map(PointerWords::Mask)
            }
        };
        known.unwrap_or(PointerWords::Nothing)
    }

    fn arena(&self, space: &dyn AddressSpace, arenas: u64, at: Addr) -> Option<Addr> {
        let table = self.at.checked_add(self.layout.all_spans)?.checked_add(arenas)?;
        let table = space.read_addr(table).ok()?;
        let number = at.get().wrapping_sub(self.abi.arenas_start) >> ARENA_BITS;
        let arena = space.read_addr(table.checked_add(number.checked_mul(8)?)?).ok()?;
        (arena.get() != 0).then_some(arena)
    }
}

fn header_type(space: &dyn AddressSpace, at: Addr) -> Option<Addr> {
    space.read_addr(at).ok().filter(|ty| ty.get() != 0)
}

/// The mask of a small object: a bit for each word of its span lies at the end of that, before its marks.
fn small_mask(space: &dyn AddressSpace, span: &Span, index: u32, marks: u64) -> Option<u64> {
    let table = span.pages.end.get().checked_sub(span.pages.len() / 64)?.checked_sub(marks)?;
    let first = u64::from(index).checked_mul(span.slot / 8)?;
    let words = span.slot / 8;
    let mut mask = 0_u64;
    let byte = |number: u64| space.read_uint(Addr::new(table.checked_add(number)?), 1).ok();
    for number in first / 8..=first.checked_add(words)?.saturating_sub(1) / 8 {
        let bits = byte(number)?;
        let shift = number.checked_mul(8)?.cast_signed().checked_sub(first.cast_signed())?;
        mask |= match u32::try_from(shift) {
            Ok(left) if left < 64 => bits << left,
            Ok(_) => 0,
            Err(_) => bits.wrapping_shr(u32::try_from(shift.unsigned_abs()).ok()?),
        };
    }
    let kept = if words >= 64 { u64::MAX } else { (1_u64 << words).wrapping_sub(1) };
    Some(mask & kept)
}
