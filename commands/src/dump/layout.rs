//! The columns of `::dump`.

use kcore::Addr;
use kcore_dcmd::Args;

/// Bytes in a paragraph.
const PARAGRAPH: usize = 16;

/// Which bytes stand where.
pub struct Layout {
    /// First address of the first line.
    pub start: Addr,
    /// First address that was asked for.
    pub at: Addr,
    /// First address behind those that were asked for.
    pub end: Addr,
    /// Bytes in a line.
    pub line: usize,
    /// Bytes in a group.
    pub group: usize,
    /// Whether groups are in the byte order of numbers; then there is neither header nor ASCII.
    pub swapped: bool,
    ascii: bool,
    /// Whether lines begin at multiples of their width; then the header marks the address.
    aligned: bool,
    relative: bool,
    trimmed: bool,
    /// Digits of an address.
    digits: usize,
}

impl Layout {
    /// The layout of `count` bytes at `at`, in lines of `paragraphs`.
    pub fn new(at: Addr, count: u64, paragraphs: u64, group: u64, args: &Args) -> Self {
        let line = usize::try_from(paragraphs).unwrap_or(1).saturating_mul(PARAGRAPH);
        let group = usize::try_from(group).ok();
        let group = group.filter(|group| group.is_power_of_two() && *group <= line).unwrap_or(4);
        let (swapped, trimmed) = (args.has('e'), args.has('t'));
        let count = if swapped && trimmed { whole_groups(count, group) } else { count };
        let aligned = !args.has('u') && !args.has('r') && !swapped;
        let into_line = if aligned { at.get().checked_rem(line as u64).unwrap_or(0) } else { 0 };
        let mut layout = Self {
            start: Addr::new(at.get().saturating_sub(into_line)),
            at,
            end: at.saturating_add(count),
            line,
            group,
            swapped,
            ascii: !args.has('q') && !swapped,
            aligned,
            relative: args.has('r'),
            trimmed,
            digits: 0,
        };
        layout.digits = if args.has('v') { 16 } else { layout.needed_digits() };
        layout
    }

    /// The header: columns by the low digit of their address, the address itself marked.
    pub fn header(&self) -> Option<String> {
        if self.swapped {
            return None;
        }
        let low_digit = |column: usize| self.number(self.start).wrapping_add(column as u64) & 0xf;
        let marked = self.at.offset_from(self.start);
        let is_marked = |column: usize| self.aligned && marked == Some(column as u64);
        let hex = self.in_groups(|column| match is_marked(column) {
            true => "\\/".to_owned(),
            false => format!("{:>2x}", low_digit(column)),
        });
        let ascii: String = (0..self.line)
            .map(|column| {
                if is_marked(column) { "v".to_owned() } else { format!("{:x}", low_digit(column)) }
            })
            .collect();
        let text = format!("{:width$}{hex}", "", width = self.digits.saturating_add(2));
        Some(if self.ascii { format!("{text}  {ascii}") } else { text })
    }

    /// One line.
    pub fn line(&self, at: Addr, bytes: &[u8]) -> String {
        let number = self.number(at);
        let address = format!("{number:0width$x}", width = self.digits);
        let byte = |column: usize| {
            let shown = self.shows(at, column);
            bytes.get(self.place(column)).copied().filter(|_| shown)
        };
        let hex = self
            .in_groups(|column| byte(column).map_or("  ".to_owned(), |byte| format!("{byte:02x}")));
        if !self.ascii {
            return format!("{address}: {hex}").trim_end().to_owned();
        }
        let ascii: String =
            (0..self.line).map(|column| byte(column).map_or(' ', printable)).collect();
        let line = format!("{address}: {hex}  {ascii}");
        // Blanks at the end stand for bytes that are not shown. Those of a full line are text.
        if self.trimmed || bytes.len() < self.line { line.trim_end().to_owned() } else { line }
    }

    /// The byte that stands in a column. Groups in the byte order of numbers are reversed.
    fn place(&self, column: usize) -> usize {
        if !self.swapped {
            return column;
        }
        let in_group = column.checked_rem(self.group).unwrap_or(0);
        let first = column.saturating_sub(in_group);
        first.saturating_add(self.group.saturating_sub(in_group).saturating_sub(1))
    }

    fn shows(&self, at: Addr, column: usize) -> bool {
        let byte = at.saturating_add(self.place(column) as u64);
        !self.trimmed || (self.at <= byte && byte < self.end)
    }

    /// Columns in groups: one blank before each; of single bytes two before every eighth.
    fn in_groups(&self, column: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        for index in 0..self.line {
            if index.is_multiple_of(self.group) {
                text.push(' ');
            }
            if self.group == 1 && index > 0 && index.is_multiple_of(8) {
                text.push(' ');
            }
            text.push_str(&column(index));
        }
        text
    }

    /// The text of an address.
    fn number(&self, at: Addr) -> u64 {
        let base = if self.relative { self.at } else { Addr::new(0) };
        at.get().wrapping_sub(base.get())
    }

    /// Digits of the address of the last byte in the last line.
    fn needed_digits(&self) -> usize {
        let len = self.end.offset_from(self.start).unwrap_or_default().max(1);
        let lines = len.div_ceil(self.line as u64);
        let shown = lines.saturating_mul(self.line as u64).saturating_sub(1);
        format!("{:x}", self.number(self.start).saturating_add(shown)).len()
    }
}

fn whole_groups(count: u64, group: usize) -> u64 {
    let rest = count.checked_rem(group as u64).unwrap_or(0);
    count.saturating_sub(rest)
}

fn printable(byte: u8) -> char {
    if (0x20..=0x7e).contains(&byte) { char::from(byte) } else { '.' }
}

#[cfg(test)]
mod tests {
    use kcore_dcmd::{Arg, Group, Spec};

    use super::*;
    use crate::dump::OPTIONS;

    fn layout(at: u64, count: u64, group: u64, options: &str) -> Layout {
        let spec = Spec::new("dump", Group::Memory, "").options(OPTIONS);
        let words: Vec<_> = options.split_whitespace().map(|word| Arg::Text(word.into())).collect();
        Layout::new(Addr::new(at), count, 1, group, &Args::parse(&spec, &words).unwrap())
    }

    const BYTES: &[u8; 16] = b"\xa0\xc5\xf3\x07\0\0\0\0Hello, w";

    #[test]
    fn the_layout_is_that_of_mdb() {
        let dump = layout(0x601048, 0x20, 4, "");
        let header = "          0 1 2 3  4 5 6 7 \\/ 9 a b  c d e f  01234567v9abcdef";
        assert_eq!(dump.header().unwrap(), header);
        let line = "601040:  a0c5f307 00000000 48656c6c 6f2c2077  ........Hello, w";
        assert_eq!(dump.line(dump.start, BYTES), line);
    }

    #[test]
    fn without_alignment_columns_begin_at_the_address() {
        let dump = layout(0x601048, 0x10, 8, "-u -g 8");
        let header = "          8 9 a b c d e f  0 1 2 3 4 5 6 7  89abcdef01234567";
        assert_eq!(dump.header().unwrap(), header);
    }

    #[test]
    fn groups_turn_round() {
        let dump = layout(0x601040, 0x10, 8, "-e");
        assert_eq!(dump.header(), None);
        assert_eq!(dump.line(dump.start, BYTES), "601040:  0000000007f3c5a0 77202c6f6c6c6548");
    }

    #[test]
    fn bytes_that_nobody_asked_for_are_blank() {
        let dump = layout(0x601048, 2, 4, "-t -q");
        assert_eq!(dump.line(dump.start, BYTES), format!("601040:  {:18}4865", ""));
    }

    #[test]
    fn single_bytes_stand_in_eights() {
        let dump = layout(0x601040, 1, 1, "-q");
        let expected = "601040:  a0 c5 f3 07 00 00 00 00  48 65 6c 6c 6f 2c 20 77";
        assert_eq!(dump.line(dump.start, BYTES), expected);
    }

    #[test]
    fn the_end_of_the_address_space_is_no_trap() {
        let dump = layout(u64::MAX - 3, u64::MAX, 4, "");
        assert_eq!(dump.end, Addr::new(u64::MAX));
        assert!(dump.line(dump.start, BYTES).starts_with("fffffffffffffff0: "));
    }
}
