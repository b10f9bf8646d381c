//! References of aarch64 code: targets of branches, literals, and addresses that `adrp` begins and an
//! addition, a load or a store ends.
//!
//! The few encodings that refer to anything are read here, not by capstone: Arm Architecture Reference
//! Manual, C4.1.

use kcore_mem::{Addr, AddrRange};

use crate::Reference;

/// Bytes in an instruction.
const SIZE: usize = 4;
/// Bytes in the pages that `adrp` counts.
const PAGE: u64 = 4096;
/// Registers that a call does not preserve: x0 to x18, and x30.
const CLOBBERED: u32 = 0x4007_ffff;

/// The references of `code` to the ranges.
pub fn references(addr: Addr, code: &[u8], wanted: &[AddrRange]) -> Vec<Reference> {
    let mut pages = Pages::default();
    let (words, _) = code.as_chunks::<SIZE>();
    let mut from = addr;
    let mut found = Vec::new();
    for word in words {
        let word = Word(u32::from_le_bytes(*word));
        let to = word.relative(from).or_else(|| pages.completed(word));
        let to = to.filter(|to| wanted.iter().any(|range| range.contains(*to)));
        found.extend(to.map(|to| Reference { from, to }));
        pages.follow(word, from);
        from = from.saturating_add(SIZE as u64);
    }
    found
}

/// An instruction.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    const fn is(self, mask: u32, value: u32) -> bool {
        self.0 & mask == value
    }

    /// Some bits as an unsigned number.
    const fn bits(self, from: u32, count: u32) -> u64 {
        (self.0 as u64 >> from) & !(u64::MAX << count)
    }

    /// Some bits as a signed number.
    const fn signed(self, from: u32, count: u32) -> i64 {
        let unused = u64::BITS.saturating_sub(count);
        (self.bits(from, count) << unused).cast_signed() >> unused
    }

    /// The register in the lowest bits: most instructions write it.
    const fn first_register(self) -> usize {
        self.bits(0, 5) as usize
    }

    /// The register from which an addition, a load or a store starts.
    const fn base_register(self) -> usize {
        self.bits(5, 5) as usize
    }

    const fn is_call(self) -> bool {
        self.is(0xfc00_0000, 0x9400_0000) || self.is(0xffff_fc1f, 0xd63f_0000)
    }

    /// Branches that write no register but the link register.
    const fn is_branch(self) -> bool {
        self.is(0x7c00_0000, 0x1400_0000)
            || self.is(0xfe00_0000, 0x5400_0000)
            || self.is(0x7c00_0000, 0x3400_0000)
            || self.is(0xfe00_0000, 0xd600_0000)
    }

    const fn is_adrp(self) -> bool {
        self.is(0x9f00_0000, 0x9000_0000)
    }

    /// The displacement of `adr` and `adrp`, in bytes or pages.
    const fn adr_displacement(self) -> i64 {
        (self.signed(5, 19) << 2) | self.bits(29, 2).cast_signed()
    }

    /// The address that an instruction states relative to itself; that of a page is none yet.
    fn relative(self, from: Addr) -> Option<Addr> {
        let words = if self.is(0x7c00_0000, 0x1400_0000) {
            self.signed(0, 26)
        } else if self.is(0xff00_0000, 0x5400_0000) || self.is(0x7e00_0000, 0x3400_0000) {
            self.signed(5, 19)
        } else if self.is(0x7e00_0000, 0x3600_0000) {
            self.signed(5, 14)
        } else if self.is(0x3b00_0000, 0x1800_0000) {
            self.signed(5, 19)
        } else if self.is(0x9f00_0000, 0x1000_0000) {
            return Some(from.wrapping_offset(self.adr_displacement()));
        } else {
            return None;
        };
        Some(from.wrapping_offset(words << 2))
    }

    /// What `add`, a load or a store adds to its base register.
    const fn addend(self) -> Option<u64> {
        if self.is(0xff80_0000, 0x9100_0000) {
            let shift = if self.bits(22, 1) == 1 { 12 } else { 0 };
            return Some(self.bits(10, 12) << shift);
        }
        if self.is(0x3b00_0000, 0x3900_0000) {
            let is_vector = self.bits(26, 1) == 1;
            let scale = if is_vector && self.bits(23, 1) == 1 { 4 } else { self.bits(30, 2) };
            return Some(self.bits(10, 12) << scale);
        }
        None
    }
}

/// The pages that registers hold.
#[derive(Default)]
struct Pages([Option<Addr>; 32]);

impl Pages {
    /// The address that an instruction completes.
    fn completed(&self, word: Word) -> Option<Addr> {
        let page = self.0.get(word.base_register()).copied().flatten()?;
        page.checked_add(word.addend()?)
    }

    /// What registers hold behind an instruction.
    fn follow(&mut self, word: Word, from: Addr) {
        if word.is_call() {
            let clobbered = |register: usize| CLOBBERED & (1 << register) != 0;
            self.0
                .iter_mut()
                .enumerate()
                .filter(|(register, _)| clobbered(*register))
                .for_each(|(_, page)| *page = None);
        }
        if word.is_branch() {
            return;
        }
        let page = Addr::new(from.get() & !(PAGE - 1));
        let page = page.wrapping_offset(word.adr_displacement().wrapping_shl(12));
        if let Some(held) = self.0.get_mut(word.first_register()) {
            *held = word.is_adrp().then_some(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x40_1000;

    /// The references of instructions at 0x401000 to any address.
    fn all(words: &[u32]) -> Vec<(u64, u64)> {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let everything = [AddrRange::new(Addr::new(0), Addr::new(u64::MAX))];
        let found = references(Addr::new(AT), &code, &everything);
        found.iter().map(|it| (it.from.get() - AT, it.to.get())).collect()
    }

    #[test]
    fn branches_state_their_targets() {
        // bl .+0x100; b .-4; b.ne .+8; cbz x0, .+0x20; tbnz w1, #3, .+0x10; ret
        let code = [0x9400_0040, 0x17ff_ffff, 0x5400_0041, 0xb400_0100, 0x3718_0081, 0xd65f_03c0];
        let expected = [(0, AT + 0x100), (4, AT), (8, AT + 0x10), (12, AT + 0x2c), (16, AT + 0x20)];
        assert_eq!(all(&code), expected);
    }

    #[test]
    fn literals_and_near_addresses_are_relative() {
        // ldr x0, .+0x18; adr x1, .+0x11
        assert_eq!(all(&[0x5800_00c0, 0x3000_0081]), [(0, AT + 0x18), (4, AT + 4 + 0x11)]);
    }

    #[test]
    fn a_page_is_completed_by_what_follows() {
        // adrp x0, 0x411000; add x0, x0, #0x48
        assert_eq!(all(&[0x9000_0080, 0x9101_2000]), [(4, 0x41_1048)]);
        // adrp x0, 0x411000; ldr w1, [x0, #0x48]; str x1, [x0, #0x50]
        assert_eq!(all(&[0x9000_0080, 0xb940_4801, 0xf900_2801]), [(4, 0x41_1048), (8, 0x41_1050)]);
        // adrp x0, 0x411000; mov x0, x1; ldr w1, [x0, #0x48]
        assert_eq!(all(&[0x9000_0080, 0xaa01_03e0, 0xb940_4801]), []);
        // adrp x0, 0x411000; blr x8; ldr w1, [x0, #0x48]
        assert_eq!(all(&[0x9000_0080, 0xd63f_0100, 0xb940_4801]), []);
    }
}
