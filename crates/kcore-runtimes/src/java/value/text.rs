//! Texts, of bytes or of units of 16 bits (`java.lang.String` since JDK 9).

use std::borrow::Cow;

use kcore_mem::Addr;

use crate::java::classes::Objects;
use crate::{ScriptNode, ScriptScalar, TextRest};

/// A `java.lang.String`, or the beginning of it.
pub(super) fn of_string(objects: &Objects<'_>, at: Addr, most: u64) -> ScriptNode {
    read(objects, at, most).unwrap_or_else(|| {
        let why = Cow::Borrowed("its characters cannot be read");
        ScriptNode::scalar("string", ScriptScalar::Note(why))
    })
}

fn read(objects: &Objects<'_>, at: Addr, most: u64) -> Option<ScriptNode> {
    let (scalar, length) = of_characters(objects, at, None, most)?;
    Some(ScriptNode { length: Some(length), ..ScriptNode::scalar("string", scalar) })
}

/// The characters of an object with an array of them in `value`, of which so many count, or all; and how many these are.
pub(super) fn of_characters(
    objects: &Objects<'_>,
    at: Addr,
    count: Option<u64>,
    most: u64,
) -> Option<(ScriptScalar, u64)> {
    let array = objects.reference(at, "value")?;
    let width = if objects.number(at, "coder", 1)? == 0 { 1_u64 } else { 2 };
    let room = objects.oops.length(objects.memory, array)?.checked_div(width)?;
    let length = count.unwrap_or(room);
    (length <= room).then_some(())?;
    let wanted = length.min(most).checked_mul(width)?;
    let held = objects.memory.0.read_held(objects.oops.bytes(array)?, wanted);
    let rest = match (held.len() as u64 == wanted, length > most) {
        (false, _) => TextRest::Unreadable,
        (_, true) => TextRest::Cut,
        _ => TextRest::None,
    };
    let scalar = if width == 1 { of_bytes(&held, rest) } else { of_pairs(&held, rest) };
    Some((scalar, length))
}

/// Latin-1.
fn of_bytes(bytes: &[u8], rest: TextRest) -> ScriptScalar {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    ScriptScalar::Text { text: text.into(), rest }
}

fn of_pairs(bytes: &[u8], rest: TextRest) -> ScriptScalar {
    let units = bytes.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair));
    let read: Vec<_> = char::decode_utf16(units).collect();
    match read.iter().cloned().collect::<Result<String, _>>() {
        Ok(text) => ScriptScalar::Text { text: text.into(), rest },
        Err(_) => {
            let point = |it: &Result<char, std::char::DecodeUtf16Error>| match it {
                Ok(character) => u32::from(*character),
                Err(half) => u32::from(half.unpaired_surrogate()),
            };
            ScriptScalar::Points { points: read.iter().map(point).collect(), rest }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_of_bytes_or_pairs() {
        let rest = TextRest::None;
        let text = |text: &str| ScriptScalar::Text { text: text.into(), rest };
        assert_eq!(of_bytes(b"a\xe9", rest), text("aé"));
        assert_eq!(of_pairs(&[0x3d, 0xd8, 0x00, 0xde], rest), text("😀"));
        let points = ScriptScalar::Points { points: [0x61, 0xd83d].into(), rest };
        assert_eq!(of_pairs(&[0x61, 0, 0x3d, 0xd8], rest), points);
    }
}
