//! Characters and texts, in quotes.

use kcore_values::Text;

use crate::sanitize;

/// A character in quotes. One of a single byte is escaped as C does, others where they would hurt.
pub(super) fn quoted(code: u32, size: Option<u64>) -> String {
    let byte = u8::try_from(code).ok().filter(|byte| byte.is_ascii() || size == Some(1));
    match (byte, char::from_u32(code)) {
        (Some(byte), _) => format!("'{}'", escaped(byte)),
        (None, Some(character)) => format!("'{}'", sanitize::line(&character.to_string())),
        (None, None) => format!("'\\u{{{code:x}}}'"),
    }
}

/// As MDB's format letter `C` has it.
fn escaped(byte: u8) -> String {
    match byte {
        0 => "\\0".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        0xb => "\\v".to_owned(),
        0xc => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    }
}

/// Bytes in quotes that are text in part: what is none is escaped as C does, in three octal digits where a digit
/// may follow.
pub(super) fn bytes(bytes: &[u8]) -> String {
    format!("\"{}\"", literal(bytes))
}

/// Text in quotes; ` ...` stands for what was cut off.
pub(super) fn text(text: &Text) -> String {
    let rest = if text.is_cut { " ..." } else { "" };
    let bytes = text.bytes.as_deref().unwrap_or(text.text.as_bytes());
    format!("\"{}{rest}\"", literal(bytes))
}

/// What stands between the quotes of a literal of C: a quote or a backslash of the text is told from one that
/// ends it or escapes.
fn literal(bytes: &[u8]) -> String {
    let mut literal = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match u8::try_from(character) {
                Ok(0) => literal.push_str("\\000"),
                Ok(byte) if byte.is_ascii() => literal.push_str(&escaped(byte)),
                _ => literal.push_str(&sanitize::line(character.encode_utf8(&mut [0; 4]))),
            }
        }
        chunk.invalid().iter().for_each(|byte| literal.push_str(&escaped(*byte)));
    }
    literal
}
