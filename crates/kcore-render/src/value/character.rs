//! Characters and texts, in quotes.

use std::borrow::Cow;

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
    let mut quoted = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match u8::try_from(character) {
                Ok(0) => quoted.push_str("\\000"),
                Ok(byte) if byte.is_ascii() => quoted.push_str(&escaped(byte)),
                _ => quoted.push_str(&sanitize::line(character.encode_utf8(&mut [0; 4]))),
            }
        }
        chunk.invalid().iter().for_each(|byte| quoted.push_str(&escaped(*byte)));
    }
    quoted.push('"');
    quoted
}

/// Text in quotes; ` ...` stands for what was cut off.
pub(super) fn text(text: &Text) -> String {
    let rest = if text.is_cut { " ..." } else { "" };
    format!("\"{}{rest}\"", escaped_text(&text.text))
}

/// Text as a literal of C has it: a quote or a backslash of its own is told from one that ends it or escapes.
fn escaped_text(text: &str) -> Cow<'_, str> {
    if !text.contains(['"', '\\']) {
        return sanitize::line(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for part in text.split_inclusive(['"', '\\']) {
        let plain = part.strip_suffix(['"', '\\']).unwrap_or(part);
        escaped.push_str(&sanitize::line(plain));
        if plain.len() < part.len() {
            escaped.push('\\');
            escaped.push_str(part.get(plain.len()..).unwrap_or_default());
        }
    }
    Cow::Owned(escaped)
}
