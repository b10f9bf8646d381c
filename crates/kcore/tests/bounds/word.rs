//! What becomes of a word that is hurt.

use crate::random::Random;

/// Numbers that programs forget about.
const WORDS: [u64; 10] =
    [0, 1, 7, 0x7fff_ffff, 0xffff_ffff, 1 << 32, i64::MAX as u64, 1 << 63, u64::MAX - 7, u64::MAX];

/// What becomes of a word. What lies elsewhere may be an address that means something else here.
pub fn word(own: u64, elsewhere: u64, random: &mut Random) -> u64 {
    match random.below(4) {
        0 => *random.of(&WORDS),
        1 => random.any(),
        2 => elsewhere,
        _ => own ^ (1 << random.below(8)),
    }
}
