//! Objects as the numbers that operators take, and numbers as objects.

use kcore_mem::{Addr, Target};
use kcore_symbols::{Encoding, Language, PointerKind, Type, TypeKind};

use super::basic;
use crate::object::element_type;
use crate::{Content, Limits, Number, Object, ObjectError, Process};

/// What an operator takes.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// An integer, a character, a truth value, or a number with names.
    Integer(Number),
    /// A floating-point number, and whether it is a `float`.
    Float(f64, bool),
    /// An address, and the type of the pointer to it.
    Pointer(Addr, Type),
}

impl Scalar {
    /// What an object is to operators: what a reference refers to, the address of an array's first element and of a
    /// function, what an atomic number holds. `None` for what is no number.
    pub fn of(process: &dyn Process, object: &Object) -> Result<Option<Self>, ObjectError> {
        let ty = object.complete_type(process)?;
        match ty.kind() {
            TypeKind::Pointer(pointer) if pointer.kind != PointerKind::Pointer => {
                Self::of(process, &object.target(process)?)
            }
            TypeKind::Pointer(_) => {
                Ok(Some(Self::Pointer(object.pointer(process)?, object.ty.clone())))
            }
            TypeKind::Array(array) => {
                let element = element_type(&ty, array)?;
                Ok(object.address().map(|at| Self::Pointer(at, pointer_to(process, &element))))
            }
            TypeKind::Function(_) => {
                Ok(object.address().map(|at| Self::Pointer(at, pointer_to(process, &object.ty))))
            }
            TypeKind::Base(base) if base.encoding == Encoding::Float => shown(process, object),
            TypeKind::Base(_) | TypeKind::Enumeration(_) => {
                object.number(process).map(|number| Some(Self::Integer(number)))
            }
            _ => shown(process, object),
        }
    }

    /// Whether it counts as true.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Integer(number) => number.bits != 0,
            Self::Float(value, _) => *value != 0.0,
            Self::Pointer(at, _) => at.get() != 0,
        }
    }
}

/// Whether an object is a pointer, or a reference.
pub fn is_pointer(process: &dyn Process, object: &Object) -> bool {
    object.complete_type(process).is_ok_and(|ty| matches!(ty.kind(), TypeKind::Pointer(_)))
}

/// The number that a value is shown as: of standard libraries' atomic numbers and wrappers.
fn shown(process: &dyn Process, object: &Object) -> Result<Option<Scalar>, ObjectError> {
    let limits = Limits { depth: Some(1), elements: Some(1), pointers: 0, ..Limits::default() };
    let value = object.value(process, &limits);
    // A time is no number: what counts is its unit too.
    if matches!(value.content, Content::Meant(_)) {
        return Ok(None);
    }
    Ok(match value.content {
        Content::Integer(number) | Content::Bool(number) => Some(Scalar::Integer(number)),
        Content::Enum(value) => Some(Scalar::Integer(value.number)),
        Content::Float(float) => Some(Scalar::Float(float.value, float.size <= 4)),
        Content::Pointer(pointer) => {
            pointer.to.map(|to| Scalar::Pointer(to, pointer_to(process, &Type::void())))
        }
        Content::Absent(why) => return Err(why.into()),
        _ => None,
    })
}

/// A pointer to a type, as wide as those of the process.
pub fn pointer_to(process: &dyn Process, ty: &Type) -> Type {
    ty.pointer(u64::from(process.space().target().word))
}

/// An integer that was computed.
pub fn integer(target: Target, number: &Number) -> Object {
    let ty = basic::integer(target, number.size, number.signed);
    of_bits(target, ty, number.bits)
}

/// A floating-point number that was computed.
pub fn float(target: Target, value: f64, is_single: bool) -> Object {
    let ty = basic::floating(is_single);
    of_bits(target, ty, bits_of(value, is_single))
}

/// The bits of a floating-point number.
#[expect(clippy::cast_possible_truncation, reason = "C rounds a double that becomes a float")]
pub fn bits_of(value: f64, is_single: bool) -> u128 {
    match is_single {
        true => u128::from((value as f32).to_bits()),
        false => u128::from(value.to_bits()),
    }
}

/// Whether a comparison has the answer yes.
pub fn truth(target: Target, is_true: bool, has_bool: bool) -> Object {
    of_bits(target, basic::truth(target, has_bool), u128::from(is_true))
}

/// Whether the language of a type has a type of its own for truth values.
pub fn has_bool(ty: &Type) -> bool {
    use Language::{Cpp, Go, Rust};
    matches!(ty.language(), Some(Cpp | Go | Rust))
}

/// An object that lies nowhere, and whose bits are known.
pub fn of_bits(target: Target, ty: Type, bits: u128) -> Object {
    Object::of_number(ty, bits, target)
}
