//! The format of `::printf`: the part of MDB's formats that it takes.

use kcore_dcmd::{DcmdError, Result};

/// Columns of one field, at most.
const MAX_WIDTH: usize = 4096;
/// Digits behind the point, at most.
const MAX_PRECISION: usize = 100;
/// All letters.
const LETTERS: &str = "aApdqRIHNoruxXsYeEfgG";

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// A place for a member.
    Specifier(Specifier),
}

/// How a member is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specifier {
    /// The letter.
    pub letter: char,
    /// Least number of columns.
    pub width: Width,
    /// Whether blanks stand behind it, and not before it.
    pub left: bool,
    /// Whether zeros stand before it, and not blanks.
    pub zeros: bool,
    /// The number behind the point: digits of a floating-point number.
    pub precision: Option<usize>,
}

/// Least number of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// This many.
    Columns(usize),
    /// As many as an address has digits.
    Address,
}

/// Reads a format.
///
/// # Errors
/// If it has an unknown specifier.
pub fn parse(format: &str) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut characters = format.chars().zip(1..).peekable();
    while let Some((character, position)) = characters.next() {
        match character {
            '%' if characters.next_if(|(next, _)| *next == '%').is_some() => text.push('%'),
            '%' => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Specifier(specifier(&mut characters, position)?));
            }
            other => text.push(other),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

type Characters<'f> =
    std::iter::Peekable<std::iter::Zip<std::str::Chars<'f>, std::ops::RangeFrom<usize>>>;

/// What follows a percent sign, which stands at `position`.
fn specifier(characters: &mut Characters<'_>, position: usize) -> Result<Specifier> {
    let left = characters.next_if(|(c, _)| *c == '-').is_some();
    let digits = number(characters);
    let is_address = characters.next_if(|(c, _)| *c == '?').is_some();
    let width = match is_address {
        true => Width::Address,
        false => Width::Columns(digits.parse().unwrap_or(0).min(MAX_WIDTH)),
    };
    let zeros = digits.starts_with('0') && !left;
    let point = characters.next_if(|(c, _)| *c == '.');
    let precision = point.map(|_| number(characters).parse().unwrap_or(0).min(MAX_PRECISION));
    let illegal = |letter: char, position: usize| {
        DcmdError::failed(format!(
            "illegal format string at or near '{letter}' (position {position})"
        ))
    };
    match characters.next() {
        Some((letter, _)) if LETTERS.contains(letter) => {
            Ok(Specifier { letter, width, left, zeros, precision })
        }
        Some((other, position)) => Err(illegal(other, position)),
        None => Err(illegal('%', position)),
    }
}

/// The digits that come next.
fn number(characters: &mut Characters<'_>) -> String {
    let mut digits = String::new();
    while let Some((digit, _)) = characters.next_if(|(c, _)| c.is_ascii_digit()) {
        digits.push(digit);
    }
    digits
}

impl Specifier {
    /// The text in as many columns as wanted; `address` is how many an address has.
    pub fn padded(&self, text: &str, address: usize) -> String {
        let width = match self.width {
            Width::Columns(columns) => columns,
            Width::Address => address,
        };
        let missing = width.saturating_sub(text.chars().count());
        let fill = |c: char| String::from_iter(std::iter::repeat_n(c, missing));
        match (self.left, self.zeros, text.strip_prefix('-')) {
            (true, ..) => format!("{text}{}", fill(' ')),
            (false, true, Some(digits)) => format!("-{}{digits}", fill('0')),
            (false, true, None) => format!("{}{text}", fill('0')),
            (false, false, _) => format!("{}{text}", fill(' ')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(format: &str) -> Specifier {
        match parse(format).unwrap().as_slice() {
            [Piece::Specifier(specifier)] => *specifier,
            other => panic!("{other:?}"),
        }
    }

    fn error(format: &str) -> String {
        parse(format).unwrap_err().to_string()
    }

    #[test]
    fn text_and_specifiers_alternate() {
        let pieces = parse("a%% %-?p|%s\n").unwrap();
        let [
            Piece::Text(first),
            Piece::Specifier(p),
            Piece::Text(bar),
            Piece::Specifier(s),
            Piece::Text(end),
        ] = pieces.as_slice()
        else {
            panic!("{pieces:?}")
        };
        assert_eq!((first.as_str(), bar.as_str(), end.as_str()), ("a% ", "|", "\n"));
        assert_eq!((p.letter, p.width, p.left), ('p', Width::Address, true));
        assert_eq!((s.letter, s.width, s.left), ('s', Width::Columns(0), false));
    }

    #[test]
    fn fields_are_padded() {
        assert_eq!(only("%5d").padded("-7", 16), "   -7");
        assert_eq!(only("%-5d").padded("-7", 16), "-7   ");
        assert_eq!(only("%05d").padded("-7", 16), "-0007");
        assert_eq!(only("%0?p").padded("1f", 8), "0000001f");
        assert_eq!(only("%2s").padded("long", 16), "long");
    }

    #[test]
    fn what_is_no_specifier_is_named_with_its_place() {
        assert_eq!(error("ab%k"), "illegal format string at or near 'k' (position 4)");
        assert_eq!(error("%#x"), "illegal format string at or near '#' (position 2)");
        assert_eq!(error("a%"), "illegal format string at or near '%' (position 2)");
    }
}
