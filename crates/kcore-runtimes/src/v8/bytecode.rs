//! Bytecode: where in it interpreted and baseline code is, and where that is in the source.

use super::{
    Heap,
    heap::Object,
    positions::{Integers, Position},
};

/// Bytes of a table of offsets that are read, at most.
const MAX_TABLE: u64 = 16 << 20;

/// How many bytes each bytecode is long: `Bytecodes::kBytecodeSizes`, a row for each scale of operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytecodeSizes {
    rows: [Vec<u8>; 3],
}

impl BytecodeSizes {
    /// Their symbol, `src/interpreter/bytecodes.cc`.
    pub const SYMBOL: &'static str = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";

    /// The sizes in a table of three rows.
    pub fn parse(table: &[u8]) -> Option<Self> {
        let width = table.len().checked_div(3).filter(|width| (1..=256).contains(width))?;
        let mut rows = table.chunks_exact(width).map(<[u8]>::to_vec);
        Some(Self { rows: [rows.next()?, rows.next()?, rows.next()?] })
    }

    /// The length of the bytecode that `code` begins with, and of the prefix before it.
    pub fn length(&self, code: &[u8]) -> Option<usize> {
        let first = *code.first()?;
        // Wide and ExtraWide, and the same where a debugger stops.
        let (row, prefix) = match first {
            0 | 2 => (self.rows.get(1)?, 1),
            1 | 3 => (self.rows.get(2)?, 1),
            _ => (self.rows.first()?, 0),
        };
        let size = *row.get(usize::from(*code.get(prefix)?))?;
        usize::from(size).checked_add(prefix).filter(|length| *length > prefix)
    }
}

impl Heap<'_> {
    /// The position in the source of an offset in bytecode.
    pub fn bytecode_position(&self, bytecode: Object, offset: u64) -> Option<Position> {
        let table = self.field(bytecode.at, self.layout.offsets.bytecode_positions)?;
        self.position_at(table, offset)
    }

    /// The offset in bytecode that a frame of the interpreter, or a generator, holds: from the tagged
    /// address of the array.
    pub fn bytecode_offset(&self, held: i32) -> Option<u64> {
        let first = self.layout.offsets.bytecode_data.checked_sub(1)?;
        u64::try_from(held).ok()?.checked_sub(first)
    }

    /// The offset in bytecode of the instruction that is `offset` bytes into baseline code, whose
    /// table of offsets is given: the length of the prologue, and then of each bytecode's code.
    /// `None` in the prologue. `src/baseline/bytecode-offset-iterator.h`
    pub fn baseline_offset(
        &self,
        bytecode: Object,
        table: Object,
        sizes: &BytecodeSizes,
        offset: u64,
    ) -> Option<u64> {
        let code = self.bytecodes(bytecode)?;
        let steps = self.bytes(table, MAX_TABLE)?;
        let mut steps = Integers(&steps);
        let mut end = steps.next().filter(|end| offset > *end)?;
        let mut at = 0_usize;
        for step in steps {
            end = end.checked_add(step)?;
            if offset <= end {
                return Some(at as u64);
            }
            at = at.checked_add(sizes.length(code.get(at..)?)?)?;
        }
        None
    }

    fn bytecodes(&self, bytecode: Object) -> Option<Vec<u8>> {
        let first = bytecode.at.checked_add(self.layout.offsets.bytecode_data)?;
        let length = self.length(bytecode)?.min(MAX_TABLE);
        Some(self.space.read_held(first, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_chooses_the_row() {
        let sizes = BytecodeSizes::parse(&[1, 1, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1, 1, 1, 5]).unwrap();
        assert_eq!(sizes.length(&[4, 9]), Some(2));
        assert_eq!(sizes.length(&[0, 4, 9, 9]), Some(4));
        assert_eq!(sizes.length(&[3, 4]), Some(6), "as long as it says, not as is there");
        assert_eq!(sizes.length(&[0]), None);
        assert_eq!(sizes.length(&[5]), None, "no such bytecode");
    }

    #[test]
    fn a_table_without_three_rows_is_none() {
        assert_eq!(BytecodeSizes::parse(&[]), None);
        assert_eq!(BytecodeSizes::parse(&[1; 3 * 257]), None);
    }
}
