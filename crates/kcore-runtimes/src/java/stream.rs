//! Numbers of variable length, `UNSIGNED5` (`src/hotspot/share/code/compressedStream.hpp`, JDK 11 to 19, and
//! `utilities/unsigned5.hpp` since JDK 20).

use kcore_mem::{Addr, AddressSpace};

/// From here on a byte says that another one follows.
const MORE: u32 = 192;
/// Bytes of a number, at most.
const MAX_LEN: u32 = 5;
/// Bits that each byte adds.
const BITS: u32 = 6;

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// To JDK 19.
    FromZero,
    /// Since JDK 20: no byte is zero.
    FromOne,
}

/// Bytes and numbers, one after the other.
pub struct Stream<'a> {
    space: &'a dyn AddressSpace,
    /// What lies at `next`, as far as one mapping holds it.
    held: &'a [u8],
    next: Addr,
    coding: Coding,
}

impl<'a> Stream<'a> {
    /// Those from `at` on.
    pub const fn new(space: &'a dyn AddressSpace, at: Addr, coding: Coding) -> Self {
        Self { space, held: &[], next: at, coding }
    }

    /// The next byte; `None` where memory ends.
    pub fn byte(&mut self) -> Option<u8> {
        if self.held.is_empty() {
            self.held = self.space.slice(self.next).ok()?;
        }
        let (byte, rest) = self.held.split_first()?;
        self.held = rest;
        self.next = self.next.checked_add(1)?;
        Some(*byte)
    }

    /// The next number.
    pub fn unsigned(&mut self) -> Option<u32> {
        let least = u32::from(self.coding == Coding::FromOne);
        let mut value = 0_u32;
        for index in 0..MAX_LEN {
            let byte = u32::from(self.byte()?);
            let part = byte.checked_sub(least)?;
            value = value.wrapping_add(part.wrapping_shl(index.wrapping_mul(BITS)));
            if byte < MORE {
                break;
            }
        }
        Some(value)
    }

    /// The next number with a sign, which its lowest bit is.
    pub fn signed(&mut self) -> Option<i32> {
        let value = self.unsigned()?;
        let sign = (value & 1).wrapping_neg();
        Some(((value >> 1) ^ sign) as i32)
    }

    /// The next number of 64 bits: its lower half, then its upper one, each with a sign.
    pub fn long(&mut self) -> Option<i64> {
        let (low, high) = (self.signed()?, self.signed()?);
        Some((i64::from(high) << 32) | i64::from(low as u32))
    }

    /// The bits of the next number of 64 bits with a fraction: its halves, the upper one first, each with its bits turned
    /// round.
    pub fn double(&mut self) -> Option<u64> {
        let (high, low) = (self.unsigned()?.reverse_bits(), self.unsigned()?.reverse_bits());
        Some((u64::from(high) << 32) | u64::from(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, anchor::made_host::MadeHost};

    fn read<T>(coding: Coding, bytes: &[u8], read: fn(&mut Stream<'_>) -> T) -> T {
        let mut host = MadeHost::new(&[0x1000]);
        let at = 0x3000 - bytes.len() as u64;
        host.put(at, bytes);
        read(&mut Stream::new(host.space(), Addr::new(at), coding))
    }

    #[test]
    fn numbers_have_as_many_bytes_as_they_need() {
        let number = |coding, bytes: &[u8]| read(coding, bytes, |stream| stream.unsigned());
        assert_eq!(number(Coding::FromZero, &[191]), Some(191));
        assert_eq!(number(Coding::FromZero, &[192, 0]), Some(192));
        assert_eq!(number(Coding::FromZero, &[193, 2]), Some(193 + 2 * 64));
        assert_eq!(number(Coding::FromOne, &[191]), Some(190));
        assert_eq!(number(Coding::FromOne, &[192, 1]), Some(191));
        assert_eq!(number(Coding::FromOne, &[207, 4]), Some(398));
        assert_eq!(number(Coding::FromOne, &[0]), None, "no number has such a byte");
    }

    #[test]
    fn a_number_ends_with_its_fifth_byte_or_with_memory() {
        assert_eq!(read(Coding::FromZero, &[255; 2], |stream| stream.unsigned()), None);
        let next = |stream: &mut Stream<'_>| stream.unsigned().and_then(|_| stream.byte());
        assert_eq!(read(Coding::FromZero, &[255, 255, 255, 255, 255, 7], next), Some(7));
    }

    #[test]
    fn numbers_of_64_bits_have_two_halves() {
        let long = |bytes: &[u8]| read(Coding::FromZero, bytes, |stream| stream.long());
        assert_eq!(long(&[1, 0]), Some(0xffff_ffff), "a lower half has no sign of its own");
        assert_eq!(long(&[3, 1]), Some(-2));
        assert_eq!(long(&[2, 4]), Some((2 << 32) | 1));
        let double = |bytes: &[u8]| read(Coding::FromOne, bytes, |stream| stream.double());
        assert_eq!(double(&[3, 1]).map(f64::from_bits), Some(2.0));
        assert_eq!(double(&[3]), None);
    }

    #[test]
    fn the_lowest_bit_is_the_sign() {
        let number = |byte| read(Coding::FromZero, &[byte], |stream| stream.signed());
        assert_eq!([0, 1, 2, 3].map(number), [Some(0), Some(-1), Some(1), Some(-2)]);
    }
}
