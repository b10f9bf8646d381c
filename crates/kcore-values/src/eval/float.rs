//! Binary floating-point numbers of all sizes.

use kcore_mem::{Arch, Endian, Target};

use crate::{FloatValue, WideFloat};

/// How the bits of a number are shared out.
struct Format {
    /// Bits of the exponent.
    exponent: u32,
    /// Bits of the fraction, the leading one included where it is stored.
    fraction: u32,
    /// Whether the leading bit is stored: in the x87 format.
    has_leading: bool,
    /// Decimal digits that tell any two of its numbers apart (C's `LDBL_DECIMAL_DIG`); 0 where a double does.
    digits: u8,
}

const HALF: Format = Format { exponent: 5, fraction: 10, has_leading: false, digits: 0 };
const BRAIN: Format = Format { exponent: 8, fraction: 7, has_leading: false, digits: 0 };
const X87: Format = Format { exponent: 15, fraction: 64, has_leading: true, digits: 21 };
const QUAD: Format = Format { exponent: 15, fraction: 112, has_leading: false, digits: 36 };

/// The number that bytes hold; `None` for a size that no format has. `name` is that of its type.
pub fn decode(bytes: &[u8], target: Target, name: &str) -> Option<FloatValue> {
    let size = u8::try_from(bytes.len()).ok()?;
    let bits = integer(bytes, target.endian)?;
    let double = |value| Some(FloatValue { value, size, wide: None });
    match size {
        2 if name.to_ascii_lowercase().contains("bf16") => Some(wide(bits, size, &BRAIN)),
        2 => Some(wide(bits, size, &HALF)),
        4 => double(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        8 => double(f64::from_bits(u64::try_from(bits).ok()?)),
        10 | 12 => Some(wide(bits, size, &X87)),
        16 if target.arch == Arch::X86_64 && !is_quad(name) => Some(wide(bits, size, &X87)),
        16 if has_double_doubles(target) && !is_quad(name) => {
            Some(double_double(doubles(bytes, target.endian)?, size))
        }
        16 => Some(wide(bits, size, &QUAD)),
        _ => None,
    }
}

/// Whether a type of 16 bytes is not the machine's own extended one: `__float128`, `_Float128`, gfortran's
/// `real(kind=16)`.
fn is_quad(name: &str) -> bool {
    name.contains("128") || name.contains("kind=16")
}

/// Whether the machine's own type of 16 bytes is two doubles: the ABIs of PowerPC, as GCC follows them by default
/// (`-mabi=ibmlongdouble`).
const fn has_double_doubles(target: Target) -> bool {
    matches!(target.arch, Arch::PowerPc | Arch::PowerPc64)
}

/// The sum of two doubles. The greater one is `value`, rounded.
fn double_double([high, low]: [f64; 2], size: u8) -> FloatValue {
    let value = high + low;
    let wide = value.is_finite().then(|| sum(high, low)).flatten();
    FloatValue { value, size, wide }
}

/// The magnitude of a sum of two finite doubles, the second of which is at most half of the last bit of the first.
fn sum(high: f64, low: f64) -> Option<WideFloat> {
    /// C's `LDBL_DECIMAL_DIG` on these machines.
    const DIGITS: u8 = 33;
    /// Bits that the first one is moved up by at most, so that 128 hold it.
    const ROOM: u32 = 128 - 53;
    let ((high_bits, high_power), (low_bits, low_power)) = (parts(high), parts(low));
    let distance = u32::try_from(high_power.checked_sub(low_power)?).unwrap_or(0).min(ROOM);
    let power = high_power.saturating_sub_unsigned(distance);
    let below = u32::try_from(power.checked_sub(low_power)?).ok()?;
    let kept = low_bits.checked_shr(below).unwrap_or(0);
    // What has no room stays as one bit, so that the sum is not taken for the double.
    let low_bits = if low_bits != 0 { kept.max(1) } else { 0 };
    let high_bits = high_bits.checked_shl(distance)?;
    let significand = match high.is_sign_negative() == low.is_sign_negative() {
        true => high_bits.checked_add(low_bits)?,
        false => high_bits.checked_sub(low_bits)?,
    };
    Some(WideFloat { significand, power, digits: DIGITS })
}

/// Magnitude of a finite double: a whole number, and a power of two.
fn parts(value: f64) -> (u128, i32) {
    let bits = value.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let leading = if exponent == 0 { 0 } else { 1 << 52 };
    (u128::from(bits & ((1 << 52) - 1) | leading), exponent.max(1).saturating_sub(1075))
}

/// The doubles at the two addresses, the lower one first.
fn doubles(bytes: &[u8], endian: Endian) -> Option<[f64; 2]> {
    let (first, second) = bytes.split_at_checked(8)?;
    let double = |bytes| Some(f64::from_bits(u64::try_from(integer(bytes, endian)?).ok()?));
    Some([double(first)?, double(second)?])
}

fn integer(bytes: &[u8], endian: Endian) -> Option<u128> {
    if bytes.len() > 16 {
        return None;
    }
    let fold = |value: u128, byte: &u8| (value << 8) | u128::from(*byte);
    Some(match endian {
        Endian::Little => bytes.iter().rev().fold(0, fold),
        Endian::Big => bytes.iter().fold(0, fold),
    })
}

/// The lowest `count` bits, of at most 127.
const fn low(bits: u128, count: u32) -> u128 {
    match 1_u128.checked_shl(count) {
        Some(above) => bits & above.wrapping_sub(1),
        None => bits,
    }
}

/// The number of a format that is no Rust type.
#[expect(clippy::cast_precision_loss, reason = "all bits stand beside the double")]
fn wide(bits: u128, size: u8, format: &Format) -> FloatValue {
    let exponent_bits = bits.checked_shr(format.fraction).unwrap_or(0);
    let is_negative = low(exponent_bits >> format.exponent, 1) == 1;
    let exponent = i32::try_from(low(exponent_bits, format.exponent)).unwrap_or(0);
    let top = i32::try_from(low(u128::MAX, format.exponent)).unwrap_or(i32::MAX);
    let bias = top / 2;
    let stored = low(bits, format.fraction);
    // Of the leading bit nothing follows where it is stored.
    let shown =
        if format.has_leading { format.fraction.saturating_sub(1) } else { format.fraction };
    let fraction = low(stored, shown);
    let is_normal = exponent != 0 && !format.has_leading;
    let leading = if is_normal { 1_u128.checked_shl(shown).unwrap_or(0) } else { 0 };
    let significand = stored | leading;
    let power = exponent.max(1).saturating_sub(bias).saturating_sub_unsigned(shown);
    let is_finite = exponent != top;
    let magnitude = match fraction {
        _ if is_finite => scaled(significand as f64, power),
        0 => f64::INFINITY,
        _ => f64::NAN,
    };
    let value = if is_negative { -magnitude } else { magnitude };
    let digits = format.digits;
    let wide = (is_finite && digits > 0).then_some(WideFloat { significand, power, digits });
    FloatValue { value, size, wide }
}

/// `value` times two to the power of `power`, in steps that a double can hold.
fn scaled(value: f64, power: i32) -> f64 {
    const STEP: i32 = 1000;
    let mut value = value;
    let mut power = power;
    while power.unsigned_abs() > STEP.unsigned_abs() && value != 0.0 && value.is_finite() {
        let step = power.clamp(-STEP, STEP);
        value *= 2_f64.powi(step);
        power = power.saturating_sub(step);
    }
    value * 2_f64.powi(power.clamp(-STEP, STEP))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], name: &str) -> f64 {
        decode(bytes, Target::X86_64, name).map_or(f64::NAN, |float| float.value)
    }

    #[test]
    fn halves_are_read_with_their_subnormals_and_infinities() {
        assert_eq!(decoded(&[0x00, 0x3c], "_Float16"), 1.0);
        assert_eq!(decoded(&[0x00, 0xc1], "_Float16"), -2.5);
        assert_eq!(decoded(&[0x01, 0x00], "_Float16"), 2_f64.powi(-24));
        assert_eq!(decoded(&[0x00, 0x7c], "_Float16"), f64::INFINITY);
        assert!(decoded(&[0x01, 0x7c], "_Float16").is_nan());
        assert_eq!(decoded(&[0x80, 0x3f], "__bf16"), 1.0);
    }

    #[test]
    fn a_long_double_of_x86_stores_its_leading_bit() {
        // 3.25 as gcc stores it: 0x4000d000000000000000.
        let mut bytes = [0; 16];
        bytes[7] = 0xd0;
        bytes[9] = 0x40;
        assert_eq!(decoded(&bytes, "long double"), 3.25);
        assert_eq!(decoded(&[0; 16], "long double"), 0.0);
    }

    #[test]
    fn a_quad_is_read_by_its_name_or_by_the_architecture() {
        // 3.25: 0x4000a000000000000000000000000000.
        let mut bytes = [0; 16];
        bytes[13] = 0xa0;
        bytes[15] = 0x40;
        assert_eq!(decoded(&bytes, "_Float128"), 3.25);
        assert_eq!(decoded(&bytes, "real(kind=16)"), 3.25);
        let arm = Target { arch: Arch::Aarch64, ..Target::X86_64 };
        assert_eq!(decode(&bytes, arm, "long double").map(|float| float.value), Some(3.25));
    }

    /// What a double cannot hold is told by all of its bits.
    #[test]
    fn a_number_that_no_double_is_has_all_of_its_bits() {
        let long = |exponent: u16, significand: u64| {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&significand.to_le_bytes());
            bytes[8..10].copy_from_slice(&exponent.to_le_bytes());
            decode(&bytes, Target::X86_64, "long double").unwrap()
        };
        let third = long(0x3ffd, 0xaaaa_aaaa_aaaa_aaab);
        let bits = WideFloat { significand: 0xaaaa_aaaa_aaaa_aaab, power: -65, digits: 21 };
        assert_eq!((third.wide, third.is_double()), (Some(bits), false));
        let greatest = long(0x7ffe, u64::MAX);
        assert_eq!(greatest.wide.map(|wide| wide.power), Some(0x3fff - 63));
        assert!(!greatest.is_double() && !long(0, 1).is_double());
        for double in [long(0x4000, 0xd000_0000_0000_0000), long(0x43fe, 1 << 63), long(0, 0)] {
            assert!(double.is_double(), "{double:?}");
        }
        assert!(!long(0x43ff, 1 << 63).is_double(), "2^1024");
        assert_eq!(long(0xffff, 1 << 63).wide, None);
    }

    #[test]
    fn a_long_double_of_powerpc_is_the_sum_of_two_doubles() {
        let target = |endian| Target { arch: Arch::PowerPc64, endian, ..Target::X86_64 };
        let decoded = |high: f64, low: f64| {
            let bytes = [high.to_be_bytes(), low.to_be_bytes()].concat();
            decode(&bytes, target(Endian::Big), "long double").unwrap()
        };
        assert_eq!((decoded(3.25, 0.0).value, decoded(3.25, 0.0).is_double()), (3.25, true));
        assert_eq!((decoded(-0.0, 0.0).value, decoded(-0.0, 0.0).is_double()), (0.0, true));
        assert_eq!(decoded(f64::INFINITY, 0.0).wide, None);
        let above = decoded(1.0, 2_f64.powi(-60)).wide.unwrap();
        assert_eq!(
            above.significand.checked_shr(above.significand.trailing_zeros()),
            Some((1 << 60) + 1)
        );
        let below = decoded(-1.0, 2_f64.powi(-60));
        assert_eq!((below.value, below.is_double()), (-1.0, false));
        let wide = below.wide.unwrap();
        assert_eq!(
            wide.significand.checked_shr(wide.significand.trailing_zeros()),
            Some((1 << 60) - 1)
        );
        assert!(!decoded(1e300, 1e-300).is_double());
        let bytes = [1.5_f64.to_le_bytes(), 0_f64.to_le_bytes()].concat();
        let float = decode(&bytes, target(Endian::Little), "long double");
        assert_eq!(float.map(|float| float.value), Some(1.5));
        let mut quad = [0; 16];
        quad[13] = 0xa0;
        quad[15] = 0x40;
        let float = decode(&quad, target(Endian::Little), "__ieee128");
        assert_eq!(float.map(|float| float.value), Some(3.25));
    }

    #[test]
    fn the_order_of_bytes_is_the_targets() {
        let big = Target { endian: Endian::Big, ..Target::X86_64 };
        let one = decode(&[0x3f, 0x80, 0, 0], big, "float").map(|float| float.value);
        assert_eq!(one, Some(1.0));
        assert!(decode(&[0; 3], big, "float").is_none());
    }
}
