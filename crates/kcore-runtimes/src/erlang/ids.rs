//! Numbers of processes and ports (`erl_node_container_utils.h`, `erl_ptab.h`).

use std::fmt;

use kcore_mem::Addr;

use super::{layout::IdForm, memory::Memory};

/// The number of a process as Erlang prints it: `<0.N.S>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid {
    /// The second number.
    pub number: u32,
    /// The third, which counts how often the second came round.
    pub serial: u32,
}

impl Pid {
    /// As one number: the serial is the upper half.
    pub const fn packed(self) -> u64 {
        ((self.serial as u64) << 32) | self.number as u64
    }

    /// Out of one number.
    pub const fn unpacked(number: u64) -> Self {
        Self { number: (number & 0xffff_ffff) as u32, serial: (number >> 32) as u32 }
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<0.{}.{}>", self.number, self.serial)
    }
}

/// The tags of terms.
const TAG_BITS: u32 = 4;
const TAG_MASK: u64 = 15;
const PID: u64 = 3;
const PORT: u64 = 7;
/// Bits of the number of a process or port to 25, and of the second number as it is printed.
const OLD_DATA: u32 = 28;
const OLD_NUMBER: u32 = 15;
const NEW_NUMBER: u32 = 28;
/// `ErtsPTab.r.o`: masks and shifts by which bits are in another order.
const SLOT_MASK: u64 = 216;
const LINE_MASK: u64 = 224;
const IN_LINE_MASK: u64 = 232;
const LINE_SHIFT: u64 = 240;
const IN_LINE_SHIFT: u64 = 244;

/// How the bits of a number are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// The number behind the tag.
    Plain,
    /// As the table of processes has it.
    Shuffled {
        /// Bits that are the slot.
        slot: u64,
        /// Those of the line of the cache, and how far up they stand.
        line: (u64, u32),
        /// Those within such a line, and how far up they belong.
        in_line: (u64, u32),
    },
}

impl Ids {
    /// How the table at an address has them.
    pub fn of(memory: &Memory<'_>, table: Addr) -> Option<Self> {
        if memory.layout.ids == IdForm::BesideSlot {
            return Some(Self::Plain);
        }
        let shift = |offset| memory.uint32(table, offset).filter(|shift| *shift < 64);
        Some(Self::Shuffled {
            slot: memory.word(table, SLOT_MASK)?,
            line: (memory.word(table, LINE_MASK)?, shift(LINE_SHIFT)?),
            in_line: (memory.word(table, IN_LINE_MASK)?, shift(IN_LINE_SHIFT)?),
        })
    }

    fn data(&self, term: u64) -> u64 {
        let bits = term >> TAG_BITS;
        match *self {
            Self::Plain => bits & ((1 << OLD_DATA) - 1),
            Self::Shuffled { slot, line: (line, down), in_line: (in_line, up) } => {
                (bits & !slot) | ((bits >> down) & line) | ((bits & in_line) << up)
            }
        }
    }

    /// The number of a process of this node; `None` if a term is none.
    pub fn pid(&self, term: u64) -> Option<Pid> {
        (term & TAG_MASK == PID).then(|| self.pid_of(self.data(term)))
    }

    /// The number of a process by what is behind the tag, in the order in which it is printed.
    pub fn pid_of(&self, data: u64) -> Pid {
        let (bits, mask) = match self {
            Self::Plain => (OLD_NUMBER, (1 << OLD_NUMBER) - 1),
            Self::Shuffled { .. } => (NEW_NUMBER, (1 << NEW_NUMBER) - 1),
        };
        let number = u32::try_from(data & mask).unwrap_or_default();
        Pid { number, serial: u32::try_from(data >> bits).unwrap_or_default() }
    }

    /// The number of a port of this node, as `#Port<0.N>` has it.
    pub fn port(&self, term: u64) -> Option<u64> {
        (term & TAG_MASK == PORT).then(|| self.data(term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_behind_the_tag_has_the_serial_above() {
        let term = |data: u64| (7 << 32) | (data << 4) | 3;
        assert_eq!(Ids::Plain.pid(term(87)).unwrap().to_string(), "<0.87.0>");
        assert_eq!(Ids::Plain.pid(term((2 << 15) | 9)).unwrap().to_string(), "<0.9.2>");
        assert_eq!(Ids::Plain.pid(0x4b), None);
    }

    #[test]
    fn a_shuffled_number_is_put_in_order() {
        // A table of 2^20 slots, eight in a line of the cache.
        let ids = Ids::Shuffled { slot: 0xf_ffff, line: (0x1_ffff, 3), in_line: (7, 17) };
        assert_eq!(ids.pid(0x83).unwrap().to_string(), "<0.1.0>");
        assert_eq!(ids.pid((1 << 4) | 3).unwrap(), Pid { number: 1 << 17, serial: 0 });
    }

    #[test]
    fn packing_keeps_both_numbers() {
        let pid = Pid { number: 12, serial: 3 };
        assert_eq!(Pid::unpacked(pid.packed()), pid);
    }
}
