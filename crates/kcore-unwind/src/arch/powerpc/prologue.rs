//! How functions begin: `mflr r0`, stores to the stack, and `stdu` or `stwu`, which makes the frame.

use crate::arch::described::Effect;

/// The link register, as kcore numbers it.
const LINK: u16 = 32;
const SP: u32 = 1;

/// The effect of the first instruction.
pub fn decode(code: &[u8], is_big: bool) -> Option<(Effect, usize)> {
    let bytes = *code.first_chunk()?;
    let word = if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
    Some((effect(word), 4))
}

fn effect(word: u32) -> Effect {
    let displacement = i64::from((word << 16).cast_signed() >> 16);
    let (register, base) = ((word >> 21) & 31, (word >> 16) & 31);
    match (word >> 26, word & 3) {
        // blr
        _ if word == 0x4e80_0020 => Effect::Return,
        // mr r31, r1
        _ if word == 0x7c3f_0b78 => Effect::SetFrame(31, 0),
        _ if base != SP => Effect::None,
        // stdu and stwu of r1
        (62, 1) if register == SP => Effect::Move(displacement & !3),
        (37, _) if register == SP => Effect::Move(displacement),
        // std and stw; r0 is what the link register was moved to.
        (62, 0) | (36, _) if register == 0 => Effect::Store(LINK, displacement),
        (62, 0) | (36, _) => Effect::Store(register as u16, displacement),
        _ => Effect::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU as 2.40 encodes them.
    #[test]
    fn each_way_to_begin_a_function_is_known() {
        assert_eq!(effect(0xf801_0010), Effect::Store(LINK, 16), "std r0,16(r1)");
        assert_eq!(effect(0xfbe1_fff8), Effect::Store(31, -8), "std r31,-8(r1)");
        assert_eq!(effect(0xf821_ffc1), Effect::Move(-64), "stdu r1,-64(r1)");
        assert_eq!(effect(0x9421_ffe0), Effect::Move(-32), "stwu r1,-32(r1)");
        assert_eq!(effect(0x9001_0024), Effect::Store(LINK, 36), "stw r0,36(r1)");
        assert_eq!(effect(0x7c08_02a6), Effect::None, "mflr r0");
        let little = [0xc1, 0xff, 0x21, 0xf8];
        assert_eq!(decode(&little, false), Some((Effect::Move(-64), 4)));
    }
}
