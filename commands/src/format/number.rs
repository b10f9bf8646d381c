//! How format letters write numbers.

use super::letters::Style;

/// An integer of `bytes` bytes in the style of a letter, without padding.
pub fn integer(style: Style, value: u64, bytes: usize, radix: u32) -> String {
    let signed = sign_extended(value, bytes);
    match style {
        Style::Hex | Style::SwappedHex => format!("{value:x}"),
        Style::Unsigned => value.to_string(),
        Style::Signed => signed.to_string(),
        Style::Octal => format!("{value:o}"),
        Style::ZeroOctal => zero_octal(value),
        Style::SignedOctal => format!("{}{:o}", sign(signed), signed.unsigned_abs()),
        Style::SignedZeroOctal => format!("{}{}", sign(signed), zero_octal(signed.unsigned_abs())),
        Style::Radix => kcore_dcmd::digits(value, radix),
    }
}

/// The value with its sign, which stands in the highest bit of `bytes` bytes.
pub fn sign_extended(value: u64, bytes: usize) -> i64 {
    let unused = unused_bits(bytes);
    value.checked_shl(unused).unwrap_or(0).cast_signed().checked_shr(unused).unwrap_or(0)
}

/// The low `bytes` bytes.
pub fn truncated(value: u64, bytes: usize) -> u64 {
    let unused = unused_bits(bytes);
    u64::MAX.checked_shr(unused).map_or(0, |mask| value & mask)
}

fn unused_bits(bytes: usize) -> u32 {
    let bits = u32::try_from(bytes).unwrap_or(8).saturating_mul(8);
    64_u32.saturating_sub(bits)
}

/// The bytes of a value of 2 or 4 bytes in the other order.
pub fn swapped(value: u64, bytes: usize) -> u64 {
    let unused = unused_bits(bytes);
    value.swap_bytes().checked_shr(unused).unwrap_or(0)
}

fn zero_octal(value: u64) -> String {
    if value == 0 { "0".to_owned() } else { format!("0{value:o}") }
}

const fn sign(value: i64) -> &'static str {
    if value < 0 { "-" } else { "" }
}

/// The bits, and an arm for each that is set, lowest first: the lines of letter `j`.
pub fn jazzed(value: u64) -> Vec<String> {
    let bits = format!("{value:b}");
    let top = bits.len().saturating_sub(1);
    let set =
        |bit: usize| value.checked_shr(u32::try_from(bit).unwrap_or(64)).unwrap_or(0) & 1 == 1;
    let bars = |lowest: usize| -> String {
        let columns = (lowest..=top).rev().map(|bit| if set(bit) { '|' } else { ' ' });
        columns.collect()
    };
    let mut lines = vec![bits];
    if value == 0 {
        return lines;
    }
    let trailing = value.trailing_zeros() as usize;
    lines.push(bars(trailing));
    let (number_width, mask_width) = (top.to_string().len(), (top / 4).saturating_add(1));
    for bit in (trailing..=top).filter(|bit| set(*bit)) {
        let above = bars(bit.saturating_add(1));
        let arm = "-".repeat(bit.saturating_add(2));
        let mask = 1_u64.checked_shl(u32::try_from(bit).unwrap_or(63)).unwrap_or(0);
        lines.push(format!("{above}+{arm} bit {bit:<number_width$} mask 0x{mask:0mask_width$x}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_follow_the_size() {
        assert_eq!(integer(Style::Signed, 0xff, 1, 16), "-1");
        assert_eq!(integer(Style::Signed, 0xff, 2, 16), "255");
        assert_eq!(integer(Style::Signed, u64::MAX, 8, 16), "-1");
        assert_eq!(integer(Style::SignedOctal, u64::MAX, 8, 16), "-1");
        assert_eq!(integer(Style::SignedZeroOctal, 0xfff8, 2, 16), "-010");
        assert_eq!(integer(Style::ZeroOctal, 8, 2, 16), "010");
        assert_eq!(integer(Style::ZeroOctal, 0, 2, 16), "0");
        assert_eq!(integer(Style::Radix, 8, 2, 8), "10");
        assert_eq!(truncated(0x1ff, 1), 0xff);
        assert_eq!(swapped(0x1234, 2), 0x3412);
        assert_eq!(swapped(0x1234_5678, 4), 0x7856_3412);
    }

    #[test]
    fn jazz_is_that_of_mdb() {
        let expected = [
            "1000000000101",
            "|         | |",
            "|         | +-- bit 0  mask 0x0001",
            "|         +---- bit 2  mask 0x0004",
            "+-------------- bit 12 mask 0x1000",
        ];
        assert_eq!(jazzed(0x1005), expected);
        assert_eq!(jazzed(0), ["0"]);
        assert_eq!(jazzed(u64::MAX).len(), 66);
    }
}
