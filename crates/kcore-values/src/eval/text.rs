//! Text: arrays of characters, and what pointers to characters lead to.

use kcore_mem::{Addr, Endian};
use kcore_symbols::{Type, TypeKind};

use super::scalar;
use crate::{Content, Process, Text};

/// Bytes of text shown behind a pointer.
pub const MAX_BEHIND_POINTER: u64 = 255;

/// Bytes of text shown of an array, whatever the limits say.
const MAX_TEXT: u64 = 1 << 24;

/// Bytes of one character, if a type is one of characters; `ty` is a type behind aliases.
pub fn unit_of(ty: &Type) -> Option<u64> {
    match ty.kind() {
        TypeKind::Base(base) if scalar::is_character(ty, *base) => {
            ty.size().filter(|size| matches!(size, 1 | 2 | 4))
        }
        _ => None,
    }
}

/// The text from `at` up to a NUL, or up to `count` characters of `unit` bytes, of which at most `max`
/// are shown. `None` when it is no text: most of it is something else than characters that one prints,
/// or memory ends before the text does.
pub fn up_to_nul(
    process: &dyn Process,
    at: Addr,
    unit: u64,
    count: Option<u64>,
    max: u64,
) -> Option<Text> {
    let max = max.min(MAX_TEXT);
    let space = process.space();
    let wanted = count.unwrap_or(u64::MAX).min(max.saturating_add(1)).saturating_mul(unit);
    let bytes = space.read_held(at, wanted);
    let size = usize::try_from(unit).ok()?;
    let codes = units(&bytes, size, space.target().endian);
    let end = codes.iter().position(|code| *code == 0);
    if end.is_none() && (bytes.len() as u64) < wanted {
        return None;
    }
    let limit = usize::try_from(max).unwrap_or(usize::MAX);
    let end = end.unwrap_or(codes.len());
    let text = decoded(codes.get(..end.min(limit))?, size, end > limit)?;
    is_text(&text.text).then_some(text)
}

/// The `text` up to the first NUL in an array of `count` characters of one byte at `at`; all bytes of the array where
/// others than zeros follow that NUL. `None` where they do, and a part of the array is not there.
pub fn with_rest(process: &dyn Process, at: Addr, count: u64, text: Text) -> Option<Content> {
    let bytes = process.space().read_held(at, count.min(MAX_TEXT));
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
    let first = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    if text.is_cut || end <= first {
        return Some(Content::Text(text));
    }
    (bytes.len() as u64 == count).then(|| bytes.get(..end).map(|all| Content::Bytes(all.into())))?
}

/// The text of exactly these characters; what is none is replaced.
pub fn replaced(bytes: &[u8], unit: usize, endian: Endian) -> String {
    match unit {
        1 => String::from_utf8_lossy(bytes).into_owned(),
        _ => wide(&units(bytes, unit, endian), unit, || char::REPLACEMENT_CHARACTER),
    }
}

/// Whether at least half of the characters are ones that one prints, or the usual white space. Controls and bytes
/// of other encodings stand in texts; where they prevail, it is something else.
fn is_text(text: &str) -> bool {
    let is_printed = |c: &char| {
        !c.is_control() && *c != char::REPLACEMENT_CHARACTER
            || matches!(c, '\t' | '\n' | '\r' | '\x0b' | '\x0c')
    };
    let printed = text.chars().filter(is_printed).count();
    printed >= text.chars().count().saturating_sub(printed)
}

fn units(bytes: &[u8], unit: usize, endian: Endian) -> Vec<u32> {
    let fold = |value: u32, byte: &u8| (value << 8) | u32::from(*byte);
    let code = |bytes: &[u8]| match endian {
        Endian::Little => bytes.iter().rev().fold(0, fold),
        Endian::Big => bytes.iter().fold(0, fold),
    };
    bytes.chunks_exact(unit.clamp(1, 4)).map(code).collect()
}

/// The text of characters of `unit` bytes; `None` of wide ones that are none. The last character may be cut in half.
fn decoded(codes: &[u32], unit: usize, is_cut: bool) -> Option<Text> {
    if unit != 1 {
        let text = wide(codes, unit, || '\0');
        return (!text.contains('\0')).then(|| Text::of(text, is_cut));
    }
    let bytes: Vec<u8> = codes.iter().filter_map(|code| u8::try_from(*code).ok()).collect();
    let whole = match std::str::from_utf8(&bytes) {
        Err(error) if is_cut && error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    Some(Text::of_bytes(bytes.get(..whole)?, is_cut))
}

fn wide(codes: &[u32], unit: usize, replacement: impl Fn() -> char) -> String {
    if unit == 2 {
        let units = codes.iter().map(|code| u16::try_from(*code).unwrap_or(0));
        return char::decode_utf16(units).map(|c| c.unwrap_or_else(|_| replacement())).collect();
    }
    codes.iter().map(|code| char::from_u32(*code).unwrap_or_else(&replacement)).collect()
}
