//! What is equal to what, and less.

use std::cmp::Ordering;

use kcore_symbols::{Type, TypeKind};

use super::{
    arithmetic::{as_float, promoted},
    operator::Binary,
    scalar::Scalar,
};
use crate::{Content, Limits, Number, Object, Process};

/// How two numbers stand to each other; `None` where one is no number, as a NaN is.
pub fn numbers(left: &Scalar, right: &Scalar) -> Option<Ordering> {
    match (left, right) {
        (Scalar::Integer(left), Scalar::Integer(right)) => Some(integers(left, right)),
        (Scalar::Float(..), _) | (_, Scalar::Float(..)) => {
            as_float(left).partial_cmp(&as_float(right))
        }
        (left, right) => Some(address(left).cmp(&address(right))),
    }
}

fn address(scalar: &Scalar) -> u128 {
    match scalar {
        Scalar::Pointer(at, _) => u128::from(at.get()),
        // An integer beside a pointer is as wide as an address: -1 is the highest.
        Scalar::Integer(number) => number.clone().extended(64).cut(64).bits,
        Scalar::Float(..) => 0,
    }
}

/// As in C, -1 is greater than `1u`, whose type has no sign.
fn integers(left: &Number, right: &Number) -> Ordering {
    let (left, right) = (promoted(left), promoted(right));
    let size = left.size.max(right.size);
    let is_unsigned = |number: &Number| !number.signed && number.size == size;
    let (is_left, is_right) = (is_unsigned(&left), is_unsigned(&right));
    let (left, right) = (left.extended(size), right.extended(size));
    match (is_left || is_right, left.value(), right.value()) {
        (false, Some(left), Some(right)) => left.cmp(&right),
        _ => left.cut(size).bits.cmp(&right.cut(size).bits),
    }
}

/// What an operator says of an order.
pub fn holds(operator: Binary, order: Option<Ordering>) -> bool {
    match operator {
        Binary::Equal => order == Some(Ordering::Equal),
        Binary::NotEqual => order != Some(Ordering::Equal),
        Binary::Less => order == Some(Ordering::Less),
        Binary::LessOrEqual => order.is_some_and(Ordering::is_le),
        Binary::Greater => order == Some(Ordering::Greater),
        Binary::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        _ => false,
    }
}

/// What an object says as text, as far as a text of so many bytes needs to know; `None` of what is no text.
pub fn text_of(process: &dyn Process, object: &Object, len: usize) -> Option<String> {
    let limits = Limits { depth: Some(2), characters: None, pointers: 0, ..Limits::default() };
    match object.value(process, &limits).content {
        Content::Text(text) => Some(text.text.to_string()),
        Content::Bytes(bytes) => Some(before_nul(&bytes)),
        Content::Pointer(pointer) => match pointer.text? {
            text if text.is_cut && text.text.len() < len => {
                Some(before_nul(&process.space().read_held(pointer.to?, len as u64)))
            }
            text => Some(text.text.to_string()),
        },
        _ => None,
    }
}

fn before_nul(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The number of an enumerator: its name alone, or behind that of its type.
pub fn enumerator(process: &dyn Process, object: &Object, name: &str) -> Option<(Type, i128)> {
    let ty = object.complete_type(process).ok()?;
    let TypeKind::Enumeration(enumeration) = ty.kind() else { return None };
    let last = name.rsplit("::").next()?;
    let found =
        enumeration.enumerators.iter().find(|one| &*one.name == name || &*one.name == last)?;
    Some((ty.clone(), found.value))
}
