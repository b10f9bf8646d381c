//! Binaries and bit strings (`erl_binary.h`, `erl_bits.h`, `global.h`).

use kcore_mem::Addr;

use super::{POINTER_TAG, PRIMARY, TermKind};
use crate::erlang::{layout::TermForm, memory::Memory};

/// What kind of object a header stands for.
const SUBTAG_SHIFT: u32 = 2;
const SUBTAG: u64 = 15;
/// To 26: one that is shared, one in the heap, and a part of either.
const SHARED: u64 = 8;
const IN_HEAP: u64 = 9;
const PART: u64 = 10;
/// From 27 on: one in the heap, and a part of one.
const HEAP_BITS: u64 = 8;
const PART_OF_BITS: u64 = 9;

/// Where the bits of a binary lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// Where the first byte lies that has some of them.
    base: Addr,
    /// The first bit, from there on.
    first: u64,
    /// How many there are.
    pub count: u64,
}

/// What kind of object a header stands for; `None` if it is no header.
pub const fn subtag(header: u64) -> Option<u64> {
    if header & PRIMARY == 0 { Some((header >> SUBTAG_SHIFT) & SUBTAG) } else { None }
}

impl Bits {
    /// That which lies at an address, if it is one.
    pub fn load(memory: &Memory<'_>, at: Addr) -> Option<Self> {
        let word = |index| memory.element(at, index);
        let kind = subtag(word(0)?)?;
        let behind = |index: u64| at.checked_add(index.checked_mul(8)?);
        match (memory.layout.terms, kind) {
            (TermForm::Binaries, SHARED) => Self::bytes_at(Addr::new(word(4)?), word(1)?),
            (TermForm::Binaries, IN_HEAP) => Self::bytes_at(behind(2)?, word(1)?),
            (TermForm::Binaries, PART) => Self::part(memory, at),
            (TermForm::BitStrings, HEAP_BITS) => {
                Some(Self { base: behind(2)?, first: 0, count: word(1)? })
            }
            (TermForm::BitStrings, PART_OF_BITS) => Some(Self {
                base: Addr::new(word(1)? & !PRIMARY),
                first: word(2)?,
                count: word(3)?.checked_sub(word(2)?)?,
            }),
            _ => None,
        }
    }

    fn bytes_at(base: Addr, size: u64) -> Option<Self> {
        Some(Self { base, first: 0, count: size.checked_mul(8)? })
    }

    /// A part of another binary, which is whole.
    fn part(memory: &Memory<'_>, at: Addr) -> Option<Self> {
        let whole = memory.word(at, 32)?;
        let TermKind::Boxed(_) = TermKind::of(whole) else { return None };
        let whole = Addr::new(whole & !POINTER_TAG);
        let kind = subtag(memory.word(whole, 0)?)?;
        matches!(kind, SHARED | IN_HEAP).then_some(())?;
        let base = Self::load(memory, whole)?.base;
        let bits = |offset| memory.uint(at, offset, 1);
        let first = memory.word(at, 16)?.checked_mul(8)?.checked_add(bits(25)?)?;
        let count = memory.word(at, 8)?.checked_mul(8)?.checked_add(bits(24)?)?;
        Some(Self { base, first, count })
    }

    /// The first of its bytes, at most so many. The bits of the last one are the upper ones.
    pub fn bytes(&self, memory: &Memory<'_>, most: u64) -> Vec<u8> {
        let wanted = self.count.div_ceil(8).min(most);
        let Some(start) = self.base.checked_add(self.first / 8) else { return Vec::new() };
        let shift = u32::try_from(self.first % 8).unwrap_or_default();
        if shift == 0 {
            return memory.space.read_held(start, wanted);
        }
        let held = memory.space.read_held(start, wanted.saturating_add(1));
        let pairs = held.iter().zip(held.iter().skip(1).chain([&0]));
        let shifted = pairs.map(|(high, low)| {
            let pair = (u16::from(*high) << 8) | u16::from(*low);
            pair.wrapping_shl(shift).to_be_bytes()[0]
        });
        shifted.take(usize::try_from(wanted).unwrap_or_default()).collect()
    }
}
