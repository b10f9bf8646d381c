//! Floating-point numbers as C writes them.

use num_bigint::BigUint;

/// A floating-point number as C's `%+.Ne` writes it.
pub fn c_exponential(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { '-' } else { '+' };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let text = format!("{value:+.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// `significand * 2^power` as C's `%.Ne` writes it, exact to its last digit.
pub fn binary_exponential(significand: u128, power: i32, digits: usize) -> String {
    let zeros = significand.trailing_zeros().min(power.saturating_neg().try_into().unwrap_or(0));
    let power = power.saturating_add_unsigned(zeros);
    let odd = BigUint::from(significand.checked_shr(zeros).unwrap_or(0));
    // A half is five tenths: a negative power of two leaves as many decimal places.
    let (whole, places) = match power {
        ..0 => (odd * BigUint::from(5_u8).pow(power.unsigned_abs()), power.saturating_neg()),
        0.. => (odd << power.unsigned_abs(), 0),
    };
    scientific(&whole.to_string(), places, digits)
}

/// Digits of which the last `places` stand behind the point, rounded to the nearest, in a tie to the even digit.
fn scientific(whole: &str, places: i32, digits: usize) -> String {
    let count = i32::try_from(whole.len()).unwrap_or(i32::MAX);
    let mut power = if whole == "0" { 0 } else { count.saturating_sub(1).saturating_sub(places) };
    let (kept, dropped) = whole.split_at_checked(digits.saturating_add(1)).unwrap_or((whole, ""));
    let mut kept = format!("{kept:0<width$}", width = digits.saturating_add(1));
    if rounds_up(&kept, dropped) {
        let next = kept.parse().map_or_else(|_| BigUint::ZERO, |kept: BigUint| kept + 1_u8);
        // 9.99 becomes 10.0.
        let has_digit_more = next.to_string().len() > kept.len();
        power = power.saturating_add(i32::from(has_digit_more));
        kept = next.to_string();
        kept.truncate(digits.saturating_add(1));
    }
    let (first, rest) = kept.split_at_checked(1).unwrap_or_default();
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if power < 0 { '-' } else { '+' };
    format!("{first}{point}{rest}e{sign}{:02}", power.unsigned_abs())
}

fn rounds_up(kept: &str, dropped: &str) -> bool {
    let is_odd = kept.bytes().last().is_some_and(|digit| digit & 1 == 1);
    let tie = || dropped.bytes().skip(1).all(|digit| digit == b'0');
    match dropped.bytes().next() {
        None | Some(..=b'4') => false,
        Some(b'5') => is_odd || !tie(),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts are what gdb 13 prints for these numbers.
    #[test]
    fn numbers_are_exact_to_the_last_digit() {
        let long = |significand: u64, power| binary_exponential(significand.into(), power, 20);
        assert_eq!(long(0xc90f_daa2_2168_c235, -62), "3.14159265358979323851e+00");
        assert_eq!(long(u64::MAX, 0x3fff - 63), "1.18973149535723176502e+4932");
        assert_eq!(long(1, -16445), "3.64519953188247460253e-4951");
        assert_eq!(long(1 << 63, -63), "1.00000000000000000000e+00");
        assert_eq!(long(0, -16445), "0.00000000000000000000e+00");
        let third = (1 << 112) | 0x5555_5555_5555_5555_5555_5555_5555;
        let third = binary_exponential(third, -114, 35);
        assert_eq!(third, "3.33333333333333333333333333333333317e-01");
    }

    #[test]
    fn rounding_may_add_a_digit() {
        assert_eq!(scientific(&"9".repeat(20), 0, 16), "1.0000000000000000e+20");
        assert_eq!(scientific("11111111111111111125", 19, 17), "1.11111111111111111e+00");
        assert_eq!(scientific("125", 2, 1), "1.2e+00");
        assert_eq!(scientific("135", 2, 1), "1.4e+00");
        assert_eq!(scientific("1251", 3, 1), "1.3e+00");
        assert_eq!(scientific("96", 0, 0), "1e+02");
    }

    #[test]
    fn floats_are_those_of_c() {
        assert_eq!(c_exponential(1.0, 7), "+1.0000000e+00");
        assert_eq!(c_exponential(-0.5, 16), "-5.0000000000000000e-01");
        assert_eq!(c_exponential(1e100, 7), "+1.0000000e+100");
        assert_eq!(c_exponential(f64::NEG_INFINITY, 7), "-inf");
    }
}
