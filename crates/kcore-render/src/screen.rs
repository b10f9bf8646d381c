//! The terminal that a user watches.

/// What the pager and the line editor ask of a terminal.
pub trait Screen: Send + Sync {
    /// Its size now; `None` when it does not say.
    fn size(&self) -> Option<Size>;

    /// Waits for a key; `None` when there is nobody to press one.
    fn key(&self) -> Option<u8>;

    /// Whether a key was pressed that nobody has read yet.
    fn has_key(&self) -> bool;
}

/// The size of a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Characters in a row.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

impl Size {
    /// Rows that a line takes, whose attributes take no room.
    pub(crate) fn rows_of(self, line: &str) -> usize {
        width(line).div_ceil(self.columns.max(1)).max(1)
    }
}

/// Characters that a terminal shows of a line.
pub(crate) fn width(line: &str) -> usize {
    let mut shown = 0;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\x1b' => drop(letters.find(|letter| letter.is_ascii_alphabetic())),
            '\t' => shown += 8 - shown % 8,
            '\n' => {}
            _ => shown += 1,
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    #[test]
    fn a_line_takes_as_many_rows_as_it_must() {
        let size = Size { columns: 10, rows: 5 };
        let rows =
            ["", "a\n", "0123456789\n", "0123456789a", "a\tb\tc"].map(|line| size.rows_of(line));
        assert_eq!(rows, [1, 1, 1, 2, 2]);
        assert_eq!(size.rows_of(&Style::Bold.paint("0123456789")), 1);
        assert_eq!(Size { columns: 0, rows: 0 }.rows_of("ab"), 2);
    }
}
