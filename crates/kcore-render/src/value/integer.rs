//! Integers and enumerations.

use kcore_dcmd::{Integers, civil_time};
use kcore_values::{EnumNames, EnumValue, Number, Value};

use super::Writer;
use crate::sanitize;

impl Writer<'_, '_> {
    /// An integer: hexadecimal, unless its type or the user says otherwise.
    pub(super) fn integer(&self, value: &Value, number: &Number) -> String {
        match self.style.integers {
            Integers::Natural => {}
            Integers::Hexadecimal => return hexadecimal(&own_bits(value, number)),
            Integers::Decimal => return decimal(number),
        }
        let is_bits = value.bits.is_some_and(|bits| {
            bits.offset % 8 != 0
                || value.ty.size().and_then(|size| size.checked_mul(8)) != Some(bits.size)
        });
        match value.ty.unqualified().ok().as_ref().and_then(|ty| ty.name()) {
            Some("time_t") if number.bits != 0 => self.time(number),
            Some("in_addr_t" | "ipaddr_t") => self.ipv4(number),
            _ if is_bits && number.signed => decimal(number),
            _ => hexadecimal(number),
        }
    }

    /// The same, whatever its type is called.
    pub(super) fn plain_integer(&self, number: &Number) -> String {
        match self.style.integers {
            Integers::Decimal => decimal(number),
            _ => hexadecimal(number),
        }
    }

    fn time(&self, number: &Number) -> String {
        let seconds = i64::try_from(signed(number)).ok().and_then(civil_time);
        seconds.unwrap_or_else(|| hexadecimal(number))
    }

    /// `1 (NAME)`; in hexadecimal where numbers are bits.
    pub(super) fn enumeration(&self, value: &EnumValue) -> String {
        let names = EnumNames::of(&value.names);
        let are_bits = names.as_ref().is_some_and(|names| names.are_bits);
        let is_hexadecimal = are_bits || self.style.integers == Integers::Hexadecimal;
        let number =
            if is_hexadecimal { hexadecimal(&value.number) } else { decimal(&value.number) };
        // A type of its own for numbers, as `std::byte` is.
        if names.as_ref().is_some_and(|names| names.iter().next().is_none()) {
            return self.plain_integer(&value.number);
        }
        let name = names.and_then(|names| names.decoded(signed(&value.number), false));
        let name = name.as_deref().unwrap_or("???");
        format!("{number} ({})", sanitize::line(name))
    }
}

/// The bits of the field itself, without the copies of its sign bit above them.
fn own_bits(value: &Value, number: &Number) -> Number {
    let size = value.bits.and_then(|bits| u32::try_from(bits.size).ok());
    let mask = size.and_then(|size| u128::MAX.checked_shr(128_u32.saturating_sub(size)));
    Number { bits: number.bits & mask.unwrap_or(u128::MAX), ..*number }
}

/// `0x2a`, and 0 as it is.
fn hexadecimal(number: &Number) -> String {
    if number.bits == 0 { "0".to_owned() } else { format!("{:#x}", number.bits) }
}

/// In decimal, with the prefix that hexadecimal digits would need not to be taken for it: `0t42`, `9`.
fn decimal(number: &Number) -> String {
    let value = signed(number);
    match value {
        0..=9 => value.to_string(),
        value if value < 0 && number.signed => format!("-0t{}", value.unsigned_abs()),
        _ => format!("0t{}", number.bits),
    }
}

/// The number with its sign.
pub(crate) fn signed(number: &Number) -> i128 {
    let unused = 128_u32.saturating_sub(number.size);
    match number.signed {
        true => number
            .bits
            .checked_shl(unused)
            .unwrap_or(0)
            .cast_signed()
            .checked_shr(unused)
            .unwrap_or(0),
        false => number.bits.cast_signed(),
    }
}
