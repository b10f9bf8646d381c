//! Text as class files write it: UTF-8 but for zero, which has two bytes, and characters beyond the first plane, which
//! are pairs of surrogates of three bytes each (JVM specification, 4.4.7).

use std::sync::Arc;

/// The text of some bytes; `None` where they are none, as names of the virtual machine's always are.
pub fn text(bytes: &[u8]) -> Option<Arc<str>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.into());
    }
    let units = units(bytes)?;
    Some(String::from_utf16_lossy(&units).into())
}

/// The units of UTF-16 that some bytes stand for.
fn units(mut bytes: &[u8]) -> Option<Vec<u16>> {
    let low = |byte: u8| (byte & 0xc0 == 0x80).then_some(u16::from(byte & 0x3f));
    let mut units = Vec::with_capacity(bytes.len());
    while let Some((&first, rest)) = bytes.split_first() {
        let (unit, rest) = match (first, rest) {
            (0..=0x7f, rest) => (u16::from(first), rest),
            (0xc0..=0xdf, &[second, ref rest @ ..]) => {
                (u16::from(first & 0x1f) << 6 | low(second)?, rest)
            }
            (0xe0..=0xef, &[second, third, ref rest @ ..]) => {
                (u16::from(first & 0xf) << 12 | low(second)? << 6 | low(third)?, rest)
            }
            _ => return None,
        };
        units.push(unit);
        bytes = rest;
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_class_files_is_read() {
        assert_eq!(text(b"main").as_deref(), Some("main"));
        assert_eq!(text("größe".as_bytes()).as_deref(), Some("größe"));
        assert_eq!(text(&[b'a', 0xc0, 0x80]).as_deref(), Some("a\0"));
        let pair = [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80];
        assert_eq!(text(&pair).as_deref(), Some("😀"));
        assert_eq!(text(&[0xff, b'a']), None);
        assert_eq!(text(&[0xe0, 0x80]), None, "it ends too early");
    }
}
