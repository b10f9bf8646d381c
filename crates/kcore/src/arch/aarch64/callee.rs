//! The function that a call leads to.

use kcore_mem::{Addr, AddressSpace};

/// The function that the `bl` right before `back` leads to.
pub fn callee(back: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let at = back.wrapping_offset(-4);
    let word = word_at(at, space)?;
    if word >> 26 != 0b10_0101 {
        return None;
    }
    let target = at.wrapping_offset(signed(word & 0x03ff_ffff, 26).wrapping_mul(4));
    Some(stub(target, space).unwrap_or(target))
}

/// Where the stub of a linkage table leads to: `[bti] adrp x16; ldr x17, [x16, #n]`.
fn stub(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    const BTI_C: u32 = 0xd503_245f;
    let skipped = if word_at(at, space)? == BTI_C { 4 } else { 0 };
    let at = at.wrapping_offset(skipped);
    let (page, load) = (word_at(at, space)?, word_at(at.wrapping_offset(4), space)?);
    if page & 0x9f00_001f != 0x9000_0010 || load & 0xffc0_03ff != 0xf940_0211 {
        return None;
    }
    let pages = signed(((page >> 3) & 0x1f_fffc) | ((page >> 29) & 3), 21);
    let base = Addr::new(at.get() & !0xfff).wrapping_offset(pages.wrapping_mul(0x1000));
    let slot = base.wrapping_offset(i64::from((load >> 10) & 0xfff).wrapping_mul(8));
    space.read_addr(slot).ok()
}

/// The number that the lowest `bits` of a word hold.
fn signed(word: u32, bits: u32) -> i64 {
    let unused = 32_u32.saturating_sub(bits);
    (word.wrapping_shl(unused).cast_signed() >> unused).into()
}

fn word_at(at: Addr, space: &dyn AddressSpace) -> Option<u32> {
    u32::try_from(space.read_uint(at, 4).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::made_memory::MadeMemory;

    const FUNCTION: u64 = 0x7000_1230;

    fn found(call: u32, stub: &[u32]) -> Option<u64> {
        let memory = MadeMemory::default()
            .words32(0x1000, &[call])
            .words32(0x1800, stub)
            .bytes(0x1_3fd8, &FUNCTION.to_le_bytes());
        callee(Addr::new(0x1004), &memory).map(Addr::get)
    }

    /// `bl 0x1800` at 0x1000.
    const CALL: u32 = 0x9400_0200;

    #[test]
    fn a_stub_leads_to_what_its_slot_holds() {
        // adrp x16, 0x13000; ldr x17, [x16, #0xfd8]
        let stub = [0xd000_0090, 0xf947_ee11];
        assert_eq!(found(CALL, &stub), Some(FUNCTION));
        assert_eq!(found(CALL, &[0xd503_245f, stub[0], stub[1]]), Some(FUNCTION));
    }

    #[test]
    fn a_call_without_a_stub_leads_to_the_function_itself() {
        assert_eq!(found(CALL, &[0xa9bf_7bfd, 0x9100_03fd]), Some(0x1800));
    }

    #[test]
    fn a_call_by_register_tells_nothing() {
        assert_eq!(found(0xd63f_0220, &[]), None);
    }
}
