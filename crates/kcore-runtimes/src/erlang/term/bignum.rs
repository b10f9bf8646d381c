//! Integers of any length, in decimal.

/// What is left of a division by, for each group of digits.
const GROUP: u64 = 1_000_000_000;

/// Words, the lowest first, in decimal.
pub fn decimal(words: &[u64], is_negative: bool) -> String {
    let halves = words.iter().rev().flat_map(|word| [word >> 32, word & 0xffff_ffff]);
    let mut number: Vec<u64> = halves.collect();
    let mut groups = Vec::new();
    while number.iter().any(|half| *half != 0) {
        let mut left: u64 = 0;
        for half in &mut number {
            let value = (left << 32) | *half;
            *half = value / GROUP;
            left = value % GROUP;
        }
        groups.push(left);
    }
    let mut text = String::new();
    if is_negative {
        text.push('-');
    }
    text.push_str(&groups.pop().unwrap_or_default().to_string());
    groups.iter().rev().for_each(|group| text.push_str(&format!("{group:09}")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers_are_written_in_decimal() {
        assert_eq!(decimal(&[0, 1], false), "18446744073709551616");
        assert_eq!(decimal(&[1 << 60], true), "-1152921504606846976");
        assert_eq!(decimal(&[0], false), "0");
        assert_eq!(decimal(&[1_000_000_000], false), "1000000000");
    }
}
