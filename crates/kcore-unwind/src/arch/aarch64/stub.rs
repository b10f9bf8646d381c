//! Stubs that stand for a function: those of the linker, and thunks that jump on.

use kcore_mem::{Addr, AddressSpace};

use super::decode::{displacement, signed};

/// `bti c`, which may stand before the jump.
const LANDING_PAD: u32 = 0xd503_245f;
const PAGE: u64 = 4096;

/// Where the jump at `at` leads, if the code there is nothing else.
pub fn jump_at(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let word = |at: Addr| u32::try_from(space.read_uint(at, 4).ok()?).ok();
    let at = if word(at)? == LANDING_PAD { at.checked_add(4)? } else { at };
    let first = word(at)?;
    if first & 0xfc00_0000 == 0x1400_0000 {
        return Some(at.wrapping_offset(displacement(first, 0, 26)));
    }
    // adrp x16; ldr x17, [x16, …]
    let second = word(at.checked_add(4)?)?;
    if first & 0x9f00_001f != 0x9000_0010 || second & 0xffc0_03ff != 0xf940_0211 {
        return None;
    }
    let pages = signed(first, 5, 19).wrapping_mul(4) | i64::from((first >> 29) & 3);
    let page = Addr::new(at.get() & !PAGE.wrapping_sub(1));
    let slot = page.wrapping_offset(pages.wrapping_mul(PAGE as i64));
    space.read_addr(slot.checked_add(u64::from((second >> 10) & 0xfff).checked_mul(8)?)?).ok()
}
