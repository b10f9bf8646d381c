//! Formats a member as a specifier says.

use std::net::{Ipv4Addr, Ipv6Addr};

use kcore::{
    Addr, Content, Encoding, Endian, Limits, Object, ObjectError, ObjectPlace, Process, Type,
    TypeKind,
};
use kcore_dcmd::{Cx, DcmdError, civil_time, digits};

use super::{float, format::Specifier};
use crate::session_process::SessionProcess;

/// Bytes of one text, at most.
const MAX_TEXT: usize = 1023;

/// Why a member has no text.
pub enum Failure {
    /// The specifier does not fit its type, and so fits no other object.
    Type(String),
    /// It cannot be read.
    Memory(DcmdError),
}

impl Failure {
    fn of_type(message: &str) -> Self {
        Self::Type(message.to_owned())
    }
}

/// The text of the address that `.` stands for.
///
/// # Errors
/// If the specifier is not one for numbers and pointers.
pub fn dot(
    cx: &Cx<'_>,
    process: &SessionProcess<'_>,
    specifier: &Specifier,
) -> Result<String, DcmdError> {
    let value = cx.dot().number();
    let text = match specifier.letter {
        'a' | 'A' | 'p' => pointer(process, specifier.letter, value),
        'd' | 'q' | 'R' => {
            signed(specifier.letter, i128::from(value.cast_signed()), cx.shell().radix())
        }
        'o' | 'r' | 'u' | 'x' | 'X' | 'H' => unsigned(specifier.letter, value, cx.shell().radix()),
        _ => {
            let message = "expected integer or pointer format specifier for '.'";
            return Err(DcmdError::failed(message));
        }
    };
    Ok(specifier.padded(&text, address_digits(cx)))
}

/// The text of a member.
///
/// # Errors
/// When the specifier does not fit it, or it cannot be read.
pub fn text(
    cx: &Cx<'_>,
    process: &SessionProcess<'_>,
    specifier: &Specifier,
    member: &Object,
) -> Result<String, Failure> {
    let ty = member.complete_type(process).map_err(|error| Failure::Type(error.to_string()))?;
    let radix = cx.shell().radix();
    let text = match specifier.letter {
        'e' | 'E' | 'f' | 'g' | 'G' => floating(process, specifier, member)?,
        'a' if is_floating(&ty) => floating(process, specifier, member)?,
        'a' | 'A' | 'p' => match ty.kind() {
            TypeKind::Pointer(_) => {
                let at = member.pointer(process).map_err(|error| unread(cx, member, &error))?;
                pointer(process, specifier.letter, at.get())
            }
            _ => return Err(Failure::of_type("expected pointer type")),
        },
        'd' | 'q' | 'R' => {
            let number = integer(cx, process, member, &ty)?;
            signed(specifier.letter, number.value().unwrap_or_default(), radix)
        }
        'Y' => {
            let number = integer(cx, process, member, &ty)?;
            let seconds = number.value().and_then(|value| i64::try_from(value).ok());
            seconds.and_then(civil_time).unwrap_or_else(|| number.bits.to_string())
        }
        'I' => ipv4(cx, process, member, &ty)?,
        'N' => ipv6(cx, process, member, &ty)?,
        's' => string(cx, process, member, &ty)?,
        letter => {
            let number = integer(cx, process, member, &ty)?;
            let value = number.bits;
            unsigned(letter, u64::try_from(value).unwrap_or(u64::MAX), radix)
        }
    };
    Ok(specifier.padded(&text, address_digits(cx)))
}

fn is_floating(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Base(base) if base.encoding == Encoding::Float)
}

/// A floating-point number; of one that is wider than a double, the nearest double.
fn floating(
    process: &SessionProcess<'_>,
    specifier: &Specifier,
    member: &Object,
) -> Result<String, Failure> {
    match member.value(process, &Limits::default()).content {
        Content::Float(number) => {
            Ok(float::formatted(specifier.letter, number.value, specifier.precision))
        }
        Content::Absent(why) => Err(Failure::Memory(DcmdError::failed(why.to_string()))),
        _ => Err(Failure::of_type("expected floating-point type")),
    }
}

fn address_digits(cx: &Cx<'_>) -> usize {
    cx.core().target().word_size().saturating_mul(2)
}

fn pointer(process: &SessionProcess<'_>, letter: char, value: u64) -> String {
    let names = process.names();
    match letter {
        'a' => names.spelled_or_address(Addr::new(value)),
        'A' => names.spelled(Addr::new(value)).unwrap_or_default(),
        _ => digits(value, 16),
    }
}

fn signed(letter: char, value: i128, radix: u32) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let digits = unsigned(letter, u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX), radix);
    format!("{sign}{digits}")
}

fn unsigned(letter: char, value: u64, radix: u32) -> String {
    match letter {
        'o' | 'q' => digits(value, 8),
        'r' | 'R' => digits(value, radix),
        'x' => digits(value, 16),
        'X' => digits(value, 16).to_uppercase(),
        'H' => human(value),
        _ => digits(value, 10),
    }
}

/// A size in units of 1024 with three significant digits: `512`, `10.0K`, `1.21M`.
fn human(value: u64) -> String {
    const UNITS: [&str; 6] = ["K", "M", "G", "T", "P", "E"];
    let Some(power) = value.checked_ilog2().and_then(|bits| (bits / 10).checked_sub(1)) else {
        return value.to_string();
    };
    let unit = UNITS.get(power as usize).copied().unwrap_or_default();
    let shift = power.saturating_add(1).saturating_mul(10);
    let whole = value.checked_shr(shift).unwrap_or(0);
    if whole.checked_shl(shift) == Some(value) {
        return format!("{whole}{unit}");
    }
    // Doubles hold more digits than are shown.
    let scaled = value as f64 / 2_f64.powi(shift.cast_signed());
    let decimals = match scaled {
        scaled if scaled < 9.995 => 2,
        scaled if scaled < 99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.decimals$}{unit}")
}

fn integer(
    cx: &Cx<'_>,
    process: &dyn Process,
    member: &Object,
    ty: &Type,
) -> Result<kcore::Number, Failure> {
    let is_integer = match ty.kind() {
        TypeKind::Base(base) => {
            !matches!(base.encoding, Encoding::Float | Encoding::ComplexFloat | Encoding::Other(_))
        }
        TypeKind::Enumeration(_) => true,
        _ => false,
    };
    if !is_integer {
        return Err(Failure::of_type("expected integer type"));
    }
    member.number(process).map_err(|error| unread(cx, member, &error))
}

fn ipv4(cx: &Cx<'_>, process: &dyn Process, member: &Object, ty: &Type) -> Result<String, Failure> {
    let is_integer = matches!(ty.kind(), TypeKind::Base(_)) && ty.size() == Some(4);
    if !is_integer {
        return Err(Failure::of_type("expected 32-bit integer type"));
    }
    let bits = integer(cx, process, member, ty)?.bits;
    let number = u32::try_from(bits).unwrap_or_default();
    let bytes = match process.space().target().endian {
        Endian::Little => number.to_le_bytes(),
        Endian::Big => number.to_be_bytes(),
    };
    Ok(Ipv4Addr::from(bytes).to_string())
}

fn ipv6(cx: &Cx<'_>, process: &dyn Process, member: &Object, ty: &Type) -> Result<String, Failure> {
    if ty.composite().is_none() || ty.size() != Some(16) {
        return Err(Failure::of_type("requires argument of type in6_addr_t"));
    }
    let bytes = member.place.read(process, 16).map_err(|why| unread(cx, member, &why.into()))?;
    let bytes: Option<[u8; 16]> = bytes.try_into().ok();
    Ok(Ipv6Addr::from(bytes.unwrap_or_default()).to_string())
}

fn string(
    cx: &Cx<'_>,
    process: &dyn Process,
    member: &Object,
    ty: &Type,
) -> Result<String, Failure> {
    let (at, max) = match ty.kind() {
        TypeKind::Pointer(_) => {
            let at = member.pointer(process).map_err(|error| unread(cx, member, &error))?;
            (at, MAX_TEXT)
        }
        TypeKind::Array(_) => {
            let at =
                member.address().ok_or_else(|| Failure::of_type("can't determine array type"))?;
            let size = ty.size().and_then(|size| usize::try_from(size).ok());
            (at, size.unwrap_or(MAX_TEXT).min(MAX_TEXT))
        }
        _ => return Err(Failure::of_type("expected pointer or array type")),
    };
    let bytes = process.space().read_held(at, max as u64);
    if bytes.is_empty() && max > 0 {
        let why =
            process.space().slice(at).err().map_or("no mapping for address", |why| why.reason());
        let message = format!("failed to read string at {:x}: {why}", at.get());
        return Err(Failure::Memory(DcmdError::at(at, message)));
    }
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// A member that cannot be read.
fn unread(cx: &Cx<'_>, member: &Object, error: &ObjectError) -> Failure {
    let (ObjectPlace::Memory(at) | ObjectPlace::Bits(at, _)) = &member.place else {
        return Failure::Memory(DcmdError::failed(error.to_string()));
    };
    let reason = cx.core().space().slice(*at).err();
    let reason = reason.map_or_else(|| error.to_string(), |fault| fault.reason().to_owned());
    let size = member.ty.size().unwrap_or(1);
    let message = format!("failed to read {size} bytes at {:x}: {reason}", at.get());
    Failure::Memory(DcmdError::at(*at, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_for_people_have_three_digits() {
        let all = [512, 1024, 10_241, 1_268_777, 1_043_968, 1 << 30];
        assert_eq!(all.map(human), ["512", "1K", "10.0K", "1.21M", "1020K", "1G"]);
        assert_eq!(human(u64::MAX), "16.0E");
        assert_eq!(human(0), "0");
    }

    #[test]
    fn numbers_have_the_radix_of_their_letter() {
        assert_eq!(unsigned('x', 0xab, 10), "ab");
        assert_eq!(unsigned('X', 0xab, 10), "AB");
        assert_eq!(unsigned('r', 0xab, 10), "171");
        assert_eq!(signed('d', -7, 16), "-7");
        assert_eq!(signed('q', -8, 16), "-10");
        assert_eq!(signed('R', -0x1f, 16), "-1f");
    }
}
