//! Line tables: which line an instruction is of.
//!
//! Three formats: `Objects/lnotab_notes.txt` to 3.9, PEP 626 in 3.10, PEP 657 (`Objects/locations.md`) since
//! 3.11. Offsets are in bytes.

/// The line of the instruction at `offset`; `None` where it has none, or the table does not go so far.
pub fn line_of(minor: u8, table: &[u8], first: i64, offset: i64) -> Option<u32> {
    let line = match minor {
        ..=9 => old(table, first, offset),
        10 => ranges(table, first, offset),
        _ => locations(table, first, offset),
    }?;
    u32::try_from(line).ok().filter(|line| *line > 0)
}

/// Pairs of how far the offset and the line go on.
fn old(table: &[u8], first: i64, offset: i64) -> Option<i64> {
    let (mut at, mut line) = (0_i64, first);
    for [bytes, lines] in table.as_chunks::<2>().0 {
        at = at.saturating_add(i64::from(*bytes));
        if at > offset {
            break;
        }
        line = line.saturating_add(i64::from(lines.cast_signed()));
    }
    Some(line)
}

/// Pairs of how long a range is, and its line relative to that of the last one; -128 is none.
fn ranges(table: &[u8], first: i64, offset: i64) -> Option<i64> {
    const NONE: i8 = -128;
    let (mut end, mut line) = (0_i64, first);
    for [bytes, lines] in table.as_chunks::<2>().0 {
        let lines = lines.cast_signed();
        end = end.saturating_add(i64::from(*bytes));
        if lines != NONE {
            line = line.saturating_add(i64::from(lines));
        }
        if offset < end {
            return (lines != NONE).then_some(line);
        }
    }
    None
}

/// Entries that begin with a byte whose highest bit is set: a kind, and how many instructions it is of.
fn locations(table: &[u8], first: i64, offset: i64) -> Option<i64> {
    let mut reader = Reader { bytes: table };
    let (mut end, mut line) = (0_i64, first);
    while let Some(head) = reader.byte() {
        let kind = head >> 3 & 15;
        let units = i64::from(head & 7).saturating_add(1);
        let has_line = kind != 15;
        line = line.saturating_add(reader.lines(kind)?);
        end = end.saturating_add(units.saturating_mul(2));
        if offset < end {
            return has_line.then_some(line);
        }
    }
    None
}

/// Reads entries.
struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    /// Reads the rest of an entry; gives by how much the line goes on.
    fn lines(&mut self, kind: u8) -> Option<i64> {
        match kind {
            0..=9 => self.byte().map(|_| 0),
            10..=12 => {
                self.byte()?;
                self.byte()?;
                Some(i64::from(kind).saturating_sub(10))
            }
            13 => self.signed(),
            14 => {
                let lines = self.signed()?;
                for _ in ["end line", "column", "end column"] {
                    self.unsigned()?;
                }
                Some(lines)
            }
            _ => Some(0),
        }
    }

    /// Groups of six bits, the lowest first; bit 6 says that another one follows.
    fn unsigned(&mut self) -> Option<i64> {
        let (mut value, mut shift) = (0_i64, 0_u32);
        loop {
            let byte = self.byte()?;
            value |= i64::from(byte & 63).checked_shl(shift).filter(|_| shift < 60)?;
            if byte & 64 == 0 {
                return Some(value);
            }
            shift = shift.saturating_add(6);
        }
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        let half = value >> 1;
        Some(if value & 1 == 0 { half } else { half.saturating_neg() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_tables_are_sums() {
        // 3.8, `def f():\n    a = 1\n\n    return a`: the lines of offsets 0 and 4.
        let table = [0, 1, 4, 2];
        let line = |offset| line_of(8, &table, 10, offset);
        assert_eq!([line(0), line(2), line(4), line(6)], [Some(11), Some(11), Some(13), Some(13)]);
        assert_eq!(line_of(9, &[2, 0xff], 10, 2), Some(9), "lines go backwards too");
    }

    #[test]
    fn ranges_may_have_no_line() {
        let table = [4, 1, 2, 0x80, 2, 1];
        let line = |offset| line_of(10, &table, 10, offset);
        assert_eq!([line(0), line(4), line(6), line(8)], [Some(11), None, Some(12), None]);
    }

    #[test]
    fn locations_are_entries_of_many_kinds() {
        // no columns +1, one line +2, short, none, long -1.
        let table = [0xe8, 0x02, 0xe0, 1, 2, 0x80, 0, 0xf8, 0xf0, 0x03, 0, 1, 1];
        let line = |offset| line_of(12, &table, 10, offset);
        assert_eq!([line(0), line(2), line(4)], [Some(11), Some(13), Some(13)]);
        assert_eq!([line(6), line(8), line(10)], [None, Some(12), None]);
    }

    #[test]
    fn damaged_tables_end_somewhere() {
        for minor in 8..=15 {
            assert_eq!(line_of(minor, &[0xff; 7], 1, 1 << 40).filter(|_| minor > 9), None);
            let _ = line_of(minor, &[0x7f; 64], i64::MAX, i64::MAX);
        }
    }
}
