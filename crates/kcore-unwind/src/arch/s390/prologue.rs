//! How functions begin: `stmg` saves registers in the caller's frame, `aghi` or `lay` makes the own one.

use crate::arch::described::Effect;

/// The effect of the first instruction. Its length stands in the first two bits.
pub fn decode(code: &[u8], _is_big: bool) -> Option<(Effect, usize)> {
    let len = match code.first()? >> 6 {
        0 => 2,
        1 | 2 => 4,
        _ => 6,
    };
    let code = code.get(..len)?;
    Some((effect(code), len))
}

fn effect(code: &[u8]) -> Effect {
    match *code {
        // br r14
        [0x07, 0xfe] => Effect::Return,
        // aghi and ahi r15, n
        [0xa7, 0xfa | 0xfb, high, low] => Effect::Move(i64::from(i16::from_be_bytes([high, low]))),
        // lay r15, n(r15)
        [0xe3, 0xf0, base, low, high, 0x71] if base >> 4 == 15 => {
            Effect::Move(displacement(base, low, high))
        }
        // stg rN, n(r15)
        [0xe3, register, base, low, high, 0x24] if register & 15 == 0 && base >> 4 == 15 => {
            Effect::Store(u16::from(register >> 4), displacement(base, low, high))
        }
        // stmg and stm rN, rM, n(r15)
        [0xeb, registers, base, low, high, 0x24] if base >> 4 == 15 => {
            Effect::StoreMany(mask(registers), displacement(base, low, high))
        }
        [0x90, registers, base, low] if base >> 4 == 15 => {
            Effect::StoreMany(mask(registers), displacement(base, low, 0))
        }
        // lgr and lr r11, r15
        [0xb9, 0x04, _, 0xbf] | [0x18, 0xbf] => Effect::SetFrame(11, 0),
        _ => Effect::None,
    }
}

/// Twenty bits, of which the upper eight come last, with their sign.
fn displacement(base: u8, low: u8, high: u8) -> i64 {
    let upper = i64::from(high.cast_signed()).wrapping_mul(4096);
    upper.wrapping_add(i64::from(base & 15).wrapping_mul(256)).wrapping_add(i64::from(low))
}

/// The registers from one up to another.
fn mask(registers: u8) -> u32 {
    let range = u32::from(registers >> 4)..=u32::from(registers & 15);
    (0..16).filter(|number| range.contains(number)).fold(0, |mask, number| mask | (1 << number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU as 2.40 encodes them.
    #[test]
    fn each_way_to_begin_a_function_is_known() {
        let stmg = [0xeb, 0xbf, 0xf0, 0x58, 0x00, 0x24];
        assert_eq!(decode(&stmg, true), Some((Effect::StoreMany(0xf800, 88), 6)));
        let aghi = [0xa7, 0xfb, 0xff, 0x60];
        assert_eq!(decode(&aghi, true), Some((Effect::Move(-160), 4)));
        let lay = [0xe3, 0xf0, 0xff, 0x58, 0xff, 0x71];
        assert_eq!(decode(&lay, true), Some((Effect::Move(-168), 6)));
        assert_eq!(decode(&[0xb9, 0x04, 0x00, 0xbf], true), Some((Effect::SetFrame(11, 0), 4)));
        assert_eq!(decode(&lay[..4], true), None);
    }
}
