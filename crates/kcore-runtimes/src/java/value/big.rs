//! Numbers of any size (`java/math/BigInteger.java`, `BigDecimal.java`, JDK 11 to 25).

use kcore_mem::Addr;

use crate::java::classes::Objects;

/// Words of a number whose digits are worked out, at most: each costs as much as there are.
const MAX_WORDS: u64 = 256;
/// What stands in `intCompact` of a number that has an object for its digits.
const INFLATED: i64 = i64::MIN;
/// Digits of one step, and what has so many zeros.
const DIGITS: usize = 9;
const STEP: u64 = 1_000_000_000;
/// Zeros behind the point of a number that is written without an exponent, at most.
const MAX_ZEROS: i64 = 6;

/// The digits of a `BigInteger`; `None` of one that cannot be read, or has too many.
pub(super) fn integer(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let sign = objects.integer(at, "signum")?;
    let array = objects.reference(at, "mag")?;
    let length = objects.oops.length(objects.memory, array)?;
    (length <= MAX_WORDS).then_some(())?;
    let first = objects.oops.bytes(array)?;
    let word = |index: u64| {
        let at = first.checked_add(index.checked_mul(4)?)?;
        Some(objects.memory.uint(at, 0, 4)? as u32)
    };
    let words: Vec<u32> = (0..length).map(word).collect::<Option<_>>()?;
    let digits = digits(words);
    Some(if sign < 0 { format!("-{digits}") } else { digits })
}

/// The decimal digits of a number, whose words stand with the highest one first.
fn digits(mut words: Vec<u32>) -> String {
    let mut parts = Vec::new();
    while words.iter().any(|word| *word != 0) {
        let mut rest = 0_u64;
        for word in &mut words {
            let part = (rest << 32) | u64::from(*word);
            *word = part.wrapping_div(STEP) as u32;
            rest = part.wrapping_rem(STEP);
        }
        parts.push(format!("{rest:0DIGITS$}"));
    }
    let digits: String = parts.into_iter().rev().collect();
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => digits.to_owned(),
    }
}

/// A `BigDecimal` as Java writes it.
pub(super) fn decimal(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let scale = objects.integer(at, "scale")?;
    let digits = match objects.integer(at, "intCompact")? {
        INFLATED => integer(objects, objects.reference(at, "intVal")?)?,
        compact => compact.to_string(),
    };
    Some(scaled(&digits, scale))
}

/// Digits of which the last so many stand behind the point.
fn scaled(digits: &str, scale: i64) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let len = digits.len() as i64;
    let exponent = len.saturating_sub(1).saturating_sub(scale);
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    if scale > 0 && exponent >= MAX_ZEROS.saturating_neg() {
        let zeros = usize::try_from(scale.saturating_sub(len)).unwrap_or_default();
        let before = usize::try_from(len.saturating_sub(scale)).unwrap_or_default();
        let (whole, part) = digits.split_at_checked(before).unwrap_or((digits, ""));
        let whole = if whole.is_empty() { "0" } else { whole };
        return format!("{sign}{whole}.{}{part}", "0".repeat(zeros));
    }
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
    let point = if rest.is_empty() { "" } else { "." };
    match exponent {
        0 => format!("{sign}{first}{point}{rest}"),
        _ => format!("{sign}{first}{point}{rest}E{exponent:+}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_digits() {
        assert_eq!(digits(vec![]), "0");
        assert_eq!(digits(vec![1, 0]), "4294967296");
        assert_eq!(digits(vec![0x01ee_9ef8, 0x19cf_c71f]), "139223426917189407");
        assert_eq!(digits(vec![0xffff_ffff; 3]), "79228162514264337593543950335");
    }

    #[test]
    fn a_point_stands_as_java_puts_it() {
        let cases = [
            (("150", 2), "1.50"),
            (("-5", 3), "-0.005"),
            (("1", -10), "1E+10"),
            (("123", 10), "1.23E-8"),
            (("1", 7), "1E-7"),
            (("1", 6), "0.000001"),
            (("0", 2), "0.00"),
            (("42", 0), "42"),
            (("123", -1), "1.23E+3"),
        ];
        for ((digits, scale), expected) in cases {
            assert_eq!(scaled(digits, scale), expected);
        }
    }
}
