//! Arithmetic as C defines it: small integers become `int`, two operands a common type, results wrap around.

use kcore_mem::{Addr, Target};
use kcore_symbols::{Type, TypeKind};

use super::{
    ExpressionFault,
    operator::Binary,
    scalar::{self, Scalar},
    tree::Unary,
};
use crate::{Number, Object, ObjectError, Process};

/// Bits of the smallest integers that operators compute with.
const INT: u32 = 32;

/// An integer as operators take it: of at least 32 bits, with its sign if all of its values fit.
pub fn promoted(number: &Number) -> Number {
    if number.size < INT {
        let signed = Number { signed: number.signed, ..number.clone() }.extended(INT);
        return Number { size: INT, signed: true, ..signed };
    }
    let size = number.size.next_power_of_two().min(128);
    Number { size, ..number.clone().extended(size) }
}

/// Two integers of their common type.
fn common(left: &Number, right: &Number) -> (Number, Number) {
    let (left, right) = (promoted(left), promoted(right));
    let size = left.size.max(right.size);
    let is_unsigned = |number: &Number| !number.signed && number.size == size;
    let signed = !is_unsigned(&left) && !is_unsigned(&right);
    let converted = |number: Number| Number { size, signed, ..number.extended(size) };
    (converted(left), converted(right))
}

/// `-a`, `+a`, `~a`; `None` where the operand is none for it.
pub fn unary(target: Target, operator: Unary, operand: &Scalar) -> Option<Object> {
    let number = match operand {
        Scalar::Float(value, single) => {
            return match operator {
                Unary::Minus => Some(scalar::float(target, -value, *single)),
                Unary::Plus => Some(scalar::float(target, *value, *single)),
                _ => None,
            };
        }
        Scalar::Integer(number) => promoted(number),
        Scalar::Pointer(..) => return None,
    };
    let bits = match operator {
        Unary::Minus => number.bits.wrapping_neg(),
        Unary::Complement => !number.bits,
        _ => number.bits,
    };
    let size = number.size;
    Some(scalar::integer(target, &Number { bits, ..number }.cut(size)))
}

/// Computes an arithmetic, bitwise or shift operator; `None` where it takes no operands of these kinds.
///
/// # Errors
/// A division by zero, a shift by too many bits, or a pointer to something whose size is not known.
pub fn binary(
    process: &dyn Process,
    operator: Binary,
    left: &Scalar,
    right: &Scalar,
) -> Result<Option<Object>, ExpressionFault> {
    let target = process.space().target();
    match (left, right) {
        (Scalar::Integer(left), Scalar::Integer(right)) => {
            let number = integers(operator, left, right)?;
            Ok(number.map(|number| scalar::integer(target, &number)))
        }
        (Scalar::Pointer(at, ty), Scalar::Integer(count))
            if matches!(operator, Binary::Add | Binary::Subtract) =>
        {
            let count = promoted(count).value().unwrap_or(0);
            let count = if operator == Binary::Add { count } else { count.saturating_neg() };
            moved(process, *at, ty, count).map(Some)
        }
        (Scalar::Integer(count), Scalar::Pointer(at, ty)) if operator == Binary::Add => {
            moved(process, *at, ty, promoted(count).value().unwrap_or(0)).map(Some)
        }
        (Scalar::Pointer(left, ty), Scalar::Pointer(right, _)) if operator == Binary::Subtract => {
            distance(process, *left, *right, ty).map(Some)
        }
        (Scalar::Pointer(..), _) | (_, Scalar::Pointer(..)) => Ok(None),
        (left, right) => Ok(floats(operator, as_float(left), as_float(right)).map(|value| {
            let is_single = |scalar: &Scalar| matches!(scalar, Scalar::Float(_, true));
            let is_double = |scalar: &Scalar| matches!(scalar, Scalar::Float(_, false));
            let single =
                (is_single(left) || is_single(right)) && !is_double(left) && !is_double(right);
            scalar::float(target, value, single)
        })),
    }
}

/// A number as a floating-point one.
#[expect(clippy::cast_precision_loss, reason = "as in C, which rounds too")]
pub fn as_float(scalar: &Scalar) -> f64 {
    match scalar {
        Scalar::Float(value, _) => *value,
        Scalar::Integer(number) => number.value().map_or(number.bits as f64, |value| value as f64),
        Scalar::Pointer(at, _) => at.get() as f64,
    }
}

fn floats(operator: Binary, left: f64, right: f64) -> Option<f64> {
    Some(match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide => left / right,
        _ => return None,
    })
}

fn integers(
    operator: Binary,
    left: &Number,
    right: &Number,
) -> Result<Option<Number>, ExpressionFault> {
    if matches!(operator, Binary::ShiftLeft | Binary::ShiftRight) {
        return shifted(operator, promoted(left), promoted(right)).map(Some);
    }
    let (left, right) = common(left, right);
    let bits = match operator {
        Binary::Or => left.bits | right.bits,
        Binary::Xor => left.bits ^ right.bits,
        Binary::And => left.bits & right.bits,
        Binary::Add => left.bits.wrapping_add(right.bits),
        Binary::Subtract => left.bits.wrapping_sub(right.bits),
        Binary::Multiply => left.bits.wrapping_mul(right.bits),
        Binary::Divide | Binary::Modulus => quotient(operator, &left, &right)?,
        _ => return Ok(None),
    };
    let size = left.size;
    Ok(Some(Number { bits, ..left }.cut(size)))
}

fn quotient(operator: Binary, left: &Number, right: &Number) -> Result<u128, ExpressionFault> {
    if right.bits == 0 {
        return Err(ExpressionFault::DivisionByZero);
    }
    let is_quotient = operator == Binary::Divide;
    if let (true, Some(left), Some(right)) = (left.signed, left.value(), right.value()) {
        // The least number divided by -1 is itself, as it wraps around.
        let found = match is_quotient {
            true => left.checked_div(right).unwrap_or(left),
            false => left.checked_rem(right).unwrap_or(0),
        };
        return Ok(found.cast_unsigned());
    }
    let (left, right) = (left.bits, right.bits);
    let found = if is_quotient { left.checked_div(right) } else { left.checked_rem(right) };
    found.ok_or(ExpressionFault::DivisionByZero)
}

fn shifted(operator: Binary, left: Number, right: Number) -> Result<Number, ExpressionFault> {
    let by = right.value().unwrap_or(i128::MAX);
    let bits = u32::try_from(by).ok().filter(|bits| *bits < left.size);
    let bits = bits.ok_or(ExpressionFault::Shift(left.size, by))?;
    let size = left.size;
    let shifted = match (operator, left.value().filter(|_| left.signed)) {
        (Binary::ShiftLeft, _) => left.bits.checked_shl(bits),
        (_, Some(value)) => value.checked_shr(bits).map(i128::cast_unsigned),
        (_, None) => left.bits.checked_shr(bits),
    };
    Ok(Number { bits: shifted.unwrap_or(0), ..left }.cut(size))
}

/// Bytes of what a pointer points to; those of `void` and of functions are one, as with gcc.
fn step(process: &dyn Process, pointer: &Type) -> Result<i128, ExpressionFault> {
    let stripped = pointer.stripped().map_err(ObjectError::from)?;
    let TypeKind::Pointer(inner) = stripped.kind() else {
        return Err(ExpressionFault::Size(pointer.spelled()));
    };
    let to = stripped.follow(&inner.to).map_err(ObjectError::from)?;
    let complete = Object::at(to, Addr::new(0)).complete_type(process)?;
    match complete.kind() {
        TypeKind::Void | TypeKind::Function(_) => Ok(1),
        _ => {
            complete.size().map(i128::from).ok_or_else(|| ExpressionFault::Size(complete.spelled()))
        }
    }
}

/// The pointer to so many objects behind another.
fn moved(
    process: &dyn Process,
    at: Addr,
    ty: &Type,
    count: i128,
) -> Result<Object, ExpressionFault> {
    let target = process.space().target();
    let bytes = count.wrapping_mul(step(process, ty)?);
    let bits = u128::from(at.get()).wrapping_add_signed(bytes);
    let number =
        Number { bits, size: 128, signed: false }.cut(u32::from(target.word).wrapping_mul(8));
    Ok(scalar::of_bits(target, ty.clone(), number.bits))
}

/// How many objects lie between two pointers.
fn distance(
    process: &dyn Process,
    left: Addr,
    right: Addr,
    ty: &Type,
) -> Result<Object, ExpressionFault> {
    let target = process.space().target();
    let bytes = i128::from(left.get()).wrapping_sub(i128::from(right.get()));
    let count = bytes.checked_div(step(process, ty)?).ok_or(ExpressionFault::DivisionByZero)?;
    let size = u32::from(target.word).wrapping_mul(8);
    let number = Number { bits: count.cast_unsigned(), size: 128, signed: true }.cut(size);
    Ok(scalar::integer(target, &number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i128, size: u32, signed: bool) -> Number {
        Number { bits: value.cast_unsigned(), size: 128, signed }.cut(size)
    }

    fn computed(operator: Binary, left: Number, right: Number) -> Option<(i128, u32, bool)> {
        let number = integers(operator, &left, &right).ok()??;
        Some((number.value()?, number.size, number.signed))
    }

    #[test]
    fn small_integers_become_int() {
        let (byte, short) = (number(200, 8, false), number(-3, 16, true));
        assert_eq!(computed(Binary::Add, byte.clone(), byte), Some((400, 32, true)));
        assert_eq!(computed(Binary::Multiply, short.clone(), short), Some((9, 32, true)));
        assert_eq!(promoted(&number(-1, 3, true)).value(), Some(-1));
    }

    #[test]
    fn of_two_types_the_wider_counts_and_of_two_as_wide_that_without_sign() {
        let (int, unsigned) = (number(-1, 32, true), number(1, 32, false));
        let long = number(-1, 64, true);
        assert_eq!(computed(Binary::Add, int.clone(), unsigned.clone()), Some((0, 32, false)));
        assert_eq!(computed(Binary::And, int, unsigned.clone()), Some((1, 32, false)));
        assert_eq!(computed(Binary::Add, long, unsigned), Some((0, 64, true)));
    }

    #[test]
    fn quotients_round_to_zero_and_results_wrap_around() {
        let int = |value| number(value, 32, true);
        assert_eq!(computed(Binary::Divide, int(-7), int(2)), Some((-3, 32, true)));
        assert_eq!(computed(Binary::Modulus, int(-7), int(2)), Some((-1, 32, true)));
        let least = int(i128::from(i32::MIN));
        assert_eq!(
            computed(Binary::Divide, least, int(-1)),
            Some((i128::from(i32::MIN), 32, true))
        );
        assert_eq!(
            computed(Binary::Add, int(i128::from(i32::MAX)), int(1)).map(|n| n.0),
            Some(i128::from(i32::MIN))
        );
        let zero = integers(Binary::Divide, &int(1), &int(0));
        assert_eq!(zero, Err(ExpressionFault::DivisionByZero));
    }

    #[test]
    fn a_shift_keeps_the_sign_and_has_its_bounds() {
        let int = |value| number(value, 32, true);
        assert_eq!(computed(Binary::ShiftRight, int(-8), int(1)), Some((-4, 32, true)));
        let unsigned = number(0xffff_fff8, 32, false);
        assert_eq!(computed(Binary::ShiftRight, unsigned, int(1)), Some((0x7fff_fffc, 32, false)));
        assert_eq!(
            computed(Binary::ShiftLeft, number(1, 64, false), int(40)),
            Some((1 << 40, 64, false))
        );
        let far = integers(Binary::ShiftLeft, &int(1), &int(32));
        assert_eq!(far, Err(ExpressionFault::Shift(32, 32)));
    }
}
