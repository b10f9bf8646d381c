//! Tagged values, as they lie in memory.

use kcore_mem::Addr;

/// What a tagged word says, without a look at what it points to.
///
/// `src/common/globals.h`, without compressed pointers: Smis have their lowest bit clear and their
/// value in the upper half, pointers end in 01, weak ones in 11.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tagged {
    /// A small integer.
    Smi(i32),
    /// The object there.
    Strong(Addr),
    /// The object there, which may go when nothing else refers to it.
    Weak(Addr),
    /// A weak reference whose object is gone.
    Cleared,
    /// No tagged value.
    Raw(u64),
}

impl Tagged {
    /// What a word says.
    pub const fn of(word: u64) -> Self {
        let (high, low) = ((word >> 32) as i32, word & 0xffff_ffff);
        match word & 3 {
            1 => Self::Strong(Addr::new(word & !3)),
            3 if low == 3 => Self::Cleared,
            3 => Self::Weak(Addr::new(word & !3)),
            _ if low == 0 => Self::Smi(high),
            _ => Self::Raw(word),
        }
    }

    /// The word.
    pub const fn word(self) -> u64 {
        match self {
            Self::Smi(value) => (value.cast_unsigned() as u64) << 32,
            Self::Strong(at) => at.get() | 1,
            Self::Weak(at) => at.get() | 3,
            Self::Cleared => 3,
            Self::Raw(word) => word,
        }
    }

    /// The number, if it is a Smi.
    pub const fn smi(self) -> Option<i32> {
        match self {
            Self::Smi(value) => Some(value),
            _ => None,
        }
    }

    /// The object that it refers to, weakly or not.
    pub const fn object(self) -> Option<Addr> {
        match self {
            Self::Strong(at) | Self::Weak(at) => Some(at),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_is_told_apart() {
        assert_eq!(Tagged::of(0xffff_ffff_0000_0000), Tagged::Smi(-1));
        assert_eq!(Tagged::of(0x7f00_0000_1001), Tagged::Strong(Addr::new(0x7f00_0000_1000)));
        assert_eq!(Tagged::of(0x7f00_0000_1003), Tagged::Weak(Addr::new(0x7f00_0000_1000)));
        assert_eq!(Tagged::of(0x7f00_0000_0003), Tagged::Cleared);
        assert_eq!(Tagged::of(0x1234), Tagged::Raw(0x1234), "a Smi has nothing in its lower half");
        for word in [0xffff_ffff_0000_0000, 0x7f00_0000_1001, 0x7f00_0000_1003, 3, 0x1234] {
            assert_eq!(Tagged::of(word).word(), word);
        }
    }
}
