//! References of ZGC, which have bits beside the address (`src/hotspot/share/gc/{z/zAddress,x/xAddress}.inline.hpp` and
//! `gc/z/zAddress.inline.hpp` to JDK 20; `zGlobals_x86`).

use kcore_mem::{Addr, AddressSpace};

use super::{forwarding::Forwarding, memory::Memory, vm_structs::VmStructs};

/// `ZPointerRemappedShift`: the lowest of the four bits of which one is set, and tells how far the address is shifted.
const REMAPPED: u32 = 12;
const REMAPPED_BITS: u64 = 0xf;

/// How an address is had from a reference.
#[derive(Clone, Copy, Debug)]
pub enum Colors {
    /// Without generations, JDK 17 to 23: the heap is mapped at several places, and bits above the offset tell at which.
    Views {
        /// The bits of the offset.
        mask: u64,
        /// The bits above it of the place that is in use.
        good: u64,
        /// Where objects are now to which references with other bits refer.
        moved: Option<Forwarding>,
    },
    /// With generations, since JDK 21: the address is shifted.
    Shifted {
        /// The bits of the offset in the heap; one bit above them every address has.
        mask: u64,
    },
}

impl Colors {
    /// Reads them.
    ///
    /// # Errors
    /// In words, where the tables do not describe them.
    pub fn read(
        tables: &VmStructs,
        space: &dyn AddressSpace,
        generational: Option<bool>,
    ) -> Result<Self, String> {
        let is_shifted = tables.offset("ZGlobalsForVMStructs._ZPointerLoadShift").is_some()
            && generational != Some(false);
        let read = || {
            if is_shifted {
                return Some(Self::Shifted { mask: global(tables, space, 'Z', "OffsetMask")? });
            }
            let of = |letter| {
                let mask = global(tables, space, letter, "OffsetMask")?;
                let good = global(tables, space, letter, "GoodMask")?;
                let moved = Forwarding::read(tables, Memory(space), letter);
                Some(Self::Views { mask, good, moved })
            };
            of('X').or_else(|| of('Z'))
        };
        read().filter(|colors| colors.mask() > 0).ok_or_else(|| {
            "how ZGC, the collector in use, marks its references cannot be read".to_owned()
        })
    }

    /// The bits of an offset in the heap.
    pub const fn mask(self) -> u64 {
        match self {
            Self::Views { mask, .. } | Self::Shifted { mask } => mask,
        }
    }

    /// Where an offset in the heap lies.
    pub fn at_offset(self, offset: u64) -> Addr {
        Addr::new(match self {
            Self::Views { mask, good, .. } => offset & mask | good,
            Self::Shifted { mask } => offset & mask | mask.wrapping_add(1),
        })
    }

    /// The address in a reference; zero of null.
    pub fn address(self, memory: Memory<'_>, word: u64) -> u64 {
        match self {
            Self::Views { mask, .. } if word & mask == 0 => 0,
            Self::Views { mask, good, moved } => {
                let moved = moved.filter(|_| word & !mask != good);
                let offset = moved.and_then(|moved| moved.find(memory, word & mask));
                self.at_offset(offset.unwrap_or(word)).get()
            }
            Self::Shifted { mask } => {
                let base = mask.wrapping_add(1);
                // In registers and on stacks references are plain.
                let is_plain = word & !mask == base;
                let bits = (word >> REMAPPED) & REMAPPED_BITS;
                match is_plain || !bits.is_power_of_two() {
                    true => {
                        if is_plain {
                            word
                        } else {
                            0
                        }
                    }
                    false => {
                        let shift =
                            REMAPPED.saturating_add(bits.trailing_zeros()).saturating_add(1);
                        word.checked_shr(shift).filter(|at| at & !mask == base).unwrap_or(0)
                    }
                }
            }
        }
    }
}

/// What a variable holds that the tables lead to by a structure of pointers.
fn global(tables: &VmStructs, space: &dyn AddressSpace, letter: char, name: &str) -> Option<u64> {
    let memory = Memory(space);
    let owner = format!("{letter}GlobalsForVMStructs");
    let all = memory.pointer(tables.variable(&format!("{owner}._instance_p"))?, 0)?;
    let field = tables.offset(&format!("{owner}._{letter}Address{name}"))?;
    memory.uint(memory.pointer(all, field)?, 0, 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, anchor::made_host::MadeHost};

    fn address(colors: Colors, word: u64) -> u64 {
        let host = MadeHost::new(&[0x1000]);
        colors.address(Memory(host.space()), word)
    }

    #[test]
    fn a_shifted_address_is_told_from_a_plain_one() {
        let colors = Colors::Shifted { mask: (1 << 44) - 1 };
        let at = (1_u64 << 44) | 0x20_0018;
        for bit in 12..16 {
            assert_eq!(address(colors, at << (bit + 1) | 1 << bit | 0x50), at);
        }
        assert_eq!(address(colors, at), at);
        assert_eq!((address(colors, 0), address(colors, 0x3000)), (0, 0));
    }

    #[test]
    fn all_views_are_one_place() {
        let colors = Colors::Views { mask: (1 << 42) - 1, good: 1 << 44, moved: None };
        assert_eq!(address(colors, 1 << 42 | 0x18), 1 << 44 | 0x18);
        assert_eq!(address(colors, 1 << 43 | 0x18), 1 << 44 | 0x18);
        assert_eq!(address(colors, 1 << 44), 0);
    }
}
