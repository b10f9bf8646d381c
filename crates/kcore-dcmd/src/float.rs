//! Floating-point numbers as C writes them.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_those_of_c() {
        assert_eq!(c_exponential(1.0, 7), "+1.0000000e+00");
        assert_eq!(c_exponential(-0.5, 16), "-5.0000000000000000e-01");
        assert_eq!(c_exponential(1e100, 7), "+1.0000000e+100");
        assert_eq!(c_exponential(f64::NEG_INFINITY, 7), "-inf");
    }
}
