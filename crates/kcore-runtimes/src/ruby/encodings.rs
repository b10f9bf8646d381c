//! Encodings of strings, and bytes of them as `inspect` has them: `internal/encoding.h`, `string.c` (`rb_str_inspect`),
//! `enc/{shift_jis.h,euc_jp.c,utf_16be.c,utf_32be.c}`.
//!
//! The numbers are those that MRI has built in (`ENCINDEX_`), then those of `enc/encdb.h`, which 2.7 to 3.3 have alike as
//! far as they are used here.

use std::borrow::Cow;

use super::heap::Object;
use crate::TextRest;

/// Where flags have the number of an encoding, and how many bits that has.
const SHIFT: u32 = 22;
const MASK: u64 = 127;

/// How the bytes of a string are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// Each byte is a character: also what is no text.
    Bytes,
    /// Units of UTF-16.
    Utf16 { is_big: bool },
    /// Units of UTF-32.
    Utf32 { is_big: bool },
    /// Characters of one or two bytes.
    ShiftJis,
    /// Characters of one to three bytes.
    EucJp,
    /// One whose characters are not told apart, by its number.
    Other(u64),
}

impl Encoding {
    /// That of a string.
    pub const fn of(string: Object) -> Self {
        match string.flags >> SHIFT & MASK {
            1 | 9 => Self::Utf8,
            3 => Self::Utf16 { is_big: true },
            4 => Self::Utf16 { is_big: false },
            5 => Self::Utf32 { is_big: true },
            6 => Self::Utf32 { is_big: false },
            10 => Self::EucJp,
            11 | 39 => Self::ShiftJis,
            // ISO-8859, KOI8, those of Windows and of DOS.
            0 | 2 | 22..=38 | 40..=62 => Self::Bytes,
            number => Self::Other(number),
        }
    }

    /// What an encoding is called whose characters are not told apart.
    pub fn name(number: u64) -> Cow<'static, str> {
        const NAMES: [(u64, &str); 9] = [
            (7, "UTF-16"),
            (8, "UTF-32"),
            (12, "Big5"),
            (16, "CP949"),
            (17, "Emacs-Mule"),
            (18, "EUC-KR"),
            (19, "EUC-TW"),
            (20, "GB18030"),
            (21, "GBK"),
        ];
        match NAMES.iter().find(|(known, _)| *known == number) {
            Some((_, name)) => (*name).into(),
            None => format!("encoding {number}").into(),
        }
    }

    /// Bytes as characters of Unicode and as bytes that are none, of an encoding of Unicode.
    fn units(self, bytes: &[u8]) -> Option<Vec<Result<char, &[u8]>>> {
        Some(match self {
            Self::Utf16 { is_big } => utf16(bytes, is_big),
            Self::Utf32 { is_big } => utf32(bytes, is_big),
            _ => return None,
        })
    }
}

/// A string of UTF-16 or UTF-32: its text, or where bytes are none what `inspect` has. A character that a limit cuts in
/// two is left out.
pub fn wide(encoding: Encoding, bytes: &[u8], rest: TextRest) -> Option<Result<String, String>> {
    let mut units = encoding.units(bytes)?;
    if rest != TextRest::None && units.last().is_some_and(Result::is_err) {
        units.pop();
    }
    let text: Result<String, _> = units.iter().copied().collect();
    Some(text.map_err(|_| {
        let mut spelled = String::new();
        for unit in &units {
            match unit {
                Ok(sign) => push_sign(&mut spelled, *sign),
                Err(bytes) => push_bytes(&mut spelled, bytes),
            }
        }
        spelled
    }))
}

fn utf16(bytes: &[u8], is_big: bool) -> Vec<Result<char, &[u8]>> {
    let (all, odd) = bytes.as_chunks::<2>();
    let unit = |bytes: &[u8; 2]| match is_big {
        true => u16::from_be_bytes(*bytes),
        false => u16::from_le_bytes(*bytes),
    };
    let mut units = Vec::new();
    let mut place = all.iter();
    for sign in char::decode_utf16(all.iter().map(unit)) {
        let own = place.next().map(<[u8; 2]>::as_slice);
        if sign.as_ref().is_ok_and(|sign| sign.len_utf16() == 2) {
            place.next();
        }
        units.push(sign.map_err(|_| own.unwrap_or_default()));
    }
    units.extend((!odd.is_empty()).then_some(Err(odd)));
    units
}

fn utf32(bytes: &[u8], is_big: bool) -> Vec<Result<char, &[u8]>> {
    let (all, odd) = bytes.as_chunks::<4>();
    let unit = |bytes: &[u8; 4]| match is_big {
        true => u32::from_be_bytes(*bytes),
        false => u32::from_le_bytes(*bytes),
    };
    let units = all.iter().map(|own| char::from_u32(unit(own)).ok_or(own.as_slice()));
    units.chain((!odd.is_empty()).then_some(Err(odd))).collect()
}

/// Bytes of an encoding of Japan between double quotes: `\x{93FA}` for a character of several.
pub fn japanese(encoding: Encoding, bytes: &[u8], rest: TextRest) -> String {
    let mut spelled = String::new();
    let mut left = bytes;
    while let Some(first) = left.first() {
        let length = match encoding {
            Encoding::EucJp => euc_length(left),
            _ => shift_length(left),
        };
        let is_cut = length.is_none() && rest != TextRest::None && left.len() < 3;
        let (own, others) = left.split_at_checked(length.unwrap_or(1)).unwrap_or((left, &[]));
        match own {
            _ if is_cut && !first.is_ascii() => break,
            [byte] if byte.is_ascii() => push_ascii(&mut spelled, *byte),
            [byte] => push_bytes(&mut spelled, &[*byte]),
            several => {
                let digits: String = several.iter().map(|byte| format!("{byte:02X}")).collect();
                spelled.push_str(&format!("\\x{{{digits}}}"));
            }
        }
        left = others;
    }
    spelled
}

/// Bytes of the first character; `None` where they are none.
fn euc_length(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [..=0x7f, ..] => Some(1),
        [0x8f, 0xa1..=0xfe, 0xa1..=0xfe, ..] => Some(3),
        [0x8e | 0xa1..=0xfe, 0xa1..=0xfe, ..] => Some(2),
        _ => None,
    }
}

fn shift_length(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [..=0x7f | 0xa1..=0xdf, ..] => Some(1),
        [0x81..=0x9f | 0xe0..=0xfc, 0x40..=0x7e | 0x80..=0xfc, ..] => Some(2),
        _ => None,
    }
}

/// Bytes of UTF-8 between double quotes; what is no character has its bytes by number.
pub fn utf8(bytes: &[u8]) -> String {
    let mut spelled = String::new();
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|sign| push_sign(&mut spelled, sign));
        push_bytes(&mut spelled, chunk.invalid());
    }
    spelled
}

/// Bytes between double quotes, those that are not of ASCII by number.
pub fn plain(bytes: &[u8]) -> String {
    let mut spelled = String::new();
    for byte in bytes {
        match byte.is_ascii() {
            true => push_ascii(&mut spelled, *byte),
            false => push_bytes(&mut spelled, &[*byte]),
        }
    }
    spelled
}

/// A character of Unicode.
fn push_sign(spelled: &mut String, sign: char) {
    match short(sign) {
        Some(escape) => spelled.push_str(escape),
        None if sign.is_control() => spelled.push_str(&format!("\\u{:04X}", u32::from(sign))),
        None => spelled.push(sign),
    }
}

/// A byte of an encoding that is not of Unicode.
fn push_ascii(spelled: &mut String, byte: u8) {
    match short(char::from(byte)) {
        Some(escape) => spelled.push_str(escape),
        None if byte.is_ascii_control() => push_bytes(spelled, &[byte]),
        None => spelled.push(char::from(byte)),
    }
}

fn push_bytes(spelled: &mut String, bytes: &[u8]) {
    bytes.iter().for_each(|byte| spelled.push_str(&format!("\\x{byte:02X}")));
}

const fn short(sign: char) -> Option<&'static str> {
    Some(match sign {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\x0c' => "\\f",
        '\x0b' => "\\v",
        '\x08' => "\\b",
        '\x07' => "\\a",
        '\x1b' => "\\e",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // What `inspect` of 3.1 says, where all characters of Unicode may be printed.

    #[test]
    fn bytes_that_are_no_text_are_spelled_as_ruby_does() {
        assert_eq!(utf8(b"\xff\xfea\xc3\xa9"), "\\xFF\\xFEa\u{e9}");
        assert_eq!(utf8(b"\x01\xff\xc2\x85\x7f"), "\\u0001\\xFF\\u0085\\u007F");
        assert_eq!(plain(b"\xff\xc3\xa9\0\x7f\x1b\""), "\\xFF\\xC3\\xA9\\x00\\x7F\\e\\\"");
    }

    #[test]
    fn characters_of_wide_units_are_told() {
        let little = Encoding::Utf16 { is_big: false };
        let big = Encoding::Utf16 { is_big: true };
        let whole = |encoding, bytes| wide(encoding, bytes, TextRest::None).expect("wide");
        assert_eq!(whole(little, b"\xe9\0\x3d\xd8\0\xde"), Ok("\u{e9}\u{1f600}".to_owned()));
        assert_eq!(whole(big, b"a\xd8"), Ok("\u{61d8}".to_owned()));
        assert_eq!(whole(little, b"\0\xd8a\0\x01\0"), Err("\\x00\\xD8a\\u0001".to_owned()));
        assert_eq!(whole(little, b"a\0b"), Err("a\\x62".to_owned()));
        let wider = Encoding::Utf32 { is_big: false };
        assert_eq!(whole(wider, b"a\0\0\0"), Ok("a".to_owned()));
        assert_eq!(whole(wider, b"\0\0\x11\0b"), Err("\\x00\\x00\\x11\\x00\\x62".to_owned()));
        // The first half of a character that a limit cuts.
        assert_eq!(wide(little, b"a\0\x3d\xd8", TextRest::Cut), Some(Ok("a".to_owned())));
        assert_eq!(wide(Encoding::Utf8, b"a", TextRest::None), None);
    }

    #[test]
    fn characters_of_several_bytes_are_told_from_others() {
        let shift = |bytes| japanese(Encoding::ShiftJis, bytes, TextRest::None);
        assert_eq!(shift(b"\x93\xfa\x96\x7b\xb1a\x7f"), "\\x{93FA}\\x{967B}\\xB1a\\x7F");
        assert_eq!(shift(b"\xff\xfe\xe6\x97\xa5"), "\\xFF\\xFE\\x{E697}\\xA5");
        let euc = |bytes| japanese(Encoding::EucJp, bytes, TextRest::None);
        assert_eq!(euc(b"\xc6\xfc\xcb\xdca\x01"), "\\x{C6FC}\\x{CBDC}a\\x01");
        let odd = b"\x8fa\x8f\xb0\xa1\x8e\xb1\xa1";
        assert_eq!(euc(odd), "\\x8Fa\\x{8FB0A1}\\x{8EB1}\\xA1");
        assert_eq!(japanese(Encoding::EucJp, b"a\xc6", TextRest::Cut), "a");
    }
}
