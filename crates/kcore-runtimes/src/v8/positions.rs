//! Tables of source positions.
//!
//! `src/codegen/source-position-table.cc`: pairs of variable-length integers, the step in code and the
//! step in the source since the entry before.

use super::{Heap, heap::Object, layout::PositionCoding};

/// Bytes of a table that are read, at most.
const MAX_TABLE: u64 = 16 << 20;

/// A place in source text, `src/codegen/source-position.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position(pub u64);

impl Position {
    /// The offset in the script, in UTF-16 units; `None` where there is none.
    pub const fn script_offset(self) -> Option<u64> {
        ((self.0 >> 1) & 0x3fff_ffff).checked_sub(1)
    }

    /// Which inlining it comes from, counted from 0; `None` for the function itself.
    pub const fn inlining(self) -> Option<u64> {
        ((self.0 >> 31) & 0xffff).checked_sub(1)
    }
}

/// The unsigned integers of variable length that bytes hold: seven bits a byte, the lowest first.
pub struct Integers<'a>(pub &'a [u8]);

impl Iterator for Integers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut value: u64 = 0;
        for shift in (0..64_u32).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or_default();
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

const fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ (value & 1).wrapping_neg() as i64
}

impl Heap<'_> {
    /// The position that a table has for an offset in code: that of the last entry which is not
    /// behind it. `None` where no entry is before it, or there is no table.
    pub fn position_at(&self, table: Object, offset: u64) -> Option<Position> {
        self.is_byte_array(table).then_some(())?;
        position_in(self, &self.bytes(table, MAX_TABLE)?, offset)
    }

    /// The step in code of an entry, and whether its position is whole.
    fn code_step(&self, coded: u64) -> (i64, bool) {
        let unsigned = |flags: u32| {
            i64::try_from(coded.checked_shr(flags).unwrap_or_default()).unwrap_or(i64::MAX)
        };
        match self.layout.position_coding() {
            PositionCoding::ThreeFlags => (unsigned(3), coded & 4 != 0),
            PositionCoding::TwoFlags => (unsigned(2), false),
            PositionCoding::Sign => {
                let step = zigzag(coded);
                (if step < 0 { !step } else { step }, false)
            }
        }
    }
}

/// The position that the bytes of a table have for an offset in code.
pub fn position_in(heap: &Heap<'_>, table: &[u8], offset: u64) -> Option<Position> {
    let mut integers = Integers(table);
    let (mut code, mut position): (i64, i64) = (-1, 0);
    let mut found = None;
    while let (Some(step), Some(moved)) = (integers.next(), integers.next()) {
        let (step, is_whole) = heap.code_step(step);
        code = code.checked_add(step)?;
        if code > i64::try_from(offset).ok()? {
            break;
        }
        position = if is_whole { zigzag(moved) } else { position.checked_add(zigzag(moved))? };
        found = Some(Position(position.cast_unsigned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_end_with_their_bytes() {
        let values: Vec<u64> = Integers(&[0x05, 0x80, 0x01, 0xff, 0x7f, 0x80]).collect();
        assert_eq!(values, [5, 128, 16383]);
        assert_eq!(Integers(&[0xff; 40]).count(), 0, "no integer has more than ten bytes");
    }

    #[test]
    fn signs_alternate() {
        assert_eq!([0, 1, 2, 3].map(zigzag), [0, -1, 1, -2]);
    }

    #[test]
    fn a_position_has_an_offset_and_an_inlining() {
        let position = Position((3 << 31) | (12 << 1));
        assert_eq!((position.script_offset(), position.inlining()), (Some(11), Some(2)));
        assert_eq!(Position(0).script_offset(), None);
    }
}
