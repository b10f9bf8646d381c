//! How format letters write characters.

use super::letters::Text;

/// Bytes as text.
pub fn text(style: Text, bytes: &[u8]) -> String {
    match style {
        Text::Raw => raw(bytes),
        Text::Escaped => bytes.iter().map(|byte| escaped(*byte)).collect(),
    }
}

/// Bytes as they are; those that are no text as `\xff`.
fn raw(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// A byte as in a string of C.
fn escaped(byte: u8) -> String {
    match byte {
        0 => "\\0".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        11 => "\\v".to_owned(),
        12 => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\\' => "\\\\".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        byte => format!("\\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_c() {
        assert_eq!(text(Text::Escaped, b"a\n\0\xff\x1b\\"), "a\\n\\0\\377\\033\\\\");
        assert_eq!(text(Text::Raw, b"a\n\xff\xc3\xa4"), "a\n\\xff\u{e4}");
    }
}
