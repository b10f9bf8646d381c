//! Numbers, characters, truth values, and numbers with names.

use std::fmt::Write;

use kcore_mem::{Addr, Endian, Target};
use kcore_symbols::{BaseType, Encoding, Type};

use super::float;
use crate::{
    Content, EnumValue, Number, Object, ObjectError, Pointer, Process, object::byte_order,
};

/// Characters of C, and of Free Pascal, whatever sign they have; other bytes without one are numbers.
const CHARACTERS: &[&str] = &["char", "wchar_t", "Char"];

/// What `void` says, and types that DWARF leaves open.
pub fn of_no_type(ty: &Type) -> Content {
    match ty.name() {
        Some("decltype(nullptr)") => Content::Pointer(Pointer::to(Some(Addr::new(0)))),
        Some(name) => Content::Other(name.to_owned()),
        None => Content::Empty,
    }
}

/// A number, a character, or a truth value.
pub fn base(
    process: &dyn Process,
    object: &Object,
    ty: &Type,
    base: BaseType,
) -> Result<Content, ObjectError> {
    match base.encoding {
        _ if ty.size() == Some(0) => Ok(Content::Empty),
        Encoding::Float | Encoding::ComplexFloat => floating(process, object, ty, base),
        Encoding::Other(_) => hexadecimal(process, object, ty, base),
        _ if ty.size().is_some_and(|size| size > 16) => hexadecimal(process, object, ty, base),
        encoding => {
            let number = object.number(process)?;
            Ok(match encoding {
                Encoding::Bool => Content::Bool(number),
                _ if is_character(ty, base) && !is_narrow(object, ty) => {
                    Content::Character(code(&number))
                }
                _ => Content::Integer(number),
            })
        }
    }
}

/// Whether a type is one of characters.
pub fn is_character(ty: &Type, base: BaseType) -> bool {
    matches!(base.encoding, Encoding::SignedChar | Encoding::Unicode)
        || ty.name().is_some_and(|name| CHARACTERS.contains(&name) || name == "character(kind=4)")
}

/// Whether it is a bit-field of fewer bits than its type has, which holds a number and no character.
fn is_narrow(object: &Object, ty: &Type) -> bool {
    let all = ty.size().and_then(|size| size.checked_mul(8));
    object.place.bits().is_some_and(|bits| all.is_some_and(|all| bits.size < all))
}

/// The code of a character, whatever sign its type has.
fn code(number: &Number) -> u32 {
    u32::try_from(number.bits).unwrap_or(u32::MAX)
}

/// A number with names.
pub fn enumeration(
    process: &dyn Process,
    object: &Object,
    ty: &Type,
) -> Result<Content, ObjectError> {
    let number = object.number(process)?;
    Ok(Content::Enum(EnumValue { number, names: ty.clone() }))
}

fn floating(
    process: &dyn Process,
    object: &Object,
    ty: &Type,
    base: BaseType,
) -> Result<Content, ObjectError> {
    let bytes = object.place.read(process, ty.size().unwrap_or(0))?;
    let target = process.space().target();
    let target = Target { endian: byte_order(target.endian, base), ..target };
    let name = ty.name().unwrap_or_default();
    let one = |bytes: &[u8]| float::decode(bytes, target, name);
    let content = match base.encoding {
        Encoding::ComplexFloat => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            one(real).zip(one(imaginary)).map(|(real, imaginary)| Content::Complex(real, imaginary))
        }
        _ => one(&bytes).map(Content::Float),
    };
    content.map_or_else(|| hexadecimal(process, object, ty, base), Ok)
}

/// The digits of a number that has more bits than others, or a format that is not read.
fn hexadecimal(
    process: &dyn Process,
    object: &Object,
    ty: &Type,
    base: BaseType,
) -> Result<Content, ObjectError> {
    const MAX_SIZE: u64 = 1 << 12;
    let mut bytes = object.place.read(process, ty.size().unwrap_or(0).min(MAX_SIZE))?;
    if (process.space().target().endian == Endian::Little) != base.swapped {
        bytes.reverse();
    }
    let mut digits = String::new();
    for byte in bytes {
        write!(digits, "{byte:02x}").unwrap_or_default();
    }
    let digits = digits.trim_start_matches('0');
    Ok(Content::Other(if digits.is_empty() { "0".to_owned() } else { format!("0x{digits}") }))
}
