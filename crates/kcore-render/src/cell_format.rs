//! SPEC of the template language: how one cell is to look.
//!
//! The language itself is documented at [`View::Line`](kcore_dcmd::View::Line).

/// A parsed SPEC. Characters that SPEC does not know are ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CellFormat {
    /// `#`: prefix above 9.
    pub(crate) prefix: bool,
    /// `0`: filled with zeros to the width of an address.
    pub(crate) zeros: bool,
    /// `x`, `d`, `o`.
    pub(crate) radix: Option<u32>,
    /// Least number of columns.
    pub(crate) width: usize,
    /// `>`: pads on the left.
    pub(crate) right: bool,
    /// `tN`: then pads to the next multiple.
    pub(crate) tab: usize,
    /// `!`.
    pub(crate) bold: bool,
    /// `m`: newlines and tabs stand.
    pub(crate) multiline: bool,
}

impl CellFormat {
    pub(crate) fn parse(spec: &str) -> Self {
        let mut format = Self::default();
        let mut rest = spec;
        while let Some(flag) = rest.chars().next() {
            rest = match flag {
                '1'..='9' => number(rest, &mut format.width),
                't' => number(&rest[1..], &mut format.tab),
                _ => {
                    format.set(flag);
                    &rest[flag.len_utf8()..]
                }
            };
        }
        format
    }

    fn set(&mut self, flag: char) {
        match flag {
            '#' => self.prefix = true,
            '0' => self.zeros = true,
            'x' => self.radix = Some(16),
            'd' => self.radix = Some(10),
            'o' => self.radix = Some(8),
            '>' => self.right = true,
            '!' => self.bold = true,
            'm' => self.multiline = true,
            _ => {}
        }
    }
}

/// Reads the digits at the front, answers what follows them.
fn number<'a>(text: &'a str, value: &mut usize) -> &'a str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *value = digits.parse().unwrap_or(0);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_numbers_combine() {
        let format = CellFormat::parse("#0x>16t8!m");
        let expected = CellFormat {
            prefix: true,
            zeros: true,
            radix: Some(16),
            width: 16,
            right: true,
            tab: 8,
            bold: true,
            multiline: true,
        };
        assert_eq!(format, expected);
    }

    #[test]
    fn a_zero_before_a_width_is_the_flag() {
        let format = CellFormat::parse("016");
        assert!(format.zeros);
        assert_eq!(format.width, 16);
        assert_eq!(CellFormat::parse("10").width, 10);
    }

    #[test]
    fn what_is_unknown_is_ignored() {
        assert_eq!(CellFormat::parse("é?t"), CellFormat::default());
    }
}
