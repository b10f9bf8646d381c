//! References of ZGC, which have bits beside the address (`src/hotspot/share/gc/{z/zAddress,x/xAddress}.inline.hpp` and
//! `gc/z/zAddress.inline.hpp` to JDK 20; `zGlobals_x86`). What the load barrier does to a reference that is not up to date
//! (`gc/z/zBarrier.inline.hpp`) is done here on paper.

use kcore_mem::{Addr, AddressSpace};

use super::{
    forwarding::Forwarding,
    generations::{Generations, Stale},
    memory::Memory,
    vm_structs::VmStructs,
};

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
        /// Where objects are now to which references refer that are not up to date.
        moved: Option<Generations>,
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
                let mask = global(tables, space, "Z", "ZAddressOffsetMask")?;
                let good = global(tables, space, "Z", "ZPointerLoadGoodMask");
                let good = good.map(|good| (good >> REMAPPED) & REMAPPED_BITS);
                let moved = good.and_then(|good| Generations::read(tables, Memory(space), good));
                return Some(Self::Shifted { mask, moved });
            }
            let of = |letter: char| {
                let own = |name| {
                    global(tables, space, &letter.to_string(), &format!("{letter}Address{name}"))
                };
                let (mask, good) = (own("OffsetMask")?, own("GoodMask")?);
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
            Self::Views { mask, .. } | Self::Shifted { mask, .. } => mask,
        }
    }

    /// Where an offset in the heap lies.
    pub fn at_offset(self, offset: u64) -> Addr {
        Addr::new(match self {
            Self::Views { mask, good, .. } => offset & mask | good,
            Self::Shifted { mask, .. } => offset & mask | mask.wrapping_add(1),
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
            Self::Shifted { mask, moved } => {
                // In registers and on stacks references are plain.
                if word & !mask == mask.wrapping_add(1) {
                    return word;
                }
                let Some((at, bits)) = shifted(mask, word) else { return 0 };
                let stale = Stale { offset: at & mask, bits, word };
                let offset = moved.and_then(|moved| moved.find(memory, stale));
                offset.map_or(at, |offset| self.at_offset(offset).get())
            }
        }
    }
}

/// The address in a reference that has bits below it, and those of them that tell how far it is shifted.
fn shifted(mask: u64, word: u64) -> Option<(u64, u64)> {
    let bits = (word >> REMAPPED) & REMAPPED_BITS;
    bits.is_power_of_two().then_some(())?;
    let shift = REMAPPED.checked_add(bits.trailing_zeros())?.checked_add(1)?;
    let at = word.checked_shr(shift)?;
    (at & !mask == mask.wrapping_add(1)).then_some((at, bits))
}

/// What a variable holds that the tables lead to by a structure of pointers.
fn global(tables: &VmStructs, space: &dyn AddressSpace, letter: &str, name: &str) -> Option<u64> {
    let memory = Memory(space);
    let owner = format!("{letter}GlobalsForVMStructs");
    let all = memory.pointer(tables.variable(&format!("{owner}._instance_p"))?, 0)?;
    let field = tables.offset(&format!("{owner}._{name}"))?;
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
        let colors = Colors::Shifted { mask: (1 << 44) - 1, moved: None };
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
