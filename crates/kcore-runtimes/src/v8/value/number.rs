//! Numbers of the heap.

use crate::v8::{Heap, heap::Object};

/// Digits of 64 bits that are told, at most.
const MAX_DIGITS: u64 = 1 << 12;
/// Longer integers than so many digits are told in hexadecimal: decimal takes time.
const MAX_DECIMAL: usize = 1 << 10;

impl Heap<'_> {
    /// The double of a HeapNumber.
    pub fn heap_number(&self, number: Object) -> Option<f64> {
        (number.kind == self.layout.types.heap_number).then_some(())?;
        self.word(number.at, 8).map(f64::from_bits)
    }

    /// The digits of a BigInt. `src/objects/bigint.h`: a sign and a count of digits, and the digits,
    /// each of 64 bits, the lowest first.
    pub fn bigint(&self, number: Object) -> Option<String> {
        (number.kind == self.layout.types.bigint()).then_some(())?;
        let header = self.uint(number.at, 8, 4)?;
        let count = self.layout.bigint_digits(header).min(MAX_DIGITS);
        let digits: Vec<u64> = (0..count)
            .map_while(|index| self.word(number.at, index.checked_mul(8)?.checked_add(16)?))
            .collect();
        let sign = if header & 1 == 1 { "-" } else { "" };
        let text = if digits.len() <= MAX_DECIMAL { decimal(digits) } else { hexadecimal(&digits) };
        Some(format!("{sign}{text}"))
    }
}

/// Digits of 64 bits, the lowest first, in decimal.
fn decimal(mut digits: Vec<u64>) -> String {
    const CHUNK: u128 = 10_000_000_000_000_000_000;
    let mut chunks = Vec::new();
    while digits.iter().any(|digit| *digit != 0) {
        let mut rest: u128 = 0;
        for digit in digits.iter_mut().rev() {
            let value = (rest << 64) | u128::from(*digit);
            *digit =
                u64::try_from(value.checked_div(CHUNK).unwrap_or_default()).unwrap_or_default();
            rest = value.checked_rem(CHUNK).unwrap_or_default();
        }
        chunks.push(rest);
    }
    let first = chunks.pop().unwrap_or_default().to_string();
    chunks.iter().rev().fold(first, |text, chunk| format!("{text}{chunk:019}"))
}

fn hexadecimal(digits: &[u64]) -> String {
    let mut digits = digits.iter().rev().skip_while(|digit| **digit == 0);
    let first = digits.next().copied().unwrap_or_default();
    digits.fold(format!("{first:#x}"), |text, digit| format!("{text}{digit:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_any_length_are_told_in_decimal() {
        assert_eq!(decimal(vec![]), "0");
        assert_eq!(decimal(vec![0, 1]), "18446744073709551616");
        assert_eq!(decimal(vec![u64::MAX, u64::MAX]), u128::MAX.to_string());
    }

    #[test]
    fn long_ones_are_told_in_hexadecimal() {
        assert_eq!(hexadecimal(&[5, 1, 0]), "0x10000000000000005");
    }
}
