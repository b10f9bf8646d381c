//! What is known of a value, relative to the registers at the place where following began.

use kcore_mem::{Addr, AddressSpace};

use crate::{RegisterId, Regs};

/// Words that are read on the way to a value, at most: a stack pointer that was saved on an aligned stack, and
/// what was pushed below where it points.
const MAX_WORDS: usize = 2;

/// A register as it was, plus a constant; or the word there, plus a constant; or the word there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Value {
    root: Root,
    words: u8,
    /// What is added before each word is read, and at the end.
    offsets: [i32; MAX_WORDS + 1],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
enum Root {
    Unknown,
    Register(u16),
    /// What a register became whose low bits the instruction here, by the low half of its address, cleared.
    Aligned(u32),
}

impl Value {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { root: Root::Unknown, words: 0, offsets: [0; MAX_WORDS + 1] };

    /// What a register held.
    pub const fn register(number: u16) -> Self {
        Self { root: Root::Register(number), words: 0, offsets: [0; MAX_WORDS + 1] }
    }

    /// What becomes of a register whose low bits are cleared at `at`.
    pub const fn aligned(at: Addr) -> Self {
        let root = Root::Aligned(at.get() as u32);
        Self { root, words: 0, offsets: [0; MAX_WORDS + 1] }
    }

    /// Whether anything is known.
    pub const fn is_known(self) -> bool {
        !matches!(self.root, Root::Unknown)
    }

    /// The register that it is relative to.
    pub const fn root_register(self) -> Option<u16> {
        match self.root {
            Root::Register(number) => Some(number),
            _ => None,
        }
    }

    /// Whether it can be found from registers and memory.
    pub const fn can_be_found(self) -> bool {
        matches!(self.root, Root::Register(_))
    }

    /// How far it lies from a register, if it is just that.
    pub fn offset_from(self, number: u16) -> Option<i64> {
        let [offset, ..] = self.offsets;
        (self.words == 0 && self.root == Root::Register(number)).then_some(i64::from(offset))
    }

    /// The value plus a constant.
    #[must_use]
    pub fn plus(mut self, by: i64) -> Self {
        let Some(offset) = self.offsets.get_mut(usize::from(self.words)) else {
            return Self::UNKNOWN;
        };
        let sum = i64::from(*offset).checked_add(by).and_then(|sum| i32::try_from(sum).ok());
        let Some(sum) = sum.filter(|_| self.root != Root::Unknown) else { return Self::UNKNOWN };
        *offset = sum;
        self
    }

    /// The word at the value.
    #[must_use]
    pub fn word(mut self) -> Self {
        if !self.can_be_found() || usize::from(self.words) >= MAX_WORDS {
            return Self::UNKNOWN;
        }
        self.words = self.words.saturating_add(1);
        self
    }

    /// The value with these registers and this memory.
    pub fn find(self, regs: &Regs, space: &dyn AddressSpace) -> Option<u64> {
        let mut value = regs.get(RegisterId(self.root_register()?))?;
        for (index, offset) in self.offsets.iter().enumerate() {
            value = value.wrapping_add_signed(i64::from(*offset));
            if index >= usize::from(self.words) {
                return Some(value);
            }
            value = space.read_register(Addr::new(value)).ok()?;
        }
        None
    }
}
