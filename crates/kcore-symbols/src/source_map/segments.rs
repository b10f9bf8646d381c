//! Mappings as they are written: numbers in base 64 of variable length, each the step from the one before.

/// What a mapping says of a place of the generated text. All count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The line of the generated text.
    pub line: u32,
    /// The column there.
    pub column: u32,
    /// Where it came from; `None` for what came from nowhere.
    pub origin: Option<Origin>,
}

/// A place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Which source.
    pub source: u32,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// Which name.
    pub name: Option<u32>,
}

/// What the next step is added to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    line: u32,
    column: i64,
    source: i64,
    source_line: i64,
    source_column: i64,
    name: i64,
}

/// A mapping is damaged, of this line of the generated text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged(pub u32);

/// A place in the text of mappings, with what decoding from there needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    at: usize,
    state: State,
}

/// The mappings that bytes hold, from a position on.
pub struct Segments<'a> {
    bytes: &'a [u8],
    next: Position,
}

impl<'a> Segments<'a> {
    /// Those from a position on.
    pub const fn from(bytes: &'a [u8], next: Position) -> Self {
        Self { bytes, next }
    }

    /// Where decoding of the next one may begin.
    pub const fn position(&self) -> Position {
        self.next
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.next.at).copied()
    }

    fn skip(&mut self) {
        self.next.at = self.next.at.saturating_add(1);
    }

    /// A number, if one begins here: five bits a digit, the lowest first, the sign in the lowest of all. It has 32 bits.
    fn number(&mut self) -> Option<i64> {
        let mut value: u64 = 0;
        for shift in (0..35_u32).step_by(5) {
            let digit = digit(self.peek()?)?;
            self.skip();
            value |= u64::from(digit & 31).checked_shl(shift)?;
            if digit & 32 == 0 {
                let half = i64::try_from(value >> 1).ok().filter(|half| *half <= 1 << 31)?;
                return Some(if value & 1 == 0 { half } else { half.wrapping_neg() });
            }
        }
        None
    }

    fn is_at_end(&self) -> bool {
        matches!(self.peek(), None | Some(b',' | b';'))
    }

    /// The next segment: one, four or five numbers.
    fn segment(&mut self) -> Option<Segment> {
        let step = self.number()?;
        self.next.state.column = self.next.state.column.checked_add(step)?;
        let mut segment = Segment {
            line: self.next.state.line,
            column: u32::try_from(self.next.state.column).ok()?,
            origin: None,
        };
        if self.is_at_end() {
            return Some(segment);
        }
        let [source, line, column] = [self.number()?, self.number()?, self.number()?];
        let state = &mut self.next.state;
        state.source = state.source.checked_add(source)?;
        state.source_line = state.source_line.checked_add(line)?;
        state.source_column = state.source_column.checked_add(column)?;
        let mut origin = Origin {
            source: u32::try_from(state.source).ok()?,
            line: u32::try_from(state.source_line).ok()?,
            column: u32::try_from(state.source_column).ok()?,
            name: None,
        };
        if !self.is_at_end() {
            let step = self.number()?;
            let state = &mut self.next.state;
            state.name = state.name.checked_add(step)?;
            origin.name = Some(u32::try_from(state.name).ok()?);
        }
        segment.origin = Some(origin);
        self.is_at_end().then_some(segment)
    }
}

impl Iterator for Segments<'_> {
    type Item = Result<Segment, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.peek()? {
                b',' => self.skip(),
                b';' => {
                    self.skip();
                    let state = &mut self.next.state;
                    state.column = 0;
                    state.line = state.line.saturating_add(1);
                }
                _ => break,
            }
        }
        let line = self.next.state.line;
        let found = self.segment().ok_or(Damaged(line));
        if found.is_err() {
            self.next.at = self.bytes.len();
        }
        Some(found)
    }
}

const fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte.wrapping_sub(b'A'),
        b'a'..=b'z' => byte.wrapping_sub(b'a').wrapping_add(26),
        b'0'..=b'9' => byte.wrapping_sub(b'0').wrapping_add(52),
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Result<Segment, Damaged>> {
        Segments::from(text.as_bytes(), Position::default()).collect()
    }

    const fn origin(source: u32, line: u32, column: u32, name: Option<u32>) -> Option<Origin> {
        Some(Origin { source, line, column, name })
    }

    #[test]
    fn steps_are_added_and_columns_begin_anew_with_each_line() {
        let found: Result<Vec<Segment>, Damaged> = all("AAAAA,IAEC;;EACD,C").into_iter().collect();
        let expected = [
            (0, 0, origin(0, 0, 0, Some(0))),
            (0, 4, origin(0, 2, 1, None)),
            (2, 2, origin(0, 3, 0, None)),
            (2, 3, None),
        ];
        let expected = expected.map(|(line, column, origin)| Segment { line, column, origin });
        assert_eq!(found.unwrap(), expected);
    }

    #[test]
    fn numbers_are_signed_and_of_any_length() {
        let number = |text: &str| {
            let mut segments = Segments::from(text.as_bytes(), Position::default());
            segments.number()
        };
        assert_eq!(
            ["A", "C", "D", "gB", "hB", "+/////D"].map(number),
            [Some(0), Some(1), Some(-1), Some(16), Some(-16), Some(i64::from(i32::MAX))]
        );
        assert_eq!(["", "g", "ggggggggB", "!"].map(number), [None; 4]);
    }

    #[test]
    fn what_is_damaged_is_told_with_its_line_and_ends_them() {
        for text in ["AAAA;AA,AAAA", "AAAA;D", "AAAA;AAAAAA", "AAAA;A?AA", "AAAA;AAAD"] {
            let found = all(text);
            assert_eq!((found.len(), found[1]), (2, Err(Damaged(1))), "{text}");
        }
    }
}
