//! What a search looks for: a value, some of its bits, or one of many values, in units of memory.

use kcore_mem::{Endian, Target};

/// Bytes in a unit of memory. Units lie at multiples of their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitSize {
    /// One byte.
    One,
    /// Two bytes.
    Two,
    /// Four bytes.
    Four,
    /// Eight bytes.
    Eight,
}

impl UnitSize {
    /// The unit of this many bytes, if there is one.
    pub const fn from_bytes(bytes: u64) -> Option<Self> {
        match bytes {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    /// How many bytes it has.
    pub const fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The greatest value that it holds.
    pub const fn max(self) -> u64 {
        match self {
            Self::One => 0xff,
            Self::Two => 0xffff,
            Self::Four => 0xffff_ffff,
            Self::Eight => u64::MAX,
        }
    }
}

/// Which values are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValuePattern {
    /// Those whose bits of `mask` are `value`.
    Masked {
        /// What is left of the value under the mask.
        value: u64,
        /// Which bits count.
        mask: u64,
    },
    /// Those from `first` to `last`, both included.
    Between {
        /// The least.
        first: u64,
        /// The greatest.
        last: u64,
    },
}

impl ValuePattern {
    /// Just this value.
    pub const fn exactly(value: u64) -> Self {
        Self::Masked { value, mask: u64::MAX }
    }

    /// Whether a value is wanted.
    pub const fn holds(self, found: u64) -> bool {
        match self {
            Self::Masked { value, mask } => found & mask == value,
            Self::Between { first, last } => first <= found && found <= last,
        }
    }

    /// Whether a unit can hold any value that is wanted.
    pub const fn is_possible(self, unit: UnitSize) -> bool {
        match self {
            Self::Masked { value, mask } => value & mask & unit.max() == value,
            Self::Between { first, last } => first <= last && first <= unit.max(),
        }
    }

    /// A mask and what is left under it of every value that is wanted: exact for bits, and for a
    /// range the bits that all of its values share.
    const fn sieve(self, unit: UnitSize) -> (u64, u64) {
        match self {
            Self::Masked { value, mask } => (value, mask & unit.max()),
            Self::Between { first, last } => {
                let last = if last < unit.max() { last } else { unit.max() };
                let differing = u64::BITS - (first ^ last).leading_zeros();
                let shared = match u64::MAX.checked_shl(differing) {
                    Some(mask) => mask & unit.max(),
                    None => 0,
                };
                (first & shared, shared)
            }
        }
    }
}

/// The sieve of a pattern as the bytes that memory has.
#[derive(Clone, Copy, Debug)]
pub struct Sieve {
    /// What is left of a unit under the mask; as many bytes as a unit has count.
    pub value: [u8; 8],
    /// Which bits count.
    pub mask: [u8; 8],
}

impl Sieve {
    /// What every unit that is wanted passes, and few others do.
    pub fn new(wanted: ValuePattern, unit: UnitSize, target: Target) -> Self {
        let (value, mask) = wanted.sieve(unit);
        Self { value: in_memory(value, unit, target), mask: in_memory(mask, unit, target) }
    }

    /// Whether the upper half of eight bytes, as this machine reads them, lets fewer pass: the lower
    /// half says little, or is 0, which memory is full of.
    pub fn upper_half_tells_more(&self) -> bool {
        const LITTLE: u32 = 16;
        let (value, mask) = (u64::from_ne_bytes(self.value), u64::from_ne_bytes(self.mask));
        let lower_bits = (mask as u32).count_ones();
        lower_bits < LITTLE || (value as u32 == 0 && value != 0)
    }
}

/// A number as the first bytes of a unit in the target's byte order.
fn in_memory(number: u64, unit: UnitSize, target: Target) -> [u8; 8] {
    match target.endian {
        Endian::Little => number.to_le_bytes(),
        Endian::Big => {
            let unused = u64::BITS - 8 * unit.bytes() as u32;
            (number << unused).to_be_bytes()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sieve_lets_every_value_of_a_range_pass() {
        for (first, last) in [(0, 0), (0x7f0, 0x80f), (0, u64::MAX), (5, 5), (0x1000, 0x1fff)] {
            let wanted = ValuePattern::Between { first, last };
            let (value, mask) = wanted.sieve(UnitSize::Eight);
            for found in [first, last, first + (last - first) / 2] {
                assert_eq!(found & mask, value, "{first:x} {last:x}");
            }
        }
        let (value, mask) =
            ValuePattern::Between { first: 0x1000, last: 0x1fff }.sieve(UnitSize::Four);
        assert_eq!((value, mask), (0x1000, 0xffff_f000));
    }

    #[test]
    fn numbers_stand_in_the_byte_order_of_the_target() {
        let big = Target { endian: Endian::Big, ..Target::X86_64 };
        assert_eq!(in_memory(0x1234, UnitSize::Two, big)[..2], [0x12, 0x34]);
        assert_eq!(in_memory(0x1234, UnitSize::Two, Target::X86_64)[..2], [0x34, 0x12]);
        assert_eq!(in_memory(1, UnitSize::Eight, big), [0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn what_no_unit_can_hold_is_impossible() {
        assert!(ValuePattern::exactly(0xff).is_possible(UnitSize::One));
        assert!(!ValuePattern::exactly(0x100).is_possible(UnitSize::One));
        assert!(!ValuePattern::Masked { value: 0x11, mask: 0xf0 }.is_possible(UnitSize::Eight));
        assert!(!ValuePattern::Between { first: 2, last: 1 }.is_possible(UnitSize::Eight));
        assert!(ValuePattern::Between { first: 0xf0, last: 0x200 }.is_possible(UnitSize::One));
    }
}
