//! How functions begin, in Arm and in Thumb code.

use crate::arch::described::Effect;

const SP: u32 = 13;

/// The effect of the first instruction of Arm code.
pub fn arm(code: &[u8], _is_big: bool) -> Option<(Effect, usize)> {
    Some((arm_effect(u32::from_le_bytes(*code.first_chunk()?)), 4))
}

fn arm_effect(word: u32) -> Effect {
    let register = ((word >> 12) & 15) as u16;
    let rotated = || {
        let by = ((word >> 8) & 15).wrapping_mul(2);
        i64::from((word & 0xff).rotate_right(by))
    };
    match word {
        // bx lr, pop {.., pc}
        _ if word == 0xe12f_ff1e || word & 0xffff_8000 == 0xe8bd_8000 => Effect::Return,
        // push {..}, and str rN, [sp, #-4]!
        _ if word & 0xffff_0000 == 0xe92d_0000 => Effect::PushMany(word & 0xffff),
        _ if word & 0xffff_0fff == 0xe52d_0004 => Effect::Push(register, -4),
        _ if word & 0xffff_f000 == 0xe24d_d000 => Effect::Move(rotated().wrapping_neg()),
        // add r11, sp, #n and mov r11, sp
        _ if word & 0xffff_0000 == 0xe28d_0000 => Effect::SetFrame(register, rotated()),
        _ if word & 0xffff_0fff == 0xe1a0_000d => Effect::SetFrame(register, 0),
        // vpush {dN..}
        _ if word & 0xffbf_0f00 == 0xed2d_0b00 => Effect::Move(words(word & 0xff).wrapping_neg()),
        // str rN, [sp, #n]
        _ if word & 0xffff_0000 == 0xe58d_0000 => Effect::Store(register, i64::from(word & 0xfff)),
        _ => Effect::None,
    }
}

/// The effect of the first instruction of Thumb code.
pub fn thumb(code: &[u8], _is_big: bool) -> Option<(Effect, usize)> {
    let first = u32::from(u16::from_le_bytes(*code.first_chunk()?));
    if first >> 11 < 0x1d {
        return Some((thumb_short(first), 2));
    }
    let [.., low, high]: [u8; 4] = *code.first_chunk()?;
    Some((thumb_long(first, u32::from(u16::from_le_bytes([low, high]))), 4))
}

fn thumb_short(half: u32) -> Effect {
    let register = ((half >> 8) & 7) as u16;
    match half {
        // bx lr, pop {.., pc}
        _ if half == 0x4770 || half & 0xff00 == 0xbd00 => Effect::Return,
        // push {.., lr}
        _ if half & 0xfe00 == 0xb400 => {
            Effect::PushMany((half & 0xff) | if half & 0x100 != 0 { 1 << 14 } else { 0 })
        }
        _ if half & 0xff80 == 0xb080 => Effect::Move(words(half & 0x7f).wrapping_neg()),
        // add rN, sp, #n; mov rN, sp
        _ if half & 0xf800 == 0xa800 => Effect::SetFrame(register, words(half & 0xff)),
        _ if half & 0xff78 == 0x4668 => {
            Effect::SetFrame(((half & 7) | ((half >> 4) & 8)) as u16, 0)
        }
        // str rN, [sp, #n]
        _ if half & 0xf800 == 0x9000 => Effect::Store(register, words(half & 0xff)),
        _ => Effect::None,
    }
}

fn thumb_long(first: u32, second: u32) -> Effect {
    let bits = ((first & 0x400) << 1) | ((second >> 4) & 0x700) | (second & 0xff);
    let destination = (second >> 8) & 15;
    match first {
        // pop.w {.., pc}, ldr pc, [sp], #4
        0xe8bd if second & 0x8000 != 0 => Effect::Return,
        0xf85d if second & 0xf000 == 0xf000 => Effect::Return,
        // push.w {..}; str.w rN, [sp, #-4]!
        0xe92d => Effect::PushMany(second & 0xdfff),
        0xf84d if second & 0xfff == 0xd04 => Effect::Push((second >> 12) as u16, -4),
        // sub.w and subw sp, sp, #n
        _ if first & 0xfbff == 0xf1ad && destination == SP => {
            Effect::Move(expanded(bits).wrapping_neg())
        }
        _ if first & 0xfbff == 0xf2ad && destination == SP => {
            Effect::Move(i64::from(bits).wrapping_neg())
        }
        // add.w rN, sp, #n
        _ if first & 0xfbff == 0xf10d => Effect::SetFrame(destination as u16, expanded(bits)),
        // vpush {dN..}
        _ if first & 0xffbf == 0xed2d && second & 0xf00 == 0xb00 => {
            Effect::Move(words(second & 0xff).wrapping_neg())
        }
        // strd rN, rM, [sp, #-n]!
        0xe96d => Effect::Move(words(second & 0xff).wrapping_neg()),
        _ => Effect::None,
    }
}

fn words(count: u32) -> i64 {
    i64::from(count).wrapping_mul(4)
}

/// A constant of Thumb code: eight bits in one of four patterns, or shifted (`ThumbExpandImm`).
fn expanded(bits: u32) -> i64 {
    let byte = bits & 0xff;
    i64::from(match bits >> 8 {
        0 => byte,
        1 => byte | (byte << 16),
        2 => (byte << 8) | (byte << 24),
        3 => byte.wrapping_mul(0x0101_0101),
        _ => (0x80 | (bits & 0x7f)).rotate_right(bits >> 7),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU as 2.40 encodes them.
    #[test]
    fn each_way_to_begin_a_function_is_known() {
        assert_eq!(
            arm_effect(0xe92d_4800),
            Effect::PushMany((1 << 11) | (1 << 14)),
            "push {{fp, lr}}"
        );
        assert_eq!(arm_effect(0xe52d_e004), Effect::Push(14, -4), "push {{lr}}");
        assert_eq!(arm_effect(0xe24d_d010), Effect::Move(-16), "sub sp, sp, #16");
        assert_eq!(arm_effect(0xe24d_db01), Effect::Move(-1024), "sub sp, sp, #1024");
        assert_eq!(arm_effect(0xe28d_b004), Effect::SetFrame(11, 4), "add fp, sp, #4");
        let of = |halves: [u16; 2]| thumb(&halves.map(u16::to_le_bytes).concat(), false);
        assert_eq!(
            of([0xb580, 0]),
            Some((Effect::PushMany((1 << 7) | (1 << 14)), 2)),
            "push {{r7, lr}}"
        );
        assert_eq!(of([0xb082, 0]), Some((Effect::Move(-8), 2)), "sub sp, #8");
        assert_eq!(of([0xaf00, 0]), Some((Effect::SetFrame(7, 0), 2)), "add r7, sp, #0");
        assert_eq!(
            of([0xe92d, 0x41f0]),
            Some((Effect::PushMany(0x41f0), 4)),
            "push.w {{r4-r8, lr}}"
        );
        assert_eq!(of([0xf5ad, 0x7d00]), Some((Effect::Move(-512), 4)), "sub.w sp, sp, #512");
        assert_eq!(of([0xf84d, 0xed04]), Some((Effect::Push(14, -4), 4)), "str.w lr, [sp, #-4]!");
    }
}
