//! The header of a chunk.

use crate::words::Words;

/// Bytes of a header.
pub const HEADER: u64 = 16;
/// What stands where memory begins if the header lies further inside, before the header's address (`LargeChunkHeader`).
const MOVED: u64 = 0xcc6e_96b9_cc6e_96b9;
/// States (`asan_allocator.cpp`).
const FREE: u64 = 0;
const ALLOCATED: u64 = 2;
const QUARANTINED: u64 = 3;

/// Who did something to a block: a thread by AddressSanitizer's own number, and a stack by its number in the depot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Context {
    /// The thread.
    pub thread: u32,
    /// The stack.
    pub stack: u32,
}

impl Context {
    const fn of(word: u64) -> Self {
        Self { thread: (word >> 32) as u32, stack: word as u32 }
    }
}

/// What a header says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chunk {
    /// Nobody has it.
    Free,
    /// The program has it, or had it.
    Held {
        /// The first byte of the program's.
        at: u64,
        /// How many it asked for.
        requested: u64,
        /// Who allocated it.
        allocated: Context,
        /// Who freed it, if that has happened.
        freed: Option<Context>,
    },
    /// It is impossible.
    Torn {
        /// The word that is.
        at: u64,
        /// Why.
        why: &'static str,
    },
}

/// Reads the header of the chunk that has the memory from `start` up to `end`; `None` where memory lacks it.
pub fn read(words: &mut Words<'_>, start: u64, end: u64) -> Option<Chunk> {
    let first = words.word(start)?;
    if first != MOVED {
        return of_header(words, start, first, end);
    }
    let link = start.checked_add(8)?;
    let header = words.word(link)?;
    let is_within = header >= start.checked_add(HEADER)? && header.checked_add(HEADER)? <= end;
    if !is_within {
        let why = "what should lead to the header of the block leads elsewhere";
        return Some(Chunk::Torn { at: link, why });
    }
    let first = words.word(header)?;
    of_header(words, header, first, end)
}

fn of_header(words: &mut Words<'_>, header: u64, first: u64, end: u64) -> Option<Chunk> {
    let state = first & 0xff;
    if state == FREE {
        return Some(Chunk::Free);
    }
    let torn = |why| Some(Chunk::Torn { at: header, why });
    if state != ALLOCATED && state != QUARANTINED {
        return torn("the header of the block has an impossible state");
    }
    let at = header.checked_add(HEADER)?;
    let requested = ((first >> 16) & 0xffff) << 32 | first >> 32;
    if at.checked_add(requested).is_none_or(|last| last > end) {
        return torn("the size in the header of the block is impossible");
    }
    let allocated = Context::of(words.word(header.checked_add(8)?)?);
    let freed = match state {
        QUARANTINED => Some(Context::of(words.word(at)?)),
        _ => None,
    };
    Some(Chunk::Held { at, requested, allocated, freed })
}
