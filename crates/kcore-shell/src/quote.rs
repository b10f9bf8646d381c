//! Quoted text and C escapes.

use crate::error::SyntaxError;
use crate::lexer::Scanner;

/// Reads `"…"` with C escapes, the opening quote already taken.
pub(crate) fn escaped(scanner: &mut Scanner<'_>) -> Result<String, SyntaxError> {
    let bytes = bytes_until(scanner, '"').ok_or(SyntaxError::Unmatched("\""))?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Reads `'…'` as it stands, the opening quote already taken.
pub(crate) fn literal<'t>(scanner: &mut Scanner<'t>) -> Result<&'t str, SyntaxError> {
    let text = scanner.take_while(|c| c != '\'' && c != '\n');
    if scanner.eat("'") { Ok(text) } else { Err(SyntaxError::Unmatched("'")) }
}

/// Bytes before the brace that closes one which was taken; braces in quotes count for nothing, and neither do those of
/// names of Rust. `None` without one before the line's end.
pub(crate) fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => return None,
            '\\' if quote.is_some() => {
                chars.next();
            }
            '"' | '\'' => match quote {
                None => quote = Some(c),
                Some(open) if open == c => quote = None,
                Some(_) => {}
            },
            _ if quote.is_some() => {}
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Bytes up to and with `quote`, C escapes decoded; `None` without a quote before the line's end.
pub(crate) fn bytes_until(scanner: &mut Scanner<'_>, quote: char) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        match scanner.bump()? {
            '\n' => return None,
            c if c == quote => return Some(bytes),
            '\\' => push_escape(scanner, &mut bytes)?,
            c => push_char(&mut bytes, c),
        }
    }
}

fn push_escape(scanner: &mut Scanner<'_>, bytes: &mut Vec<u8>) -> Option<()> {
    if matches!(scanner.peek()?, '0'..='7') {
        let mut left = 3;
        let digits = scanner.take_while(|c| {
            left -= 1;
            left >= 0 && c.is_digit(8)
        });
        bytes.push(low_byte(digits, 8));
        return Some(());
    }
    match scanner.bump()? {
        '\n' => return None,
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'f' => bytes.push(12),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(11),
        'x' => {
            let mut left = 2;
            let digits = scanner.take_while(|c| {
                left -= 1;
                left >= 0 && c.is_ascii_hexdigit()
            });
            bytes.push(low_byte(digits, 16));
        }
        c => push_char(bytes, c),
    }
    Some(())
}

/// The value of at most three digits, modulo 256.
fn low_byte(digits: &str, radix: u32) -> u8 {
    (u32::from_str_radix(digits, radix).unwrap_or(0) & 0xff) as u8
}

fn push_char(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<Vec<u8>> {
        bytes_until(&mut Scanner::new(text), '"')
    }

    #[test]
    fn escapes_are_those_of_c() {
        assert_eq!(bytes(r#"\n\t\\\"\0\101\x41\xff\q""#).unwrap(), b"\n\t\\\"\0AA\xffq");
        assert_eq!(bytes(r#"\1011""#).unwrap(), b"A1");
        assert_eq!(bytes(r#"\x411""#).unwrap(), b"A1");
        assert_eq!(bytes("é\"").unwrap(), "é".as_bytes());
    }

    #[test]
    fn a_quote_ends_on_its_line() {
        for text in ["abc", "abc\n\"", "abc\\", "abc\\\n\""] {
            assert_eq!(bytes(text), None, "{text:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_survive() {
        let text = escaped(&mut Scanner::new("a\\xff\"")).unwrap();
        assert_eq!(text, "a\u{fffd}");
    }
}
