//! aarch64: AAPCS64, Linux.

mod context;
mod decode;
mod instruction;
mod regs;
mod signal;
mod stub;
mod switch;
mod trace;

use kcore_mem::{Addr, AddrRange, AddressSpace, Fault, Target};

use super::{Machine, RegisterPart, UserRegister};
use crate::{Reading, RegisterId, Regs, SavedContext, Switch, follow::Instruction};

/// Bits that no address of a user has: Linux gives addresses above 48 bits only to a process that
/// asks for them, and code is not put there.
const NO_USER_ADDRESS: u64 = 0xffff << 48;

/// The architecture.
pub struct Aarch64 {
    code_mask: u64,
}

impl Aarch64 {
    /// `code_mask`: the bits of a code address that hold its authentication code
    /// (`NT_ARM_PAC_MASK`, `insn_mask`), if the core says so.
    pub fn new(code_mask: Option<u64>) -> Self {
        Self { code_mask: code_mask.unwrap_or(NO_USER_ADDRESS) }
    }
}

impl Machine for Aarch64 {
    fn stack_pointer(&self) -> RegisterId {
        regs::SP
    }

    fn frame_pointer(&self) -> RegisterId {
        regs::X29
    }

    fn program_counter(&self) -> RegisterId {
        regs::PC
    }

    fn link_register(&self) -> Option<RegisterId> {
        Some(regs::X30)
    }

    fn register_names(&self) -> &'static [(&'static str, RegisterId)] {
        regs::NAMES
    }

    fn part_of(&self, name: &str) -> Option<RegisterPart> {
        regs::part_of(name)
    }

    fn is_of_thread(&self, name: &str) -> bool {
        name == "tpidr"
    }

    fn pc_name(&self) -> &'static str {
        "pc"
    }

    fn user_registers(&self, bytes: &[u8], target: Target) -> Vec<UserRegister> {
        regs::user_registers(bytes, target)
    }

    fn regs(&self, bytes: &[u8], target: Target) -> Option<Regs> {
        regs::regs(bytes, target)
    }

    fn system_call(&self, bytes: &[u8], target: Target, space: &dyn AddressSpace) -> Option<u64> {
        regs::system_call(bytes, target, space)
    }

    fn pr_reg(&self, regs: &Regs, _call: Option<u64>, _thread_pointer: Option<Addr>) -> Vec<u8> {
        regs::pr_reg(regs)
    }

    fn system_call_in_code(&self, pc: Addr, space: &dyn AddressSpace) -> Option<u64> {
        regs::system_call_in_code(pc, space)
    }

    fn interrupted_system_call(
        &self,
        regs: &Regs,
        space: &dyn AddressSpace,
    ) -> Option<(u64, Addr)> {
        regs::interrupted_system_call(regs, space)
    }

    fn forget_scratch(&self, regs: &mut Regs) {
        regs::forget_scratch(regs);
    }

    fn strip_code(&self, at: Addr) -> Addr {
        Addr::new(at.get() & !self.code_mask)
    }

    fn is_signal_restorer(&self, at: Addr, space: &dyn AddressSpace) -> bool {
        signal::is_restorer(at, space)
    }

    fn is_end_of_context(&self, at: Addr, space: &dyn AddressSpace) -> bool {
        context::is_end(at, space)
    }

    fn begins_context(&self, regs: &Regs, _cfa: Addr, space: &dyn AddressSpace) -> bool {
        regs.get(regs::X30).is_some_and(|link| context::is_end(Addr::new(link), space))
    }

    fn interrupted_regs(&self, regs: &Regs, space: &dyn AddressSpace) -> Option<Regs> {
        signal::interrupted_regs(regs, space)
    }

    fn context_regs(&self, context: Addr, space: &dyn AddressSpace) -> Option<Regs> {
        signal::registers_of_context(context, space)
    }

    fn signal_context(
        &self,
        _restorer: Addr,
        stack_pointer: Addr,
        _space: &dyn AddressSpace,
    ) -> Option<Addr> {
        signal::signal_context(stack_pointer)
    }

    fn context_of_saved_stack_pointer(&self, slot: Addr) -> Option<Addr> {
        signal::context_of_saved_stack_pointer(slot)
    }

    fn signal_info(&self, context: Addr) -> Option<Addr> {
        signal::signal_info(context)
    }

    fn saved_context(
        &self,
        context: Addr,
        space: &dyn AddressSpace,
    ) -> Result<SavedContext, Fault> {
        signal::saved_context(context, space)
    }

    fn follows_call(&self, at: Addr, space: &dyn AddressSpace) -> bool {
        decode::follows_call(at, space)
    }

    fn called_before(&self, at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
        decode::called_before(at, space)
    }

    fn switch_before(
        &self,
        at: Addr,
        caller: Option<AddrRange>,
        space: &dyn AddressSpace,
    ) -> Option<Switch> {
        switch::switch_before(at, caller, space)
    }

    fn caller_at_entry(&self, regs: &Regs, _space: &dyn AddressSpace) -> Option<(Regs, Addr)> {
        let pc = self.strip_code(Addr::new(regs.get(regs::X30)?));
        let cfa = Addr::new(regs.get(regs::SP)?);
        let mut caller = regs.with_pc(pc);
        caller.set(regs::X30, None);
        Some((caller, cfa))
    }

    fn jump_at(&self, at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
        stub::jump_at(at, space)
    }

    fn preserved(&self) -> &'static [u16] {
        &instruction::PRESERVED
    }

    fn instruction(&self, bytes: &[u8], at: Addr) -> Option<Instruction> {
        instruction::instruction(bytes, at)
    }

    fn read_code(&self, pc: Addr, function: AddrRange, space: &dyn AddressSpace) -> Vec<Reading> {
        trace::read_code(pc, function, space)
    }

    fn caller_by_code(
        &self,
        regs: &Regs,
        readings: &[Reading],
        space: &dyn AddressSpace,
        is_plausible: &dyn Fn(&Regs, Addr) -> bool,
    ) -> Option<(Regs, Addr)> {
        trace::caller_by_code(regs, readings, space, is_plausible)
    }

    /// The frame record is x29 and x30 of the caller; where it lies in its frame is up to the
    /// compiler, so neither the CFA nor the caller's stack pointer is known.
    fn caller_by_frame_pointer(
        &self,
        regs: &Regs,
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Option<Addr>)> {
        let fp = Addr::new(regs.get(regs::X29)?);
        let below_stack = regs.get(regs::SP).is_some_and(|sp| fp.get() < sp);
        if below_stack || !fp.get().is_multiple_of(8) {
            return None;
        }
        let saved = space.read_word(fp).ok()?;
        if saved != 0 && saved <= fp.get() {
            return None;
        }
        let pc = space.read_addr(fp.checked_add(8)?).ok()?;
        let mut caller = Regs::new(pc);
        caller.set(regs::X29, Some(saved));
        Some((caller, None))
    }

    /// Frame records lie anywhere in a frame: only the register tells.
    fn frame_pointer_of(&self, regs: &Regs, _cfa: Option<Addr>) -> Option<Addr> {
        regs.get(regs::X29).map(Addr::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authentication_codes_are_no_part_of_an_address() {
        let signed = Addr::new(0x007a_0055_0000_0dd4);
        let stripped = Addr::new(0x0055_0000_0dd4);
        assert_eq!(Aarch64::new(None).strip_code(signed), stripped);
        let mask = 0x007f_0000_0000_0000;
        assert_eq!(Aarch64::new(Some(mask)).strip_code(signed), stripped);
        assert_eq!(Aarch64::new(Some(mask)).strip_code(stripped), stripped);
    }

    #[test]
    fn a_call_to_nowhere_returns_to_the_link_register() {
        let mut regs = Regs::new(Addr::new(0));
        regs.set(regs::X30, Some(0x007a_0055_0000_0dd4));
        regs.set(regs::SP, Some(0x7000));
        let machine = Aarch64::new(None);
        let (caller, cfa) = machine.caller_at_entry(&regs, &Nothing).unwrap();
        assert_eq!((caller.pc(), cfa), (Addr::new(0x0055_0000_0dd4), Addr::new(0x7000)));
        assert_eq!(caller.get(regs::X30), None, "its own return address lies elsewhere");
    }

    /// No memory at all.
    struct Nothing;

    impl AddressSpace for Nothing {
        fn target(&self) -> Target {
            Target { arch: kcore_mem::Arch::Aarch64, ..Target::X86_64 }
        }

        fn slice(&self, at: Addr) -> Result<&[u8], kcore_mem::Fault> {
            Err(kcore_mem::Fault::Unmapped(at))
        }

        fn origin(&self, at: Addr) -> Result<kcore_mem::Origin, kcore_mem::Fault> {
            Err(kcore_mem::Fault::Unmapped(at))
        }

        fn regions(&self) -> Vec<kcore_mem::Region> {
            Vec::new()
        }
    }
}
