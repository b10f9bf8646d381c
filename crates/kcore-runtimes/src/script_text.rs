//! Strings of script languages, which are bytes: what is no text is spelled by escapes, so that no byte is lost.

use crate::TextRest;

/// The kind of a string that is text, and of one that is spelled by the escapes of its language.
pub const TEXT: &str = "string";
pub const BINARY: &str = "binary";

/// The kind of a string and its text: one that is not all UTF-8 is as `spell` has it. A character that a limit cuts in
/// two is left out.
pub fn text(
    held: &[u8],
    rest: TextRest,
    spell: impl Fn(&[u8]) -> String,
) -> (&'static str, String) {
    let cut = match std::str::from_utf8(held) {
        Ok(text) => return (TEXT, text.to_owned()),
        Err(error) if error.error_len().is_none() && rest != TextRest::None => error.valid_up_to(),
        Err(_) => held.len(),
    };
    let held = held.get(..cut).unwrap_or(held);
    match std::str::from_utf8(held) {
        Ok(text) => (TEXT, text.to_owned()),
        Err(_) => (BINARY, spell(held)),
    }
}

/// Why the bytes of a string that were read end where they do.
pub const fn rest_of(held: u64, wanted: u64, length: u64) -> TextRest {
    match (held == wanted, wanted == length) {
        (false, _) => TextRest::Unreadable,
        (true, false) => TextRest::Cut,
        (true, true) => TextRest::None,
    }
}
