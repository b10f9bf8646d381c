//! `decimal.Decimal`: `PyDecObject` of `Modules/_decimal/_decimal.c`, `mpd_t` of libmpdec's `mpdecimal.h` (2.4 to 4.0,
//! CPython 3.8 to 3.15).

use kcore_mem::Addr;

use super::{
    super::heap::{Heap, Object},
    Value, ValueKind,
    reader::Reader,
};

/// `flags`, `exp`, `digits`, `len` and `data` of its `mpd_t`, which lies behind its hash.
const FLAGS: u64 = 24;
const EXPONENT: u64 = 32;
const DIGITS: u64 = 40;
const LENGTH: u64 = 48;
const DATA: u64 = 64;
/// `MPD_NEG`, `MPD_INF`, `MPD_NAN`, `MPD_SNAN`.
const NEGATIVE: u64 = 1;
const INFINITE: u64 = 2;
const NAN: u64 = 4;
const SIGNALING: u64 = 8;
/// `MPD_RADIX`, and how many digits a word of the coefficient has.
const RADIX: u64 = 10_000_000_000_000_000_000;
const WORD_DIGITS: usize = 19;
/// Words of a coefficient, at most.
const MAX_WORDS: u64 = 4096;

impl Reader<'_> {
    /// What its constructor takes for it.
    pub(super) fn decimal(&mut self, object: Object) -> Option<ValueKind> {
        let text = spelled(&self.heap, object)?;
        Some(self.call(object, vec![Value::made(&text)], Vec::new()))
    }
}

/// What `str()` has for it.
fn spelled(heap: &Heap<'_>, object: Object) -> Option<String> {
    let flags = heap.uint(object.at, FLAGS, 1)?;
    let sign = if flags & NEGATIVE != 0 { "-" } else { "" };
    let digits = coefficient(heap, object)?;
    let payload = digits.trim_start_matches('0');
    Some(match () {
        () if flags & INFINITE != 0 => format!("{sign}Infinity"),
        () if flags & NAN != 0 => format!("{sign}NaN{payload}"),
        () if flags & SIGNALING != 0 => format!("{sign}sNaN{payload}"),
        () => {
            let exponent = heap.word(object.at, EXPONENT)?.cast_signed();
            format!("{sign}{}", number(&digits, exponent)?)
        }
    })
}

/// The digits of its coefficient; `None` where there are not as many as it says.
fn coefficient(heap: &Heap<'_>, object: Object) -> Option<String> {
    let length = heap.word(object.at, LENGTH).filter(|length| *length <= MAX_WORDS)?;
    let data = Addr::new(heap.word(object.at, DATA)?);
    let bytes = heap.space.read_held(data, length.checked_mul(8)?);
    let words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let words: Vec<u64> = words.rev().collect();
    let is_whole = words.len() as u64 == length && words.iter().all(|word| *word < RADIX);
    is_whole.then_some(())?;
    let digits: String = words.iter().map(|word| format!("{word:0WORD_DIGITS$}")).collect();
    let digits = match digits.trim_start_matches('0') {
        "" if length > 0 => "0",
        digits => digits,
    };
    (digits.len() as u64 == heap.word(object.at, DIGITS)?).then(|| digits.to_owned())
}

/// A finite number: with an exponent where it has more than five zeros behind the point, or needs some before it.
/// `__str__` of `Lib/_pydecimal.py`.
fn number(digits: &str, exponent: i64) -> Option<String> {
    let count = i64::try_from(digits.len()).ok()?;
    let left = exponent.checked_add(count)?;
    let point = if exponent <= 0 && left > -6 { left } else { 1 };
    let text = match usize::try_from(point) {
        Ok(point) if point > 0 => match digits.split_at_checked(point) {
            Some((whole, "")) => whole.to_owned(),
            Some((whole, part)) => format!("{whole}.{part}"),
            None => return None,
        },
        _ => {
            let zeros = usize::try_from(point.checked_neg()?).ok()?;
            format!("0.{}{digits}", "0".repeat(zeros))
        }
    };
    let power = left.checked_sub(point)?;
    Some(if power == 0 { text } else { format!("{text}E{power:+}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_decimal_does() {
        let of = |digits, exponent| number(digits, exponent).unwrap();
        assert_eq!(of("15", -1), "1.5");
        assert_eq!(of("0", 0), "0");
        assert_eq!(of("1", -6), "0.000001");
        assert_eq!(of("1", -7), "1E-7");
        assert_eq!(of("123", -9), "1.23E-7");
        assert_eq!(of("1", 3), "1E+3");
        assert_eq!(of("0", -2), "0.00");
        assert_eq!(of("12", i64::MIN + 8), "1.2E-9223372036854775799");
        assert_eq!(number("12", i64::MAX), None);
    }
}
