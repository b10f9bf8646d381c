//! Floating-point numbers as C's `printf` writes them (C17, 7.21.6.1).

use kcore_dcmd::c_exponential;

/// Digits behind the point where the format names none.
const PRECISION: usize = 6;
/// Bits of the fraction of a double, and the digits that they are in hexadecimal.
const FRACTION: u32 = 52;
const FRACTION_DIGITS: usize = 13;
/// What is added to the exponent of a double.
const BIAS: i64 = 1023;

/// A number by `f`, `e`, `E`, `g`, `G` or `a`.
pub fn formatted(letter: char, value: f64, precision: Option<usize>) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let digits = precision.unwrap_or(PRECISION);
    match letter {
        'f' => format!("{value:.digits$}"),
        'e' => exponential(value, digits),
        'E' => exponential(value, digits).to_uppercase(),
        'g' => general(value, digits.max(1)),
        'G' => general(value, digits.max(1)).to_uppercase(),
        _ => hexadecimal(value),
    }
}

fn exponential(value: f64, digits: usize) -> String {
    let text = c_exponential(value, digits);
    text.strip_prefix('+').map_or(text.clone(), str::to_owned)
}

/// The shorter form, with so many significant digits, without zeros at the end.
fn general(value: f64, digits: usize) -> String {
    let exponential = exponential(value, digits.saturating_sub(1));
    let (mantissa, exponent) = exponential.split_once('e').unwrap_or((&exponential, "0"));
    let power: i64 = exponent.parse().unwrap_or(0);
    let significant = i64::try_from(digits).unwrap_or(i64::MAX);
    if power < -4 || power >= significant {
        return format!("{}e{exponent}", without_zeros(mantissa));
    }
    let behind = significant.saturating_sub(1).saturating_sub(power);
    let behind = usize::try_from(behind).unwrap_or(0);
    without_zeros(&format!("{value:.behind$}")).to_owned()
}

fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// A double in hexadecimal digits, exactly: 3 is `0x1.8p+1`.
fn hexadecimal(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let bits = value.abs().to_bits();
    let fraction = bits & ((1 << FRACTION) - 1);
    let stored = i64::try_from(bits >> FRACTION).unwrap_or(0);
    let (leading, power) = match stored {
        0 if fraction == 0 => (0, 0),
        0 => (0, 1 - BIAS),
        stored => (1, stored.saturating_sub(BIAS)),
    };
    let digits = format!("{fraction:0FRACTION_DIGITS$x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}0x{leading}{point}{digits}p{power:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What glibc's `printf` says of the same numbers.
    #[test]
    fn numbers_are_written_as_c_writes_them() {
        let all = |value| ['f', 'e', 'g', 'a'].map(|letter| formatted(letter, value, None));
        assert_eq!(all(0.1), ["0.100000", "1.000000e-01", "0.1", "0x1.999999999999ap-4"]);
        assert_eq!(all(-2.5), ["-2.500000", "-2.500000e+00", "-2.5", "-0x1.4p+1"]);
        assert_eq!(all(1e6), ["1000000.000000", "1.000000e+06", "1e+06", "0x1.e848p+19"]);
        assert_eq!(all(123456.0)[2], "123456");
        assert_eq!(all(0.00001234)[2], "1.234e-05");
        assert_eq!(all(0.0), ["0.000000", "0.000000e+00", "0", "0x0p+0"]);
        assert_eq!(all(f64::NEG_INFINITY), ["-inf"; 4]);
        assert_eq!(formatted('a', 5e-324, None), "0x0.0000000000001p-1022");
        assert_eq!(formatted('f', 2.0 / 3.0, Some(2)), "0.67");
        assert_eq!(formatted('g', 2.0 / 3.0, Some(17)), "0.66666666666666663");
        assert_eq!(formatted('G', 1e-10, None), "1E-10");
    }
}
