//! The value of an 80-bit number in decimal, exact to its last digit.
//!
//! A number is `significand * 2^power`. Its digits are those of the whole number
//! `significand * 2^power`, or, where the power is negative, of `significand * 5^-power`, which has
//! `-power` decimal places.

use kcore::X87Register;

/// Digits behind the first, as `%.16Le` prints them.
const DIGITS: usize = 16;
/// Bias of the exponent, and the bits of the significand behind the point.
const BIAS: i32 = 16383 + 63;

/// `+3.1415926535897932e+00`; `+inf`, `-nan`.
pub fn text(register: X87Register) -> String {
    let X87Register { exponent, significand } = register;
    let sign = if exponent & 0x8000 == 0 { '+' } else { '-' };
    let body = match (exponent & 0x7fff, significand) {
        (0x7fff, significand) if significand << 1 == 0 => "inf".to_owned(),
        (0x7fff, _) => "nan".to_owned(),
        (_, 0) => format!("0.{}e+00", "0".repeat(DIGITS)),
        // Numbers below all others have the exponent of the smallest.
        (exponent, significand) => {
            finite(significand, i32::from(exponent.max(1)).saturating_sub(BIAS))
        }
    };
    format!("{sign}{body}")
}

fn finite(significand: u64, power: i32) -> String {
    let mut whole = Whole::new(significand);
    let mut places: i32 = 0;
    if power < 0 {
        whole.multiply_by_powers(5, 13, power.unsigned_abs());
        places = power.saturating_neg();
    } else {
        whole.multiply_by_powers(2, 31, power.unsigned_abs());
    }
    scientific(&whole.digits(), places)
}

/// Digits of which the last `places` stand behind the point, rounded to the nearest, in a tie to the
/// even digit.
fn scientific(digits: &[u8], places: i32) -> String {
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let mut power = count.saturating_sub(1).saturating_sub(places);
    let (kept, dropped) =
        digits.split_at_checked(DIGITS.saturating_add(1)).unwrap_or((digits, &[]));
    let mut kept = kept.to_vec();
    kept.resize(DIGITS.saturating_add(1), 0);
    if rounds_up(&kept, dropped) && increment(&mut kept) {
        power = power.saturating_add(1);
    }
    let text: String = kept.iter().map(|digit| char::from(b'0'.saturating_add(*digit))).collect();
    let (first, rest) = text.split_at_checked(1).unwrap_or_default();
    let sign = if power < 0 { '-' } else { '+' };
    format!("{first}.{rest}e{sign}{:02}", power.unsigned_abs())
}

fn rounds_up(kept: &[u8], dropped: &[u8]) -> bool {
    let Some((first, rest)) = dropped.split_first() else { return false };
    let beyond = rest.iter().any(|digit| *digit != 0);
    let odd = kept.last().is_some_and(|digit| digit & 1 == 1);
    *first > 5 || (*first == 5 && (beyond || odd))
}

/// Adds one to the last digit; tells whether the number got a digit more, the first being 1 then.
fn increment(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit = digit.saturating_add(1);
            return false;
        }
        *digit = 0;
    }
    if let Some(first) = digits.first_mut() {
        *first = 1;
    }
    true
}

/// A whole number of any size: digits of 32 bits, lowest first.
struct Whole(Vec<u32>);

impl Whole {
    fn new(value: u64) -> Self {
        Self(vec![value as u32, (value >> 32) as u32])
    }

    /// Multiplies by `base` so many `times`, `step` times at once: as often as fits in a digit.
    fn multiply_by_powers(&mut self, base: u32, step: u32, times: u32) {
        let whole = times.checked_div(step).unwrap_or(0);
        let rest = times.checked_rem(step).unwrap_or(0);
        for _ in 0..whole {
            self.multiply(base.saturating_pow(step));
        }
        self.multiply(base.saturating_pow(rest));
    }

    fn multiply(&mut self, factor: u32) {
        let mut carry = 0_u64;
        for digit in &mut self.0 {
            let product = u64::from(*digit).wrapping_mul(u64::from(factor)).wrapping_add(carry);
            *digit = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Its decimal digits, highest first.
    fn digits(mut self) -> Vec<u8> {
        let mut digits = Vec::new();
        while self.0.iter().any(|digit| *digit != 0) {
            let mut rest = self.divide(1_000_000_000);
            for _ in 0..9 {
                digits.push((rest % 10) as u8);
                rest /= 10;
            }
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits.reverse();
        digits
    }

    /// Divides by a number above 0; gives what is left.
    fn divide(&mut self, by: u32) -> u32 {
        let mut rest = 0_u64;
        for digit in self.0.iter_mut().rev() {
            let value = rest << 32 | u64::from(*digit);
            *digit = value.checked_div(u64::from(by)).unwrap_or(0) as u32;
            rest = value.checked_rem(u64::from(by)).unwrap_or(0);
        }
        rest as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(exponent: u16, significand: u64) -> String {
        text(X87Register { exponent, significand })
    }

    /// What `printf("%+.16Le")` of the C library prints of the same bits.
    #[test]
    fn numbers_are_exact_to_the_last_digit() {
        assert_eq!(shown(0x3fff, 1 << 63), "+1.0000000000000000e+00");
        assert_eq!(shown(0xc000, 0xa000_0000_0000_0000), "-2.5000000000000000e+00");
        assert_eq!(shown(0x4000, 0xc90f_daa2_2168_c235), "+3.1415926535897932e+00");
        assert_eq!(shown(0x7ffe, u64::MAX), "+1.1897314953572318e+4932");
        assert_eq!(shown(0x0001, 1 << 63), "+3.3621031431120935e-4932");
        assert_eq!(shown(0x0000, 1), "+3.6451995318824746e-4951");
        assert_eq!(shown(0x3ffb, 0xcccc_cccc_cccc_cccd), "+1.0000000000000000e-01");
        assert_eq!(shown(0x4034, 0x9fff_ffff_ffff_ffff), "+1.1258999068426240e+16");
    }

    #[test]
    fn what_is_no_number_has_a_word() {
        assert_eq!(shown(0, 0), "+0.0000000000000000e+00");
        assert_eq!(shown(0x8000, 0), "-0.0000000000000000e+00");
        assert_eq!(shown(0x7fff, 1 << 63), "+inf");
        assert_eq!(shown(0xffff, 3 << 62), "-nan");
    }

    #[test]
    fn rounding_may_add_a_digit() {
        assert_eq!(scientific(&[9; 20], 0), "1.0000000000000000e+20");
        let tie = |last: u8| [&[1; 16][..], &[last, 5]].concat();
        assert_eq!(scientific(&tie(2), 17), "1.1111111111111112e+00");
        assert_eq!(scientific(&tie(3), 17), "1.1111111111111114e+00");
    }
}
