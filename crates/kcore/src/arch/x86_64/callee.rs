//! The function that a call leads to.

use kcore_mem::{Addr, AddressSpace};

/// Bytes of `call rel32`, and of `call *disp32(%rip)`.
const DIRECT: i64 = 5;
const INDIRECT: i64 = 6;
/// `endbr64`, by which a stub may begin.
const ENDBR64: u64 = 0xfa1e_0ff3;

/// The function that the call right before `back` leads to.
pub fn callee(back: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let byte = |at: Addr| space.read_uint(at, 1).ok();
    let (direct, indirect) = (back.wrapping_offset(-DIRECT), back.wrapping_offset(-INDIRECT));
    if byte(indirect)? == 0xff && byte(indirect.wrapping_offset(1))? == 0x15 {
        return slot_at(back, indirect.wrapping_offset(2), space);
    }
    if byte(direct)? != 0xe8 {
        return None;
    }
    let target = relative(back, direct.wrapping_offset(1), space)?;
    Some(stub(target, space).unwrap_or(target))
}

/// Where the stub of a linkage table leads to: `[endbr64] [bnd] jmp *disp32(%rip)`.
fn stub(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let byte = |at: Addr| space.read_uint(at, 1).ok();
    let mut at = at;
    if space.read_uint(at, 4) == Ok(ENDBR64) {
        at = at.wrapping_offset(4);
    }
    if byte(at)? == 0xf2 {
        at = at.wrapping_offset(1);
    }
    let is_jump = byte(at)? == 0xff && byte(at.wrapping_offset(1))? == 0x25;
    is_jump.then(|| slot_at(at.wrapping_offset(6), at.wrapping_offset(2), space))?
}

/// What the slot holds that a displacement at `at` names, in the instruction before `next`.
fn slot_at(next: Addr, at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    space.read_addr(relative(next, at, space)?).ok()
}

fn relative(next: Addr, at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let displacement = u32::try_from(space.read_uint(at, 4).ok()?).ok()?.cast_signed();
    Some(next.wrapping_offset(displacement.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::made_memory::MadeMemory;

    const FUNCTION: u64 = 0x7000_1230;

    fn found(call: &[u8], stub: &[u8]) -> Option<u64> {
        let memory = MadeMemory::default()
            .bytes(0x1000, call)
            .bytes(0x1800, stub)
            .bytes(0x2000, &FUNCTION.to_le_bytes());
        callee(Addr::new(0x1000 + call.len() as u64), &memory).map(Addr::get)
    }

    #[test]
    fn a_stub_leads_to_what_its_slot_holds() {
        // call 0x1800; jmp *0x2000(%rip)
        let call = [0x90, 0xe8, 0xfa, 0x07, 0, 0];
        assert_eq!(found(&call, &[0xff, 0x25, 0xfa, 0x07, 0, 0]), Some(FUNCTION));
        let marked = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf6, 0x07, 0, 0];
        assert_eq!(found(&call, &marked), Some(FUNCTION));
        let bound = [0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf5, 0x07, 0, 0];
        assert_eq!(found(&call, &bound), Some(FUNCTION));
    }

    #[test]
    fn a_call_without_a_stub_leads_to_the_function_itself() {
        assert_eq!(found(&[0x90, 0xe8, 0xfa, 0x07, 0, 0], &[0x55, 0x48, 0x89, 0xe5]), Some(0x1800));
        assert_eq!(found(&[0xff, 0x15, 0xfa, 0x0f, 0, 0], &[]), Some(FUNCTION));
    }

    #[test]
    fn a_call_by_register_tells_nothing() {
        assert_eq!(found(&[0x90, 0x90, 0x90, 0x90, 0xff, 0xd0], &[]), None);
    }
}
