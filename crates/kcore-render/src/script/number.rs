//! Numbers as JavaScript writes them.

/// The digits that tell a double from all others, with an exponent where JavaScript has one:
/// `Number::toString` of ECMA-262.
pub(crate) fn javascript(value: f64) -> String {
    if !value.is_finite() {
        let infinite = if value < 0.0 { "-Infinity" } else { "Infinity" };
        return if value.is_nan() { "NaN" } else { infinite }.to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        return match text.split_once('e') {
            Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
            _ => text,
        };
    }
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_does() {
        let written = [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e21, "1e+21"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e-7, "1e-7"),
            (0.000_001, "0.000001"),
            (f64::MAX, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (-1.5e-9, "-1.5e-9"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (value, text) in written {
            assert_eq!(javascript(value), text);
        }
    }
}
