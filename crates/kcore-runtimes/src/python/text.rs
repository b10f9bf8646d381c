//! Text: `Include/cpython/unicodeobject.h`.

use super::heap::{Heap, Object, STR};

/// Characters of a name, at most.
const MAX_NAME: u64 = 4096;

/// Where the characters of a `str` lie.
struct Characters {
    at: kcore_mem::Addr,
    /// Bytes of each.
    width: u64,
    count: u64,
}

/// A text, or the beginning of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// What was read of it, with U+FFFD in the place of each lone surrogate.
    pub text: String,
    /// The lone surrogates of that, by their place among its characters: file names that are no UTF-8 have some.
    pub lone: Vec<(usize, u16)>,
    /// How many characters it has.
    pub length: u64,
    /// Whether all that was asked for could be read.
    pub is_whole: bool,
}

impl Heap<'_> {
    fn characters(&self, object: Object) -> Option<Characters> {
        object.is(STR).then_some(())?;
        let count = self.word(object.at, 16)?;
        let state = self.uint(object.at, 32, 4)?;
        let (is_compact, is_ascii) = (state & 1 << 5 != 0, state & 1 << 6 != 0);
        let width = match state >> 2 & 7 {
            width @ (1 | 2 | 4) => width,
            _ => return None,
        };
        let objects = &self.layout.objects;
        let at = match (is_compact, is_ascii) {
            (true, true) => object.at.checked_add(objects.ascii)?,
            (true, false) => object.at.checked_add(objects.compact)?,
            (false, _) => kcore_mem::Addr::new(self.word(object.at, objects.compact)?),
        };
        Some(Characters { at, width, count })
    }

    /// Bytes of a `str` with the characters that lie behind it, and the zero that ends them.
    pub fn text_size(&self, object: Object) -> Option<u64> {
        let characters = self.characters(object)?;
        let inside = characters.at.get().wrapping_sub(object.at.get());
        let with_end = characters.count.checked_add(1)?.checked_mul(characters.width)?;
        let basic = self.word(object.class, self.layout.types.basic_size)?;
        match inside == self.layout.objects.ascii || inside == self.layout.objects.compact {
            true => inside.checked_add(with_end),
            false => Some(basic),
        }
    }

    /// The text of a `str`, at most `most` characters.
    pub fn text(&self, object: Object, most: u64) -> Option<Text> {
        let characters = self.characters(object)?;
        let wanted = characters.count.min(most);
        let bytes = self.space.read_held(characters.at, wanted.checked_mul(characters.width)?);
        let is_whole = bytes.len() as u64 == wanted.checked_mul(characters.width)?;
        Some(Text { is_whole, ..of_units(&bytes, characters.width, characters.count) })
    }

    /// A name: a `str` that is there as a whole, and not absurdly long.
    pub fn name(&self, object: Object) -> Option<String> {
        let text = self.text(object, MAX_NAME)?;
        (text.is_whole && text.length <= MAX_NAME).then_some(text.text)
    }

    /// Whether a `str` says this.
    pub fn is_text(&self, object: Object, wanted: &str) -> bool {
        let is_as_long = self
            .characters(object)
            .is_some_and(|characters| characters.count == wanted.chars().count() as u64);
        is_as_long && self.name(object).is_some_and(|name| name == wanted)
    }
}

/// The text of characters of `width` bytes, of `length` that there are.
pub fn of_units(bytes: &[u8], width: u64, length: u64) -> Text {
    let lone = if width == 1 { Vec::new() } else { lone(bytes, width) };
    Text { text: decode(bytes, width), lone, length, is_whole: true }
}

/// The surrogates among characters, each of which is whole: all of them are lone ones.
fn lone(bytes: &[u8], width: u64) -> Vec<(usize, u16)> {
    let units: Vec<u32> = match width {
        2 => bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit).into()).collect(),
        _ => bytes.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect(),
    };
    let lone = units.into_iter().enumerate().filter_map(|(place, unit)| {
        let unit = u16::try_from(unit).ok()?;
        matches!(unit, 0xd800..=0xdfff).then_some((place, unit))
    });
    lone.collect()
}

fn decode(bytes: &[u8], width: u64) -> String {
    match width {
        1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
        2 => {
            let units =
                bytes.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit).into());
            units.map(character).collect()
        }
        _ => {
            let units = bytes.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit));
            units.map(character).collect()
        }
    }
}

fn character(unit: u32) -> char {
    char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_told_apart_from_what_stands_for_them() {
        let text = of_units(&[0x61, 0, 0xfb, 0xdc, 0xfd, 0xff], 2, 3);
        assert_eq!((text.text.as_str(), text.lone), ("a\u{fffd}\u{fffd}", vec![(1, 0xdcfb)]));
    }

    #[test]
    fn characters_have_one_of_three_widths() {
        assert_eq!(decode(b"gr\xfc\xdf", 1), "grüß");
        assert_eq!(decode(&[0x92, 0x21, 0x00, 0xd8], 2), "→\u{fffd}");
        assert_eq!(decode(&[0xb3, 0xd4, 0x01, 0x00, 1, 2], 4), "𝒳");
    }
}
