//! Digits of numbers in a radix, with MDB's prefix rule, for whoever spells them.

/// The digits of a number, which need no memory of their own.
pub struct Digits {
    bytes: [u8; 64],
    start: usize,
}

impl Digits {
    /// The digits of `value` in a radix from 2 to 16, without prefix.
    pub fn new(value: u64, radix: u32) -> Self {
        let mut digits = Self { bytes: [b'0'; 64], start: 64 };
        match radix {
            // Divisions by a constant are much faster than others.
            16 => digits.fill(value, |value| (value >> 4, value & 15)),
            10 => digits.fill(value, |value| (value / 10, value % 10)),
            _ => {
                let radix = u64::from(radix.clamp(2, 16));
                digits.fill(value, |value| (value / radix, value % radix));
            }
        }
        digits
    }

    /// The digits as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[self.start..]).unwrap_or_default()
    }

    fn fill(&mut self, mut value: u64, split: impl Fn(u64) -> (u64, u64)) {
        loop {
            let (rest, digit) = split(value);
            self.start -= 1;
            self.bytes[self.start] = b"0123456789abcdef"[digit as usize & 15];
            value = rest;
            if value == 0 {
                return;
            }
        }
    }
}

/// The digits of `value`, without prefix.
pub fn digits(value: u64, radix: u32) -> String {
    Digits::new(value, radix).as_str().to_owned()
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
    [prefix(value, radix), Digits::new(value, radix).as_str()].concat()
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
