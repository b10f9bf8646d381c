//! Numbers and characters as C writes them.

use super::ExpressionFault;

/// A number or a character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// An integer: its value, how many bits it has at least, and whether it has no sign.
    Integer {
        /// Its value.
        value: u128,
        /// Whether its suffix, or its size where it is written in another radix than ten, takes its sign away.
        is_unsigned: bool,
        /// Bits that its suffix asks for at least.
        bits: u32,
    },
    /// A floating-point number, and whether it is a `float`.
    Float(f64, bool),
    /// A character.
    Character(u8),
    /// `true` or `false`.
    Truth(bool),
}

/// What a name means that C++ or C defines, if nothing in the program has it.
pub fn word(name: &str) -> Option<Literal> {
    Some(match name {
        "true" => Literal::Truth(true),
        "false" => Literal::Truth(false),
        "nullptr" | "NULL" => Literal::Integer { value: 0, is_unsigned: false, bits: 64 },
        _ => return None,
    })
}

/// The number that a text begins with, and how many bytes it takes.
///
/// # Errors
/// When its digits or its suffix are none of C.
pub fn number(text: &str) -> Result<(Literal, usize), ExpressionFault> {
    let (radix, digits) = radix_of(text);
    let behind = text.get(digits..).unwrap_or_default();
    if radix == 10 && is_float(behind) {
        return float(behind);
    }
    let len = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(behind.len());
    let word = behind.get(..len).unwrap_or_default();
    let end = word.find(|c: char| !c.is_digit(radix)).unwrap_or(word.len());
    let (value, suffix) = word.split_at_checked(end).unwrap_or((word, ""));
    let value = u128::from_str_radix(value, radix)
        .map_err(|_| ExpressionFault::Literal("a number without digits, or too large"))?;
    let (is_unsigned, bits) = suffix_of(suffix)?;
    // Only decimal literals stay signed at all sizes.
    let is_unsigned = is_unsigned || radix != 10 && fills(value);
    Ok((Literal::Integer { value, is_unsigned, bits }, digits.saturating_add(len)))
}

/// Whether a number needs the sign bit of the smallest type that holds it.
const fn fills(value: u128) -> bool {
    matches!(128_u32.saturating_sub(value.leading_zeros()), 32 | 64 | 128)
}

/// The radix, and how many bytes say so.
fn radix_of(text: &str) -> (u32, usize) {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('0'), Some('x' | 'X')) => (16, 2),
        (Some('0'), Some('b' | 'B')) => (2, 2),
        (Some('0'), Some('0'..='9')) => (8, 1),
        _ => (10, 0),
    }
}

fn suffix_of(suffix: &str) -> Result<(bool, u32), ExpressionFault> {
    Ok(match suffix.to_ascii_lowercase().as_str() {
        "" => (false, 32),
        "u" => (true, 32),
        "l" | "ll" | "z" => (false, 64),
        "ul" | "lu" | "ull" | "llu" | "uz" | "zu" => (true, 64),
        _ => return Err(ExpressionFault::Literal("no suffix of a number")),
    })
}

/// Whether digits go on as those of a floating-point number: `1.5`, `1e3`, and no range, `1..5`.
fn is_float(text: &str) -> bool {
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (behind.starts_with('.') && !behind.starts_with("..")) || behind.starts_with(['e', 'E'])
}

fn float(text: &str) -> Result<(Literal, usize), ExpressionFault> {
    let mut previous = ' ';
    let end = text.find(|c: char| {
        let is_sign = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
        previous = c;
        !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || is_sign)
    });
    let len = end.unwrap_or(text.len());
    let (digits, behind) = text.split_at_checked(len).unwrap_or((text, ""));
    let value = digits.parse().map_err(|_| ExpressionFault::Literal("no number"))?;
    let is_single = behind.starts_with(['f', 'F']);
    let has_suffix = is_single || behind.starts_with(['l', 'L']);
    Ok((Literal::Float(value, is_single), len.saturating_add(usize::from(has_suffix))))
}

/// The character that a text begins with behind its quote, and how many bytes it takes with the closing one.
///
/// # Errors
/// When it is not closed, or is none of one byte.
pub fn character(text: &str) -> Result<(Literal, usize), ExpressionFault> {
    const NONE: ExpressionFault = ExpressionFault::Literal("no character of one byte in quotes");
    let (byte, len) = one_character(text).ok_or(NONE)?;
    match text.get(len..).is_some_and(|rest| rest.starts_with('\'')) {
        true => Ok((Literal::Character(byte), len.saturating_add(1))),
        false => Err(NONE),
    }
}

/// The text that begins behind a quote, and how many bytes it takes with the closing one.
///
/// # Errors
/// When it is not closed, or an escape is none.
pub fn text(text: &str) -> Result<(String, usize), ExpressionFault> {
    let mut bytes = Vec::new();
    let mut at = 0_usize;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match rest.chars().next() {
            None => return Err(ExpressionFault::Literal("a text without its closing quote")),
            Some('"') => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                return Ok((text, at.saturating_add(1)));
            }
            Some('\\') => {
                let (byte, len) =
                    one_character(rest).ok_or(ExpressionFault::Literal("no escape of C"))?;
                bytes.push(byte);
                at = at.saturating_add(len);
            }
            Some(other) => {
                bytes.extend(rest.bytes().take(other.len_utf8()));
                at = at.saturating_add(other.len_utf8());
            }
        }
    }
}

/// A character of one byte, or an escape, and how many bytes it takes.
fn one_character(text: &str) -> Option<(u8, usize)> {
    let mut bytes = text.bytes();
    match bytes.next()? {
        b'\\' => escape(text.get(1..)?).map(|(byte, len)| (byte, len.saturating_add(1))),
        byte if byte.is_ascii() && byte != b'\'' => Some((byte, 1)),
        _ => None,
    }
}

fn escape(text: &str) -> Option<(u8, usize)> {
    let digits = |text: &str, radix: u32, most: usize| {
        let len = text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        Some((u8::from_str_radix(text.get(..len)?, radix).ok()?, len))
    };
    Some(match text.chars().next()? {
        'n' => (b'\n', 1),
        't' => (b'\t', 1),
        'r' => (b'\r', 1),
        'a' => (7, 1),
        'b' => (8, 1),
        'f' => (12, 1),
        'v' => (11, 1),
        'e' => (27, 1),
        c @ ('\\' | '\'' | '"' | '?') => (u8::try_from(c).ok()?, 1),
        'x' => digits(text.get(1..)?, 16, 2).map(|(byte, len)| (byte, len.saturating_add(1)))?,
        '0'..='7' => digits(text, 8, 3)?,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(text: &str) -> Option<(u128, bool, u32, usize)> {
        match number(text) {
            Ok((Literal::Integer { value, is_unsigned, bits }, len)) => {
                Some((value, is_unsigned, bits, len))
            }
            _ => None,
        }
    }

    #[test]
    fn integers_have_the_radix_and_the_suffix_of_c() {
        assert_eq!(integer("42+"), Some((42, false, 32, 2)));
        assert_eq!(integer("0x1f)"), Some((31, false, 32, 4)));
        assert_eq!(integer("017"), Some((15, false, 32, 3)));
        assert_eq!(integer("0b101"), Some((5, false, 32, 5)));
        assert_eq!(integer("0"), Some((0, false, 32, 1)));
        assert_eq!(integer("7ull]"), Some((7, true, 64, 4)));
        assert_eq!(integer("0xffffffff"), Some((0xffff_ffff, true, 32, 10)));
        assert_eq!(integer("4294967295"), Some((0xffff_ffff, false, 32, 10)));
        assert_eq!(integer("1..3"), Some((1, false, 32, 1)));
        assert_eq!([integer("0xg"), integer("09"), integer("12ab")], [None, None, None]);
    }

    #[test]
    fn floats_have_a_point_or_an_exponent() {
        assert_eq!(number("1.5f*"), Ok((Literal::Float(1.5, true), 4)));
        assert_eq!(number("2e-3 "), Ok((Literal::Float(2e-3, false), 4)));
        assert_eq!(number("1.L"), Ok((Literal::Float(1.0, false), 3)));
        assert!(number("1e").is_err());
    }

    #[test]
    fn characters_and_texts_have_the_escapes_of_c() {
        assert_eq!(character("a'"), Ok((Literal::Character(b'a'), 2)));
        assert_eq!(character("\\n'"), Ok((Literal::Character(b'\n'), 3)));
        assert_eq!(character("\\x41'"), Ok((Literal::Character(b'A'), 5)));
        assert_eq!(character("\\0'"), Ok((Literal::Character(0), 3)));
        assert!(
            character("ab'").is_err() && character("a").is_err() && character("\u{e4}'").is_err()
        );
        assert_eq!(text("a\\tb\\\"\u{e4}\" x"), Ok(("a\tb\"\u{e4}".to_owned(), 9)));
        assert!(text("abc").is_err() && text("\\q\"").is_err());
    }
}
