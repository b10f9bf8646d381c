//! Values as Go's runtime prints them when a panic ends a program (`runtime/error.go`, `printpanicval`;
//! `runtime/print.go`).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::types::{GoType, Kind};

/// Bytes of a text, at most.
const MAX_TEXT: u64 = 16 << 10;
/// The first minor version that indents what stands behind an end of a line.
const INDENTED: u8 = 23;
/// The first minor version that prints fractions as short as they can be.
pub const SHORT: u8 = 26;

/// Prints a value of a type; `data` is the second word of the interface that holds it. `None` where memory does not
/// hold it.
pub fn printed(space: &dyn AddressSpace, minor: u8, ty: &GoType, data: Addr) -> Option<Arc<str>> {
    let value = match ty.kind {
        Kind::Text if minor < INDENTED => text(space, data)?,
        Kind::Text => text(space, data)?.replace('\n', "\n\t"),
        Kind::Bool => (space.read_uint(data, 1).ok()? != 0).to_string(),
        Kind::Int(bytes) => {
            signed(space.read_uint(data, usize::from(bytes)).ok()?, bytes).to_string()
        }
        Kind::Uint(bytes) => space.read_uint(data, usize::from(bytes)).ok()?.to_string(),
        Kind::Float(bytes) => fraction(space, minor, data, bytes)?,
        Kind::Complex(bytes) => complex(space, minor, data, bytes)?,
        _ => return Some(format!("({}) {:#x}", ty.name, data.get()).into()),
    };
    Some(match (ty.is_predeclared(), ty.kind) {
        (true, _) => value.into(),
        (false, Kind::Text) => format!("{}(\"{value}\")", ty.name).into(),
        (false, Kind::Complex(_)) => format!("{}{value}", ty.name).into(),
        (false, _) => format!("{}({value})", ty.name).into(),
    })
}

/// The text whose head lies at an address, if memory holds all of it, up to a bound.
pub fn text(space: &dyn AddressSpace, head: Addr) -> Option<String> {
    let start = space.read_addr(head).ok()?;
    let len = space.read_word(head.checked_add(8)?).ok()?.min(MAX_TEXT);
    let bytes = space.read_held(start, len);
    (bytes.len() as u64 == len).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn signed(value: u64, bytes: u8) -> i64 {
    match bytes {
        1 => i64::from((value as u8).cast_signed()),
        2 => i64::from((value as u16).cast_signed()),
        4 => i64::from((value as u32).cast_signed()),
        _ => value.cast_signed(),
    }
}

fn complex(space: &dyn AddressSpace, minor: u8, at: Addr, bytes: u8) -> Option<String> {
    let real = fraction(space, minor, at, bytes)?;
    let other = fraction(space, minor, at.checked_add(u64::from(bytes))?, bytes)?;
    let plus = if other.starts_with(['+', '-']) { "" } else { "+" };
    Some(format!("({real}{plus}{other}i)"))
}

fn fraction(space: &dyn AddressSpace, minor: u8, at: Addr, bytes: u8) -> Option<String> {
    let bits = space.read_uint(at, usize::from(bytes)).ok()?;
    let single = (bytes == 4).then(|| f32::from_bits(bits as u32));
    let value = single.map_or_else(|| f64::from_bits(bits), f64::from);
    if value.is_nan() {
        return Some("NaN".to_owned());
    }
    if value.is_infinite() {
        return Some(if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned());
    }
    if minor < SHORT {
        return Some(exponent_of_three(&format!("{value:+.6e}")));
    }
    // The exponent decides which form is used (`strconv`, format `g`).
    let long = single.map_or_else(|| format!("{value:e}"), |single| format!("{single:e}"));
    let (digits, exponent) = long.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    Some(match !(-4..6).contains(&exponent) {
        true => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
        false => single.map_or_else(|| format!("{value}"), |single| format!("{single}")),
    })
}

/// `+1.500000e0` as `+1.500000e+000`.
fn exponent_of_three(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else { return text.to_owned() };
    let (sign, number) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{number:0>3}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, anchor::made_host::MadeHost};

    const AT: u64 = 0x1100;

    fn value(minor: u8, name: &str, kind: Kind, bytes: &[u8]) -> Option<String> {
        let mut host = MadeHost::new(&[0x1000]);
        host.put(AT, bytes);
        host.put(0x1200, b"told\nby");
        let ty = GoType { kind, size: bytes.len() as u64, name: name.into() };
        printed(host.space(), minor, &ty, Addr::new(AT)).map(|text| text.to_string())
    }

    #[test]
    fn numbers_are_those_of_their_types() {
        assert_eq!(value(27, "int8", Kind::Int(1), &[0xfe]).as_deref(), Some("-2"));
        assert_eq!(value(27, "main.E", Kind::Uint(2), &[1, 2]).as_deref(), Some("main.E(513)"));
        assert_eq!(value(27, "bool", Kind::Bool, &[1]).as_deref(), Some("true"));
    }

    #[test]
    fn fractions_are_as_long_as_the_version_prints_them() {
        let float = |minor, value: f64| {
            self::value(minor, "float64", Kind::Float(8), &value.to_le_bytes()).unwrap()
        };
        let short = [1.5, 1e6, 123_456.0, 1e-5, -0.0001, f64::INFINITY].map(|it| float(27, it));
        assert_eq!(short, ["1.5", "1e+06", "123456", "1e-05", "-0.0001", "+Inf"]);
        assert_eq!(float(19, 123_456_789.0), "+1.234568e+008");
        assert_eq!(float(25, 1e-5), "+1.000000e-005");
        let single = value(27, "main.G", Kind::Float(4), &0.1_f32.to_le_bytes());
        assert_eq!(single.as_deref(), Some("main.G(0.1)"));
        let both = [1.5_f64, -2.0].map(f64::to_le_bytes).concat();
        let complex = value(27, "complex128", Kind::Complex(8), &both);
        assert_eq!(complex.as_deref(), Some("(1.5-2i)"));
    }

    #[test]
    fn texts_are_whole_or_not_at_all() {
        let head = |len: u64| [0x1200, len].map(u64::to_le_bytes).concat();
        assert_eq!(value(27, "string", Kind::Text, &head(7)).as_deref(), Some("told\n\tby"));
        assert_eq!(value(27, "main.S", Kind::Text, &head(4)).as_deref(), Some("main.S(\"told\")"));
        assert_eq!(value(27, "string", Kind::Text, &head(1 << 40)), None);
    }

    #[test]
    fn what_has_no_form_of_its_own_is_an_address() {
        let shown = value(27, "*main.T", Kind::Pointer, &[0; 8]);
        assert_eq!(shown.as_deref(), Some("(*main.T) 0x1100"));
    }
}
