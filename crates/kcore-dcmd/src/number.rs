//! Digits of numbers in a radix, with MDB's prefix rule, for whoever spells them.

/// The digits of `value`, without prefix.
pub fn digits(value: u64, radix: u32) -> String {
    match radix {
        16 => format!("{value:x}"),
        10 => value.to_string(),
        _ => other_digits(value, radix.clamp(2, 16)),
    }
}

fn other_digits(mut value: u64, radix: u32) -> String {
    let mut reversed = Vec::new();
    loop {
        let digit = (value % u64::from(radix)) as u32;
        reversed.push(char::from_digit(digit, radix).unwrap_or('?'));
        value /= u64::from(radix);
        if value == 0 {
            return reversed.into_iter().rev().collect();
        }
    }
}

/// The prefix that MDB's `%#r` writes: none for a value that reads the same without one, and none
/// in a radix that has no prefix.
pub fn prefix(value: u64, radix: u32) -> &'static str {
    match radix {
        16 if value > 9 => "0x",
        10 if value > 9 => "0t",
        8 if value > 7 => "0o",
        2 if value > 1 => "0i",
        _ => "",
    }
}

/// Prefix and digits.
pub fn prefixed(value: u64, radix: u32) -> String {
    format!("{}{}", prefix(value, radix), digits(value, radix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_appears_only_where_it_is_needed() {
        let spelled = |value, radix| prefixed(value, radix);
        assert_eq!([spelled(9, 16), spelled(10, 16)], ["9", "0xa"]);
        assert_eq!([spelled(9, 10), spelled(10, 10)], ["9", "0t10"]);
        assert_eq!([spelled(7, 8), spelled(8, 8)], ["7", "0o10"]);
        assert_eq!([spelled(1, 2), spelled(2, 2)], ["1", "0i10"]);
        assert_eq!(spelled(100, 12), "84");
    }

    #[test]
    fn every_radix_writes_zero_and_the_greatest_value() {
        for radix in 2..=16 {
            assert_eq!(digits(0, radix), "0");
            assert_eq!(u64::from_str_radix(&digits(u64::MAX, radix), radix), Ok(u64::MAX));
        }
    }
}
