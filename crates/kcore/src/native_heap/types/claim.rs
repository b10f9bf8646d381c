//! What a block may be, and which of two answers counts.

use super::known::{KnownType, Shape};

/// A block in which there is no room for more than one small object: allocators hand out no smaller ones.
const SMALLEST: u64 = 24;
/// Bits of a number that say how a type stands in a block.
const ROLE_BITS: u32 = 3;

/// How a type stands in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockRole {
    /// The block is an object of the type.
    Object,
    /// It begins with one, and more follows that no pointer tells.
    Beginning,
    /// It is an array of such objects.
    Array,
    /// The same, behind the word in which `new[]` of C++ keeps how many there are.
    CountedArray,
    /// The container of the type owns it: as a buffer, a node or a table.
    Part,
}

impl BlockRole {
    /// The word for it, for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Beginning => "beginning",
            Self::Array | Self::CountedArray => "array",
            Self::Part => "part",
        }
    }
}

/// A type that a pointer tells a block to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The number of the type.
    pub ty: u32,
    pub role: BlockRole,
}

impl Claim {
    /// As one number, less than `u32::MAX`: types have numbers of at most 21 bits.
    pub const fn packed(self) -> u32 {
        let role = match self.role {
            BlockRole::Object => 0,
            BlockRole::Beginning => 1,
            BlockRole::Array => 2,
            BlockRole::CountedArray => 3,
            BlockRole::Part => 4,
        };
        (self.ty << ROLE_BITS) | role
    }

    /// The claim of a number; `None` of `u32::MAX`, which is none.
    pub const fn unpacked(packed: u32) -> Option<Self> {
        let role = match packed & ((1 << ROLE_BITS) - 1) {
            0 => BlockRole::Object,
            1 => BlockRole::Beginning,
            2 => BlockRole::Array,
            3 => BlockRole::CountedArray,
            4 => BlockRole::Part,
            _ => return None,
        };
        Some(Self { ty: packed >> ROLE_BITS, role })
    }

    /// How much it says: a claim that says more replaces one that says less.
    pub const fn strength(self, ty: &KnownType) -> u8 {
        match (self.role, ty.shape) {
            (BlockRole::Part, _) => 3,
            (_, Shape::Plain) => 0,
            (BlockRole::Beginning, _) => 1,
            _ => 2,
        }
    }
}

/// Whether there is room for one object alone in a block.
pub const fn is_single(size: u64, usable: u64) -> bool {
    usable <= SMALLEST || usable.saturating_sub(size) < size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_what_they_were_packed_from() {
        use BlockRole::{Array, Beginning, CountedArray, Object, Part};
        for role in [Object, Beginning, Array, CountedArray, Part] {
            for ty in [0, 7, 1 << 20] {
                let claim = Claim { ty, role };
                assert_eq!(Claim::unpacked(claim.packed()), Some(claim));
            }
        }
        assert_eq!(Claim::unpacked(u32::MAX), None);
    }

    #[test]
    fn small_blocks_and_those_with_little_more_hold_one() {
        assert!(is_single(8, 24) && is_single(40, 56) && is_single(24, 24));
        assert!(!is_single(16, 40) && !is_single(24, 48));
    }
}
