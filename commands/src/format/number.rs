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

/// A floating-point number as C's `%+.Ne` writes it.
pub fn float(value: f64, digits: usize) -> String {
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

/// Seconds since 1970 as `2013 Apr 19 18:00:00`, in UTC; `None` for a year that nobody means.
pub fn time(seconds: i64) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const DAY: i64 = 86_400;
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil(days).filter(|(year, ..)| (0..=9999).contains(year))?;
    let month = MONTHS.get(month)?;
    let (hour, minute, second) = (second / 3600, (second / 60) % 60, second % 60);
    Some(format!("{year} {month} {day:2} {hour:02}:{minute:02}:{second:02}"))
}

/// Year, month from 0 and day from 1 of a day since 1970, in the Gregorian calendar (Howard
/// Hinnant, <https://howardhinnant.github.io/date_algorithms.html>).
fn civil(days: i64) -> Option<(i64, usize, i64)> {
    /// Days from 0000-03-01 to 1970-01-01, and in 400 years.
    const EPOCH: i64 = 719_468;
    const ERA: i64 = 146_097;
    let days = days.checked_add(EPOCH)?;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let leaps = (of_era / 1460).checked_sub(of_era / 36_524)?.checked_add(of_era / 146_096)?;
    let year_of_era = of_era.checked_sub(leaps)? / 365;
    let before_year = year_of_era.checked_mul(365)?.checked_add(year_of_era / 4)?;
    let day_of_year = of_era.checked_sub(before_year)?.checked_add(year_of_era / 100)?;
    // Months count from March, so that the leap day is the last of a year.
    let month = day_of_year.checked_mul(5)?.checked_add(2)? / 153;
    let before_month = month.checked_mul(153)?.checked_add(2)? / 5;
    let day = day_of_year.checked_sub(before_month)?.checked_add(1)?;
    let is_next_year = month >= 10;
    let year = year_of_era.checked_add(era.checked_mul(400)?)?.checked_add(is_next_year.into())?;
    let month = month.checked_add(2)?.rem_euclid(12);
    Some((year, usize::try_from(month).ok()?, day))
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
    fn floats_are_those_of_c() {
        assert_eq!(float(1.0, 7), "+1.0000000e+00");
        assert_eq!(float(-0.5, 16), "-5.0000000000000000e-01");
        assert_eq!(float(1e100, 7), "+1.0000000e+100");
        assert_eq!(float(f64::NEG_INFINITY, 7), "-inf");
    }

    #[test]
    fn times_are_civil() {
        assert_eq!(time(0x5e2f_1a33).unwrap(), "2020 Jan 27 17:13:23");
        assert_eq!(time(0).unwrap(), "1970 Jan  1 00:00:00");
        assert_eq!(time(-1).unwrap(), "1969 Dec 31 23:59:59");
        assert_eq!(time(951_782_400).unwrap(), "2000 Feb 29 00:00:00");
        assert_eq!(time(i64::MAX), None);
        assert_eq!(time(i64::MIN), None);
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
