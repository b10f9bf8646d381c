//! Number and character literals.

use crate::error::SyntaxError;
use crate::lexer::Scanner;
use crate::quote;

const BYTES: usize = 8;

/// Reads a token that begins with a digit.
pub(crate) fn number(scanner: &mut Scanner<'_>, radix: u32) -> Result<u64, SyntaxError> {
    let start = scanner.position();
    let word = scanner.take_while(|c| c.is_alphanumeric() || c == '_');
    let (radix, digits) = split_prefix(word).unwrap_or((radix, word));
    if radix == 10 && digits.len() < word.len() && has_fraction(scanner) {
        scanner.eat(".");
        scanner.take_while(|c| c.is_ascii_digit());
        let text = scanner.since(start).get(2..).unwrap_or_default();
        return double(text);
    }
    if digits.is_empty() {
        return Err(SyntaxError::Near(Some(word.to_owned())));
    }
    integer(digits, radix)
}

/// The value of `digits` in `radix`.
pub(crate) fn integer(digits: &str, radix: u32) -> Result<u64, SyntaxError> {
    let mut value: u64 = 0;
    for c in digits.chars() {
        let digit = c
            .to_digit(radix)
            .ok_or_else(|| SyntaxError::Wrong(format!("digit '{c}' is invalid in current base")))?;
        value = value
            .checked_mul(u64::from(radix))
            .and_then(|value| value.checked_add(u64::from(digit)))
            .ok_or_else(|| {
                SyntaxError::Wrong(format!(
                    "specified value exceeds maximum immediate value: {digits}"
                ))
            })?;
    }
    Ok(value)
}

/// Reads a character constant, the opening quote already taken: the first character is the most
/// significant byte.
pub(crate) fn characters(scanner: &mut Scanner<'_>) -> Result<u64, SyntaxError> {
    let bytes = quote::bytes_until(scanner, '\'').ok_or(SyntaxError::Unmatched("'"))?;
    if bytes.len() > BYTES {
        return Err(SyntaxError::Wrong("character constant may not exceed 8 bytes".into()));
    }
    Ok(bytes.iter().fold(0, |value, byte| (value << 8) | u64::from(*byte)))
}

fn split_prefix(word: &str) -> Option<(u32, &str)> {
    const PREFIXES: [(char, u32); 4] = [('i', 2), ('o', 8), ('t', 10), ('x', 16)];
    let rest = word.strip_prefix('0')?;
    let letter = rest.chars().next()?.to_ascii_lowercase();
    let (_, radix) = PREFIXES.iter().find(|(prefix, _)| *prefix == letter)?;
    Some((*radix, rest.get(1..).unwrap_or_default()))
}

fn has_fraction(scanner: &Scanner<'_>) -> bool {
    let mut rest = scanner.rest().chars();
    rest.next() == Some('.') && rest.next().is_some_and(|c| c.is_ascii_digit())
}

fn double(text: &str) -> Result<u64, SyntaxError> {
    let value: f64 = text
        .parse()
        .map_err(|_| SyntaxError::Wrong(format!("invalid floating-point value: {text}")))?;
    Ok(value.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<u64, String> {
        number(&mut Scanner::new(text), 16).map_err(|error| error.to_string())
    }

    #[test]
    fn prefixes_choose_the_radix() {
        assert_eq!(value("0i101"), Ok(5));
        assert_eq!(value("0O17"), Ok(0o17));
        assert_eq!(value("0t99"), Ok(99));
        assert_eq!(value("0XfF"), Ok(255));
        assert_eq!(value("010"), Ok(16));
        assert_eq!(value("0b1"), Ok(0xb1));
        assert_eq!(value("0t3.25"), Ok(3.25_f64.to_bits()));
    }

    #[test]
    fn wrong_numbers_say_why() {
        assert_eq!(value("12g"), Err("digit 'g' is invalid in current base".into()));
        assert_eq!(value("0i2"), Err("digit '2' is invalid in current base".into()));
        assert_eq!(
            value("10000000000000000"),
            Err("specified value exceeds maximum immediate value: 10000000000000000".into())
        );
        assert_eq!(value("0x"), Err("syntax error near \"0x\"".into()));
        assert_eq!(value("0tx.5"), Err("invalid floating-point value: x.5".into()));
    }

    #[test]
    fn characters_are_packed_first_most_significant() {
        let packed = |text| characters(&mut Scanner::new(text)).map_err(|error| error.to_string());
        assert_eq!(packed("a'"), Ok(0x61));
        assert_eq!(packed("ab'"), Ok(0x6162));
        assert_eq!(packed("'"), Ok(0));
        assert_eq!(packed("\\n'"), Ok(10));
        assert_eq!(packed("123456789'"), Err("character constant may not exceed 8 bytes".into()));
        assert_eq!(packed("ab"), Err("syntax error: ' unmatched".into()));
    }
}
