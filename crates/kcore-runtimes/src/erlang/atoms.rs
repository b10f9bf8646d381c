//! Atoms (`atom.h`, `index.h`): a table of indices in segments, and their text.

use std::sync::Arc;

use kcore_mem::Addr;

use super::memory::Memory;

/// `IndexTable`: entries, and segments.
const ENTRIES: u64 = 116;
const SEGMENTS: u64 = 120;
/// Entries of a segment.
const SEGMENT: u64 = 1024;
/// `Atom`: length in bytes, and text.
const LENGTH: u64 = 24;
const TEXT: u64 = 32;
/// Bytes of an atom: 255 characters.
const MAX_BYTES: u64 = 1020;
/// The tag of an atom, and what is in front of it.
const TAG: u64 = 0x0b;
const TAG_MASK: u64 = 0x3f;
const TAG_BITS: u32 = 6;

/// Words that stand in quotes as atoms.
const RESERVED: &[&str] = &[
    "after", "and", "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr", "bxor", "case",
    "catch", "cond", "div", "else", "end", "fun", "if", "let", "maybe", "not", "of", "or",
    "orelse", "receive", "rem", "try", "when", "xor",
];

/// Whether a term is an atom.
pub const fn is_atom(term: u64) -> bool {
    term & TAG_MASK == TAG
}

/// The text of an atom, by the table at an address; `None` where the term is none, or the text cannot be read.
pub fn text(memory: &Memory<'_>, table: Addr, term: u64) -> Option<Arc<str>> {
    is_atom(term).then_some(())?;
    let index = term >> TAG_BITS;
    (index < u64::from(memory.uint32(table, ENTRIES)?)).then_some(())?;
    let segment = memory
        .pointer(memory.pointer(table, SEGMENTS)?, index.checked_div(SEGMENT)?.checked_mul(8)?)?;
    let atom = memory.pointer(segment, index.checked_rem(SEGMENT)?.checked_mul(8)?)?;
    let length = memory.uint(atom, LENGTH, 2).filter(|length| *length <= MAX_BYTES)?;
    let held = memory.space.read_held(memory.pointer(atom, TEXT)?, length);
    (held.len() as u64 == length).then_some(())?;
    Some(String::from_utf8(held).ok()?.into())
}

/// An atom as Erlang prints it.
pub fn quoted(text: &str) -> String {
    let mut characters = text.chars();
    let begins = characters.next().is_some_and(is_small);
    let is_plain = begins && characters.all(|it| it.is_alphanumeric() || it == '_' || it == '@');
    if is_plain && !RESERVED.contains(&text) {
        return text.to_owned();
    }
    format!("'{}'", escaped(text, '\''))
}

/// Characters as they stand between quotes.
pub fn escaped(text: &str, quote: char) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{1b}' => out.push_str("\\e"),
            '\u{7f}' => out.push_str("\\d"),
            '\\' => out.push_str("\\\\"),
            it if it == quote => out.extend(['\\', it]),
            it if it.is_control() => out.push_str(&format!("\\{:03o}", u32::from(it))),
            it => out.push(it),
        }
    }
    out
}

/// Whether an atom may begin with it without quotes.
fn is_small(character: char) -> bool {
    character.is_ascii_lowercase() || (('ß'..='ÿ').contains(&character) && character != '÷')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_stand_in_quotes_where_they_would_be_read_otherwise() {
        let quoted = |text| quoted(text);
        assert_eq!(quoted("ok"), "ok");
        assert_eq!(quoted("a_b@c1"), "a_b@c1");
        assert_eq!(quoted("Elixir.Enum"), "'Elixir.Enum'");
        assert_eq!(quoted("-go/1-fun-0-"), "'-go/1-fun-0-'");
        assert_eq!(quoted("end"), "'end'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's\n"), "'it\\'s\\n'");
        assert_eq!(quoted("été"), "été");
    }
}
