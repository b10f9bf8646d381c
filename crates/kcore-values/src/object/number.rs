//! An object as a number.

use kcore_mem::{Addr, Endian};
use kcore_symbols::{BaseType, Encoding, Type, TypeKind};

use super::{Object, ObjectError};
use crate::{Number, Process};

impl Number {
    /// The integer that bytes hold, at most 16 of them.
    pub fn of_bytes(bytes: &[u8], endian: Endian, signed: bool) -> Option<Self> {
        if bytes.len() > 16 {
            return None;
        }
        let fold = |value: u128, byte: &u8| (value << 8) | u128::from(*byte);
        let bits = match endian {
            Endian::Little => bytes.iter().rev().fold(0, fold),
            Endian::Big => bytes.iter().fold(0, fold),
        };
        let size = u32::try_from(bytes.len().saturating_mul(8)).ok()?;
        Some(Self { bits, size, signed })
    }

    /// The same number without what stands above its lowest `size` bits.
    #[must_use]
    pub const fn cut(self, size: u32) -> Self {
        let mask = match 1_u128.checked_shl(size) {
            Some(above) => above.wrapping_sub(1),
            None => u128::MAX,
        };
        Self { bits: self.bits & mask, size, signed: self.signed }
    }

    /// The same number in `size` bits, of at most 128, if it has a sign and fewer bits.
    #[must_use]
    pub const fn extended(self, size: u32) -> Self {
        match self.value() {
            Some(value) if self.signed && self.size < size && size <= 128 => {
                Self { bits: value.cast_unsigned(), size: 128, signed: true }.cut(size)
            }
            _ => self,
        }
    }

    /// Its value, where it has a sign or fits below 2^127.
    pub const fn value(&self) -> Option<i128> {
        let unused = 128_u32.saturating_sub(self.size);
        let is_negative = self.signed && self.size > 0 && self.bits.leading_zeros() == unused;
        match (is_negative, u128::MAX.checked_shl(self.size)) {
            (true, Some(above)) => Some((self.bits | above).cast_signed()),
            (true, None) => Some(self.bits.cast_signed()),
            (false, _) if self.bits > i128::MAX.unsigned_abs() => None,
            (false, _) => Some(self.bits.cast_signed()),
        }
    }

    /// Its bits as an unsigned number of 64 bits, if they fit.
    pub fn unsigned(&self) -> Option<u64> {
        u64::try_from(self.bits).ok()
    }
}

impl Object {
    /// It as an integer: of integers, characters, truth values, enumerations, pointers and bit-fields
    /// of these.
    ///
    /// # Errors
    /// When it is none of them, has more than 128 bits, or is not there.
    pub fn number(&self, process: &dyn Process) -> Result<Number, ObjectError> {
        let ty = self.complete_type(process)?;
        let not_a_number = || ObjectError::NotANumber(self.ty.spelled());
        let base = integer(&ty, process).ok_or_else(not_a_number)?;
        let endian = byte_order(process.space().target().endian, base);
        let bytes = self.place.read_in_order(process, ty.size().unwrap_or(0), endian)?;
        let signed = matches!(base.encoding, Encoding::Signed | Encoding::SignedChar);
        let number = Number::of_bytes(&bytes, endian, signed).ok_or_else(not_a_number)?;
        let bits = match &self.place {
            crate::ObjectPlace::Bits(_, bits) => Some(bits.size),
            crate::ObjectPlace::Pieces { bits, .. } => Some(bits.size),
            crate::ObjectPlace::Memory(_) => None,
        };
        let bits = [bits, base.bits].into_iter().flatten().min().unwrap_or(u64::MAX);
        let bits = u32::try_from(bits).unwrap_or(u32::MAX).min(number.size);
        let size = ty.size().and_then(|size| u32::try_from(size.checked_mul(8)?).ok());
        let size = base.bits.and_then(|bits| u32::try_from(bits).ok()).or(size).unwrap_or(bits);
        Ok(number.cut(bits).extended(size))
    }

    /// Where it points to, if it is a pointer or a reference; of an integer, the address that it is.
    ///
    /// # Errors
    /// As [`Object::number`].
    pub fn pointer(&self, process: &dyn Process) -> Result<Addr, ObjectError> {
        let number = self.number(process)?;
        let out_of_range = || ObjectError::NotAPointer(self.ty.spelled());
        number.unsigned().map(Addr::new).ok_or_else(out_of_range)
    }
}

/// The order of the bytes of a type in a target whose own order is `target`.
pub const fn byte_order(target: Endian, base: BaseType) -> Endian {
    match (target, base.swapped) {
        (Endian::Little, false) | (Endian::Big, true) => Endian::Little,
        (Endian::Big, false) | (Endian::Little, true) => Endian::Big,
    }
}

/// How an integer of this type is read; `None` if it is none.
fn integer(ty: &Type, process: &dyn Process) -> Option<BaseType> {
    let plain = |encoding| BaseType { encoding, bits: None, swapped: false };
    match ty.kind() {
        TypeKind::Base(base) => match base.encoding {
            Encoding::Float | Encoding::ComplexFloat | Encoding::Other(_) => None,
            _ => Some(*base),
        },
        TypeKind::Pointer(_) => Some(plain(Encoding::Unsigned)),
        TypeKind::Enumeration(enumeration) => {
            let underlying = enumeration.underlying.as_ref().and_then(|link| ty.follow(link).ok());
            let underlying = underlying.and_then(|ty| super::complete(&ty, process).ok());
            match underlying.as_ref().map(Type::kind) {
                Some(TypeKind::Base(base)) => Some(*base),
                _ if enumeration.enumerators.iter().any(|name| name.value < 0) => {
                    Some(plain(Encoding::Signed))
                }
                _ => Some(plain(Encoding::Unsigned)),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_sign_of_their_highest_bit() {
        let number = |bytes: &[u8], signed| {
            Number::of_bytes(bytes, Endian::Little, signed).and_then(|number| number.value())
        };
        assert_eq!(number(&[0xff], true), Some(-1));
        assert_eq!(number(&[0xff], false), Some(255));
        assert_eq!(number(&[0x80; 16], true), Some(i128::from_le_bytes([0x80; 16])));
        assert_eq!(number(&[0xff; 16], false), None);
        assert_eq!(number(&[], true), Some(0));
    }

    #[test]
    fn a_cut_number_takes_its_sign_from_its_new_highest_bit() {
        let number = Number { bits: 0xfd, size: 8, signed: true }.cut(3);
        assert_eq!(number.value(), Some(-3));
        assert_eq!(Number { bits: u128::MAX, size: 128, signed: true }.cut(128).value(), Some(-1));
    }

    #[test]
    fn a_number_of_more_bits_keeps_its_value() {
        let number = |bits, signed| Number { bits, size: 3, signed };
        assert_eq!(number(0b101, true).extended(8), Number { bits: 0xfd, size: 8, signed: true });
        assert_eq!(number(0b011, true).extended(8).bits, 3);
        assert_eq!(number(0b101, true).extended(128).value(), Some(-3));
        assert_eq!(number(0b101, false).extended(8), number(0b101, false));
        assert_eq!(number(0b101, true).extended(2), number(0b101, true));
    }

    #[test]
    fn bytes_are_read_in_the_order_of_the_target() {
        let number = Number::of_bytes(&[1, 2], Endian::Big, false).unwrap();
        assert_eq!((number.bits, number.size), (0x102, 16));
        assert!(Number::of_bytes(&[0; 17], Endian::Big, false).is_none());
    }
}
