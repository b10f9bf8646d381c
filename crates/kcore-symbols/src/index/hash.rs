//! The hashes of names. They are written to files, and so are not those of a library that may change
//! them.

/// Eight bytes of a word are taken at a time, since words make up most of what is hashed.
const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of two in this order.
pub const fn mix(first: u64, second: u64) -> u64 {
    (first.rotate_left(26) ^ second).wrapping_mul(FACTOR)
}

/// The hash of a word.
pub fn of_word(word: &[u8]) -> u64 {
    let (eights, rest) = word.as_chunks::<8>();
    let start = SEED ^ word.len() as u64;
    let hash = eights.iter().fold(start, |hash, eight| mix(hash, u64::from_le_bytes(*eight)));
    mix(hash, rest.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}

/// The hash of a sign.
pub fn of_sign(sign: char) -> u64 {
    mix(SEED, u64::from(u32::from(sign)))
}

/// A hash in 32 bits. The high ones are the better mixed.
pub const fn short(hash: u64) -> u32 {
    (hash >> 32) as u32
}
