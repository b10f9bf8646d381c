//! The header of a slot in use, which tells what the program asked for.

use super::group::{Group, HEADER, UNIT};
use crate::words::Words;

/// In the header: the low bits are the slot's index, the others what is left behind what was asked for.
const INDEX: u8 = 31;
/// What is left stands at the slot's end.
const IN_FOOTER: u64 = 5;
/// The header says that a group lies in the slot.
const NESTED: u64 = 6;
/// The pointer that the program has lies further inside (`enframe` of `src/malloc/mallocng/meta.h`).
const MOVED: u8 = 0xe0;

/// What a header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotHeader {
    /// The program has these bytes.
    Used {
        /// Where.
        at: u64,
        /// How many it asked for.
        requested: u64,
    },
    /// Another group lies in the slot.
    Group,
    /// It is impossible.
    Torn {
        /// The word that is.
        at: u64,
        /// Why.
        why: &'static str,
    },
}

fn byte(words: &mut Words<'_>, at: u64) -> Option<u8> {
    words.run(at).first().copied()
}

fn short(words: &mut Words<'_>, at: u64) -> Option<u64> {
    let (low, high) = (byte(words, at)?, byte(words, at.checked_add(1)?)?);
    Some(u64::from(u16::from_le_bytes([low, high])))
}

/// Reads the header of a slot that is not free; `None` where memory lacks it.
pub fn read(words: &mut Words<'_>, group: &Group, index: u64) -> Option<SlotHeader> {
    let start = group.slot(index);
    let at = match byte(words, start.checked_sub(3)?)? {
        MOVED => start.checked_add(short(words, start.checked_sub(2)?)?.checked_mul(UNIT)?)?,
        _ => start,
    };
    let end = start.checked_add(group.stride)?.checked_sub(HEADER)?;
    let header = byte(words, at.checked_sub(3)?)?;
    let torn = |why| Some(SlotHeader::Torn { at: at.saturating_sub(HEADER), why });
    if u64::from(header >> 5) == NESTED {
        return Some(SlotHeader::Group);
    }
    if u64::from(header & INDEX) != index {
        return torn("the header of the slot has the number of another one");
    }
    let far = byte(words, at.checked_sub(4)?)? != 0;
    let offset = match far {
        true => u64::from(words.half(at.checked_sub(8)?)?),
        false => short(words, at.checked_sub(2)?)?,
    };
    if at.checked_sub(group.storage()) != offset.checked_mul(UNIT) {
        return torn("the header of the slot does not lead to its group");
    }
    let reserved = match u64::from(header >> 5) {
        IN_FOOTER => u64::from(words.half(end.checked_sub(4)?)?),
        reserved => reserved,
    };
    let Some(limit) = end.checked_sub(reserved).filter(|limit| *limit >= at) else {
        return torn("the size in the header of the slot is impossible");
    };
    // `get_nominal_size` of meta.h: what follows the last byte asked for is 0, and so is what follows the slot.
    for guard in [limit, end] {
        if byte(words, guard)? != 0 {
            let why = "what lies behind the block was written over";
            return Some(SlotHeader::Torn { at: guard, why });
        }
    }
    Some(SlotHeader::Used { at, requested: limit.wrapping_sub(at) })
}
