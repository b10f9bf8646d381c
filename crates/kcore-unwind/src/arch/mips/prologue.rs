//! How functions begin: `addiu sp, sp, -n`, stores to the stack, `move s8, sp`. MIPS has no chain of frames, and its C
//! library has no unwind information for most functions.

use crate::arch::described::Effect;

const SP: u32 = 29;

/// The effect of the first instruction.
pub fn decode(code: &[u8], is_big: bool) -> Option<(Effect, usize)> {
    let bytes = *code.first_chunk()?;
    let word = if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
    // The instruction behind a jump is run before it.
    Some(if word == 0x03e0_0008 { (Effect::Return, 8) } else { (effect(word), 4) })
}

fn effect(word: u32) -> Effect {
    let immediate = i64::from((word << 16).cast_signed() >> 16);
    let (base, register) = ((word >> 21) & 31, (word >> 16) & 31);
    match word >> 26 {
        // addiu and daddiu
        0x09 | 0x19 if base == SP && register == SP => Effect::Move(immediate),
        // sw and sd
        0x2b | 0x3f if base == SP => Effect::Store(register as u16, immediate),
        // move s8, sp
        _ if matches!(word, 0x03a0_f025 | 0x03a0_f021 | 0x03a0_f02d) => Effect::SetFrame(30, 0),
        _ => Effect::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU as 2.40 encodes them.
    #[test]
    fn each_way_to_begin_a_function_is_known() {
        assert_eq!(effect(0x27bd_ffe0), Effect::Move(-32), "addiu sp,sp,-32");
        assert_eq!(effect(0x67bd_ffc0), Effect::Move(-64), "daddiu sp,sp,-64");
        assert_eq!(effect(0xafbf_001c), Effect::Store(31, 28), "sw ra,28(sp)");
        assert_eq!(effect(0xffbe_0030), Effect::Store(30, 48), "sd s8,48(sp)");
        assert_eq!(effect(0x03a0_f025), Effect::SetFrame(30, 0), "move s8,sp");
        assert_eq!(decode(&[0xe0, 0xff, 0xbd, 0x27], false), Some((Effect::Move(-32), 4)));
    }
}
