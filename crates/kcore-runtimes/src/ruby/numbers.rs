//! Numbers of Ruby: `numeric.c`, `internal/bignum.h`, `rational.c`, `complex.c`.

use kcore_mem::Addr;

use super::{
    heap::{BIGNUM, COMPLEX, FLOAT, Object, RATIONAL},
    value::{Teller, note, of_parts},
};
use crate::{ScriptLabel, ScriptNode, ScriptPart, ScriptScalar};

/// The bits that say that a word is a float, and what they are of one.
pub(super) const FLONUM_MASK: u64 = 3;
pub(super) const FLONUM: u64 = 2;
/// The flonum of 0.0.
const ZERO: u64 = 0x8000_0000_0000_0002;
/// Digits of an integer that are told, at most: `BDIGIT` of `internal/bignum.h` has 32 bits.
const MAX_DIGITS: u64 = 128;
const DIGIT: u64 = 4;
/// Flags of a big integer: it is positive; its digits lie in it.
const POSITIVE: u32 = 1;
const EMBEDDED: u32 = 2;
/// The two numbers of a complex or rational one: `struct RComplex`, `struct RRational`.
const FIRST: u64 = 16;
const SECOND: u64 = 24;

impl Teller<'_> {
    /// An integer that a word cannot hold.
    pub(super) fn big(&self, object: Object) -> ScriptNode {
        let sign = if object.has(POSITIVE) { "" } else { "-" };
        match self.digits(object) {
            Some(digits) => {
                let text = format!("{sign}{}", decimal(digits));
                ScriptNode::scalar("integer", ScriptScalar::Integer(text.into()))
            }
            None => note("integer", "a big integer"),
        }
    }

    fn digits(&self, object: Object) -> Option<Vec<u64>> {
        let (at, count) = match object.has(EMBEDDED) {
            true => (object.at.checked_add(16)?, object.flags >> 15 & 7),
            false => (Addr::new(self.heap.word(object.at, 24)?), self.heap.word(object.at, 16)?),
        };
        (count <= MAX_DIGITS).then_some(())?;
        (0..count).map(|index| self.heap.uint(at, index.checked_mul(DIGIT)?, 4)).collect()
    }

    /// A number that is part of another one: a part of a complex number may be a rational one.
    fn number(&self, value: u64, may_be_rational: bool) -> ScriptNode {
        let kind = self.heap.object(value).map(Object::kind);
        match kind {
            Some(RATIONAL) if !may_be_rational => note("rational", "unreadable"),
            None | Some(RATIONAL | FLOAT | BIGNUM) => self.node(value, 0),
            Some(_) => note("number", "unreadable"),
        }
    }

    /// A complex or rational number: two numbers.
    pub(super) fn pair(&self, object: Object) -> ScriptNode {
        let (kind, first, second) = match object.kind() {
            COMPLEX => ("complex", "real", "imaginary"),
            _ => ("rational", "numerator", "denominator"),
        };
        let part = |name, offset| {
            let value = self.number(self.heap.word(object.at, offset)?, object.kind() == COMPLEX);
            Some(ScriptPart::new(ScriptLabel::Fact(name), value))
        };
        match (part(first, FIRST), part(second, SECOND)) {
            (Some(first), Some(second)) => of_parts(kind, vec![first, second], 2),
            _ => note(kind, "unreadable"),
        }
    }
}

/// A float that its word holds: `rb_float_flonum_value`.
pub(super) fn flonum(value: u64) -> f64 {
    if value == ZERO {
        return 0.0;
    }
    let high = value >> 63;
    let bits = (2_u64.wrapping_sub(high)) | (value & !3);
    f64::from_bits(bits.rotate_right(3))
}

/// Digits of 32 bits, the lowest first, in decimal.
fn decimal(mut digits: Vec<u64>) -> String {
    const PART: u64 = 1_000_000_000;
    let mut parts: Vec<u64> = Vec::new();
    while digits.iter().any(|digit| *digit != 0) {
        let mut rest = 0_u64;
        for digit in digits.iter_mut().rev() {
            let whole = rest << 32 | *digit;
            *digit = whole.checked_div(PART).unwrap_or_default();
            rest = whole.checked_rem(PART).unwrap_or_default();
        }
        parts.push(rest);
    }
    let Some(first) = parts.pop() else { return "0".to_owned() };
    let rest = parts.iter().rev().map(|part| format!("{part:09}"));
    std::iter::once(first.to_string()).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_in_a_word_are_what_ruby_made_of_them() {
        // `rb_float_new_inline` of include/ruby/internal/... : the bits turned by three, with the tag.
        let made = |number: f64| number.to_bits().rotate_left(3) & !3 | FLONUM;
        for number in [1.0, -1.0, 0.1, 3.25, 1e10, -2.5e-10, 1e70] {
            assert_eq!(flonum(made(number)), number);
        }
        assert_eq!(flonum(ZERO), 0.0);
    }

    #[test]
    fn big_integers_are_spelled_in_decimal() {
        assert_eq!(decimal(vec![0, 0, 1]), "18446744073709551616");
        assert_eq!(decimal(vec![0, 0, 0, 0, 1]), "340282366920938463463374607431768211456");
        assert_eq!(
            (decimal(vec![]), decimal(vec![1_000_000_000])),
            ("0".into(), "1000000000".into())
        );
    }
}
