//! The lines of a symbol file.

/// A line. Names and rules are parts of it; numbers that do not fit make it none.
#[derive(Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// `FILE number name`.
    File { number: u32, name: &'a [u8] },
    /// `INLINE_ORIGIN number name`.
    Origin { number: u32, name: &'a [u8] },
    /// `FUNC [m] address size parameter_size name`.
    Function { start: u64, size: u64, name: &'a [u8] },
    /// `address size line file`, of the latest function.
    Line { start: u64, size: u64, line: u32, file: u32 },
    /// `INLINE depth call_line call_file origin (address size)+`, of the latest function.
    Inline(Inline),
    /// `PUBLIC [m] address parameter_size name`.
    Public { start: u64, name: &'a [u8] },
    /// `STACK CFI`.
    Unwind(Unwind<'a>),
}

/// A call that was inlined.
#[derive(Debug, PartialEq, Eq)]
pub struct Inline {
    /// How many inlined calls it lies in.
    pub depth: usize,
    /// The line of the call.
    pub line: u32,
    /// The file of the call, which files of 2021 and before leave out.
    pub file: Option<u32>,
    /// Who was inlined.
    pub origin: u32,
    /// Start and size of its code.
    pub ranges: Vec<(u64, u64)>,
}

/// Rules from an address on.
#[derive(Debug, PartialEq, Eq)]
pub struct Unwind<'a> {
    /// From where on.
    pub start: u64,
    /// Of `STACK CFI INIT`: for how many bytes. Others add to what came before.
    pub size: Option<u64>,
    /// The rules, such as `.cfa: $rsp 8 + .ra: .cfa -8 + ^`.
    pub rules: &'a [u8],
}

/// Ranges of an inlined call, at most.
const MAX_RANGES: usize = 1 << 12;

/// What a line says; `None` of one that says nothing here, or is damaged.
pub fn parse(line: &[u8]) -> Option<Record<'_>> {
    let mut words = Words(line.trim_ascii_end());
    let first = words.next()?;
    match first {
        b"FILE" => Some(Record::File { number: words.number()?, name: words.rest()? }),
        b"INLINE_ORIGIN" => origin(words),
        b"FUNC" => function(words),
        b"PUBLIC" => public(words),
        b"INLINE" => inline(words).map(Record::Inline),
        b"STACK" => unwind(words).map(Record::Unwind),
        b"MODULE" | b"INFO" => None,
        _ => line_of(first, words),
    }
}

/// Files of 2021 and before have the number of a file before the name, which no name begins with.
fn origin(mut words: Words<'_>) -> Option<Record<'_>> {
    let number = words.number()?;
    let mut after = words.clone();
    if after.number().is_some() && after.clone().next().is_some() {
        words = after;
    }
    Some(Record::Origin { number, name: words.rest()? })
}

fn function(mut words: Words<'_>) -> Option<Record<'_>> {
    words.skip_mark();
    let (start, size) = (words.hex()?, words.hex()?);
    words.hex()?;
    Some(Record::Function { start, size, name: words.rest()? })
}

fn public(mut words: Words<'_>) -> Option<Record<'_>> {
    words.skip_mark();
    let start = words.hex()?;
    words.hex()?;
    Some(Record::Public { start, name: words.rest()? })
}

fn line_of<'a>(first: &[u8], mut words: Words<'a>) -> Option<Record<'a>> {
    let (start, size) = (hex(first)?, words.hex()?);
    Some(Record::Line { start, size, line: words.number()?, file: words.number()? })
}

/// Whether the file of the call is told shows in how many words there are.
fn inline(mut words: Words<'_>) -> Option<Inline> {
    let depth = words.number()?;
    let line = words.number()?;
    let has_file = words.clone().count().is_multiple_of(2);
    let file = if has_file { Some(words.number()?) } else { None };
    let origin = words.number()?;
    let mut ranges = Vec::new();
    while let (Some(start), true) = (words.hex(), ranges.len() < MAX_RANGES) {
        ranges.push((start, words.hex()?));
    }
    Some(Inline { depth: usize::try_from(depth).ok()?, line, file, origin, ranges })
}

fn unwind(mut words: Words<'_>) -> Option<Unwind<'_>> {
    if words.next()? != b"CFI" {
        return None;
    }
    let first = words.next()?;
    let (start, size) = match first {
        b"INIT" => (words.hex()?, Some(words.hex()?)),
        _ => (hex(first)?, None),
    };
    Some(Unwind { start, size, rules: words.rest()? })
}

fn hex(word: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}

/// Words between blanks.
#[derive(Clone)]
struct Words<'a>(&'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.0.trim_ascii_start();
        let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (word, rest) = line.split_at_checked(end)?;
        self.0 = rest;
        Some(word).filter(|word| !word.is_empty())
    }
}

impl<'a> Words<'a> {
    fn hex(&mut self) -> Option<u64> {
        hex(self.next()?)
    }

    fn number(&mut self) -> Option<u32> {
        std::str::from_utf8(self.next()?).ok()?.parse().ok()
    }

    /// `m` says that several functions share the code.
    fn skip_mark(&mut self) {
        let mut after = self.clone();
        if after.next() == Some(b"m") {
            *self = after;
        }
    }

    fn rest(&mut self) -> Option<&'a [u8]> {
        Some(self.0.trim_ascii_start()).filter(|rest| !rest.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_blanks_in_names_are_understood() {
        let function = parse(b"FUNC m 1a0 2f 8 void f(int, char)\r").unwrap();
        let name = b"void f(int, char)";
        assert_eq!(function, Record::Function { start: 0x1a0, size: 0x2f, name });
        assert_eq!(
            parse(b"PUBLIC 10 0 _start"),
            Some(Record::Public { start: 16, name: b"_start" })
        );
        let line = Record::Line { start: 0xfac, size: 4, line: 7, file: 1 };
        assert_eq!(parse(b"fac 4 7 1"), Some(line));
    }

    #[test]
    fn inlined_calls_are_read_with_and_without_the_file_of_the_call() {
        let inline =
            |file| Inline { depth: 1, line: 39, file, origin: 0, ranges: vec![(16, 4), (32, 8)] };
        assert_eq!(parse(b"INLINE 1 39 2 0 10 4 20 8"), Some(Record::Inline(inline(Some(2)))));
        assert_eq!(parse(b"INLINE 1 39 0 10 4 20 8"), Some(Record::Inline(inline(None))));
        let origin = Some(Record::Origin { number: 3, name: b"f(int)" });
        assert_eq!(parse(b"INLINE_ORIGIN 3 f(int)"), origin);
        assert_eq!(parse(b"INLINE_ORIGIN 3 0 f(int)"), origin);
    }

    #[test]
    fn what_is_damaged_is_nothing() {
        for line in
            ["", "FUNC 1", "FUNC x 1 0 f", "FILE 1", "STACK WIN 4 1", "10 2 3", "INLINE 1 2"]
        {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }
}
