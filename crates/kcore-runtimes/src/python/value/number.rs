//! Integers of any length.

/// Digits of 30 bits that are spelled, at most: the work grows with their square.
pub const MAX_DIGITS: u64 = 4096;

/// The decimal spelling of digits of 30 bits, the lowest first.
pub fn decimal(digits: &[u32], is_negative: bool) -> String {
    const BASE: u64 = 1_000_000_000;
    let mut left: Vec<u32> = digits.to_vec();
    let mut parts: Vec<u64> = Vec::new();
    while left.iter().any(|digit| *digit != 0) {
        let mut rest = 0_u64;
        for digit in left.iter_mut().rev() {
            let value = rest << 30 | u64::from(*digit & 0x3fff_ffff);
            *digit = u32::try_from(value / BASE).unwrap_or(u32::MAX);
            rest = value % BASE;
        }
        parts.push(rest);
        while left.last() == Some(&0) {
            left.pop();
        }
    }
    let mut parts = parts.iter().rev();
    let first = parts.next().copied().unwrap_or_default();
    let sign = if is_negative { "-" } else { "" };
    let rest: String = parts.map(|part| format!("{part:09}")).collect();
    format!("{sign}{first}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_spelled_in_decimal() {
        assert_eq!(decimal(&[], false), "0");
        assert_eq!(decimal(&[7], true), "-7");
        // 2 ** 100
        let power = decimal(&[0, 0, 0, 1 << 10], false);
        assert_eq!(power, "1267650600228229401496703205376");
        assert_eq!(decimal(&[0x3fff_ffff, 0x3fff_ffff], false), "1152921504606846975");
    }
}
