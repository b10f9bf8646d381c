//! Where a file is hurt, and how.

use std::ops::Range;

use crate::{random::Random, word::word};

/// Places that are hurt at once, at most.
const MAX_WOUNDS: usize = 12;

/// Hurts `bytes`: half of the time in one of `tender`, the ranges that matter most.
pub fn hurt(bytes: &mut Vec<u8>, tender: &[Range<usize>], random: &mut Random) {
    if random.below(4) == 0 {
        let end = place(bytes.len(), tender, random);
        bytes.truncate(end);
    }
    for _ in 0..random.below(MAX_WOUNDS) {
        let at = place(bytes.len(), tender, random);
        wound(bytes, at, random);
    }
}

fn place(len: usize, tender: &[Range<usize>], random: &mut Random) -> usize {
    if tender.is_empty() || random.below(4) == 0 {
        return random.below(len);
    }
    let range = random.of(tender);
    range.start + random.below(range.len())
}

fn wound(bytes: &mut [u8], at: usize, random: &mut Random) {
    let elsewhere = word_at(bytes, random.below(bytes.len()) & !7);
    let word = word(word_at(bytes, at), elsewhere, random);
    let width = *random.of(&[1, 2, 4, 8]);
    let aligned = at & !(width - 1);
    for (byte, new) in bytes.iter_mut().skip(aligned).zip(word.to_le_bytes()).take(width) {
        *byte = new;
    }
}

fn word_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).unwrap_or_default();
    word.iter().take(8).rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}
