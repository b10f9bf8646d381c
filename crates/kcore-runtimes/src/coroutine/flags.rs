//! What the last comparison said, for the conditions of jumps of x86-64.

use super::dispatch::mask;

/// The flags, by what set them.
#[derive(Clone, Copy, Debug)]
pub enum Flags {
    /// Nothing that is known.
    Unknown,
    /// A comparison, or a subtraction.
    Compared { left: u64, right: u64, size: usize },
    /// A result that leaves carry and overflow clear.
    Logic { value: u64, size: usize },
    /// A bit that was looked at: carry alone.
    Carry(bool),
}

impl Flags {
    /// Those of `bt`.
    pub fn bit(value: u64, number: u64, size: usize) -> Self {
        let bits = if size == 8 { 63 } else { 31 };
        let bit = u32::try_from(number & bits).unwrap_or_default();
        Self::Carry(value.checked_shr(bit).unwrap_or_default() & 1 == 1)
    }

    /// Whether the condition of this number holds, as jumps have it in their lowest four bits.
    pub fn holds(self, condition: u8) -> Option<bool> {
        let is_met = match condition >> 1 {
            1 => self.carry(),
            2 => self.zero(),
            3 => Some(self.carry()? || self.zero()?),
            4 => self.sign(),
            6 => self.less(),
            7 => Some(self.less()? || self.zero()?),
            _ => None,
        }?;
        Some(is_met == (condition & 1 == 0))
    }

    fn carry(self) -> Option<bool> {
        match self {
            Self::Compared { left, right, .. } => Some(left < right),
            Self::Logic { .. } => Some(false),
            Self::Carry(is_set) => Some(is_set),
            Self::Unknown => None,
        }
    }

    fn zero(self) -> Option<bool> {
        match self {
            Self::Compared { left, right, .. } => Some(left == right),
            Self::Logic { value, .. } => Some(value == 0),
            Self::Carry(_) | Self::Unknown => None,
        }
    }

    fn sign(self) -> Option<bool> {
        match self {
            Self::Compared { left, right, size } => {
                Some(signed(left.wrapping_sub(right) & mask(size), size) < 0)
            }
            Self::Logic { value, size } => Some(signed(value, size) < 0),
            Self::Carry(_) | Self::Unknown => None,
        }
    }

    fn less(self) -> Option<bool> {
        match self {
            Self::Compared { left, right, size } => Some(signed(left, size) < signed(right, size)),
            Self::Logic { value, size } => Some(signed(value, size) < 0),
            Self::Carry(_) | Self::Unknown => None,
        }
    }
}

const fn signed(value: u64, size: usize) -> i64 {
    match size {
        1 => value as u8 as i8 as i64,
        2 => value as u16 as i16 as i64,
        4 => value as u32 as i32 as i64,
        _ => value as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_those_of_the_comparison() {
        let compared = |left, right| Flags::Compared { left, right, size: 2 };
        assert_eq!(compared(4, 8).holds(7), Some(false), "ja");
        assert_eq!(compared(9, 8).holds(7), Some(true), "ja");
        assert_eq!(compared(4, 4).holds(4), Some(true), "je");
        assert_eq!(compared(0xffff, 1).holds(12), Some(true), "jl");
        assert_eq!(Flags::Logic { value: 0, size: 4 }.holds(5), Some(false), "jne");
        assert_eq!(Flags::bit(0x2aa, 3, 8).holds(3), Some(false), "jae");
        assert_eq!(Flags::Unknown.holds(4), None);
    }
}
