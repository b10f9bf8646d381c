//! What stands between the bytes of an untrusted core and the user's terminal.
//!
//! A name in a core may hold escape sequences that recolour, retitle or rewrite a terminal, or
//! bidirectional controls that make text read as what it is not. They are shown, as escapes, and
//! have no effect. Everything else that Unicode can write stays as it is.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every control made visible: `\n`, `\x1b`, `\u{202e}`.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_unsafe)
}

/// The same for text of several lines: newlines and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_unsafe(c) && c != '\n' && c != '\t')
}

/// Bytes that should be text: invalid ones are shown as `\xff`.
pub fn bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&line(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

fn escape(text: &str, hurts: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly all text is this, and bytes are looked at many at a time.
    let is_plain = text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'));
    if is_plain || !text.contains(&hurts) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if hurts(c) { push_escape(&mut safe, c) } else { safe.push(c) }
    }
    Cow::Owned(safe)
}

fn push_escape(safe: &mut String, c: char) {
    let _ = match c {
        '\n' => write!(safe, "\\n"),
        '\t' => write!(safe, "\\t"),
        '\r' => write!(safe, "\\r"),
        c if u32::from(c) < 0x100 => write!(safe, "\\x{:02x}", u32::from(c)),
        c => write!(safe, "\\u{{{:x}}}", u32::from(c)),
    };
}

/// Controls (C0, DEL, C1), bidirectional controls, separators that break a line, and characters
/// that only annotate or tag others.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_unicode_stays_and_is_not_copied() {
        assert!(matches!(line("größe 核 🦀 a\\b"), Cow::Borrowed(_)));
    }

    #[test]
    fn terminal_escapes_become_visible() {
        assert_eq!(line("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
        assert_eq!(line("\u{9b}2J\x7f"), "\\x9b2J\\x7f");
        assert_eq!(line("a\r\nb\tc\0"), "a\\r\\nb\\tc\\x00");
    }

    #[test]
    fn bidirectional_controls_become_visible() {
        assert_eq!(line("a\u{202e}b\u{2066}c\u{200f}"), "a\\u{202e}b\\u{2066}c\\u{200f}");
    }

    #[test]
    fn text_of_several_lines_keeps_them_and_nothing_else() {
        assert_eq!(lines("a\n\tb\x1b"), "a\n\tb\\x1b");
    }

    #[test]
    fn invalid_bytes_are_shown() {
        assert_eq!(bytes(b"a\xff\xc3\xa4\xc3"), "a\\xff\u{e4}\\xc3");
    }
}
