//! How functions begin: `addi sp, sp, -n`, stores to the stack, `addi s0, sp, n`, each long or short.

use crate::arch::described::Effect;

const SP: u32 = 2;
const S0: u16 = 8;

/// The effect of the first instruction, of 64 bits.
pub fn decode64(code: &[u8], _is_big: bool) -> Option<(Effect, usize)> {
    decode(code, true)
}

/// The effect of the first instruction, of 32 bits.
pub fn decode32(code: &[u8], _is_big: bool) -> Option<(Effect, usize)> {
    decode(code, false)
}

fn decode(code: &[u8], is_wide: bool) -> Option<(Effect, usize)> {
    let half = u16::from_le_bytes(*code.first_chunk()?);
    if half & 3 != 3 {
        return Some((short(u32::from(half), is_wide), 2));
    }
    Some((long(u32::from_le_bytes(*code.first_chunk()?), is_wide), 4))
}

fn long(word: u32, is_wide: bool) -> Effect {
    let store = if is_wide { 0x0001_3023 } else { 0x0001_2023 };
    let immediate = i64::from(word.cast_signed() >> 20);
    match word {
        0x0000_8067 => Effect::Return,
        _ if word & 0x000f_ffff == 0x0001_0113 => Effect::Move(immediate),
        _ if word & 0x000f_ffff == 0x0001_0413 => Effect::SetFrame(S0, immediate),
        // sd or sw to the stack
        _ if word & 0x000f_f07f == store => {
            let high = i64::from(word.cast_signed() >> 25);
            let offset = high.wrapping_mul(32).wrapping_add(i64::from((word >> 7) & 31));
            Effect::Store(((word >> 20) & 31) as u16, offset)
        }
        _ => Effect::None,
    }
}

fn short(half: u32, is_wide: bool) -> Effect {
    let bits = |from: u32, count: u32, to: u32| {
        let mask = 1_u32.wrapping_shl(count).wrapping_sub(1);
        i64::from((half.wrapping_shr(from) & mask).wrapping_shl(to))
    };
    let sign = |weight: i64| if half & 0x1000 != 0 { weight.wrapping_neg() } else { 0 };
    let stored = ((half >> 2) & 31) as u16;
    let rd = (half >> 7) & 31;
    match (half & 3, half >> 13) {
        // ret
        _ if half == 0x8082 => Effect::Return,
        // c.addi sp, n
        (1, 0) if rd == SP => Effect::Move(sign(32).wrapping_add(bits(2, 5, 0))),
        // c.addi16sp n
        (1, 3) if rd == SP => {
            let low = bits(6, 1, 4) | bits(5, 1, 6) | bits(3, 2, 7) | bits(2, 1, 5);
            Effect::Move(sign(512).wrapping_add(low))
        }
        // c.addi4spn s0, n
        (0, 0) if (half >> 2) & 7 == 0 => {
            let by = bits(11, 2, 4) | bits(7, 4, 6) | bits(6, 1, 2) | bits(5, 1, 3);
            if by == 0 { Effect::None } else { Effect::SetFrame(S0, by) }
        }
        // c.sdsp and c.swsp
        (2, 7) if is_wide => Effect::Store(stored, bits(10, 3, 3) | bits(7, 3, 6)),
        (2, 6) if !is_wide => Effect::Store(stored, bits(9, 4, 2) | bits(7, 2, 6)),
        _ => Effect::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU as 2.40 encodes them.
    #[test]
    fn each_way_to_begin_a_function_is_known() {
        let of = |code: &[u8]| decode64(code, false);
        assert_eq!(of(&[0x01, 0x11]), Some((Effect::Move(-32), 2)), "addi sp,sp,-32");
        assert_eq!(of(&[0x39, 0x71]), Some((Effect::Move(-64), 2)), "addi sp,sp,-64");
        assert_eq!(
            of(&[0x13, 0x01, 0x01, 0x81]),
            Some((Effect::Move(-2032), 4)),
            "addi sp,sp,-2032"
        );
        assert_eq!(of(&[0x06, 0xec]), Some((Effect::Store(1, 24), 2)), "sd ra,24(sp)");
        assert_eq!(of(&[0x22, 0xe8]), Some((Effect::Store(8, 16), 2)), "sd s0,16(sp)");
        assert_eq!(of(&[0x00, 0x10]), Some((Effect::SetFrame(8, 32), 2)), "addi s0,sp,32");
        assert_eq!(
            of(&[0x23, 0x34, 0x11, 0x7e]),
            Some((Effect::Store(1, 2024), 4)),
            "sd ra,2024(sp)"
        );
        assert_eq!(of(&[0x13]), None);
    }
}
