//! x86-64: System V ABI, Linux; and x32, whose pointers have 32 bits.

mod context;
pub(super) mod decode;
mod instruction;
mod parts;
mod regs;
mod signal;
mod stack_effect;
mod stub;
mod switch;
mod trace;

use kcore_mem::{Addr, AddrRange, AddressSpace, Fault, Target};

use super::{Machine, RegisterPart, UserRegister};
use crate::{Reading, RegisterId, Regs, SavedContext, Switch, follow::Instruction};

/// The architecture.
pub struct X86_64 {
    contexts: signal::Layout,
}

impl X86_64 {
    /// That of a target.
    pub const fn new(target: Target) -> Self {
        Self { contexts: signal::Layout::of(target) }
    }
}

impl Machine for X86_64 {
    fn stack_pointer(&self) -> RegisterId {
        regs::RSP
    }

    fn frame_pointer(&self) -> RegisterId {
        regs::RBP
    }

    fn program_counter(&self) -> RegisterId {
        regs::RIP
    }

    fn link_register(&self) -> Option<RegisterId> {
        None
    }

    fn register_names(&self) -> &'static [(&'static str, RegisterId)] {
        regs::NAMES
    }

    fn part_of(&self, name: &str) -> Option<RegisterPart> {
        parts::part_of(name)
    }

    fn is_of_thread(&self, name: &str) -> bool {
        matches!(name, "fsbase" | "gsbase")
    }

    fn pc_name(&self) -> &'static str {
        "rip"
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

    fn pr_reg(
        &self,
        regs: &Regs,
        system_call: Option<u64>,
        thread_pointer: Option<Addr>,
    ) -> Vec<u8> {
        regs::pr_reg(regs, system_call, thread_pointer)
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

    fn is_signal_restorer(&self, at: Addr, space: &dyn AddressSpace) -> bool {
        signal::is_restorer(at, space)
    }

    fn is_end_of_context(&self, at: Addr, space: &dyn AddressSpace) -> bool {
        context::is_end(at, space)
    }

    fn begins_context(&self, regs: &Regs, cfa: Addr, space: &dyn AddressSpace) -> bool {
        context::is_begin(regs.pc(), cfa, space)
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
        Some(stack_pointer)
    }

    fn context_of_saved_stack_pointer(&self, slot: Addr) -> Option<Addr> {
        self.contexts.context_of_saved_stack_pointer(slot)
    }

    fn signal_info(&self, context: Addr) -> Option<Addr> {
        self.contexts.signal_info(context)
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

    fn caller_at_entry(&self, regs: &Regs, space: &dyn AddressSpace) -> Option<(Regs, Addr)> {
        let sp = Addr::new(regs.get(regs::RSP)?);
        let pc = space.read_addr(sp).ok()?;
        let cfa = sp.checked_add(8)?;
        let mut caller = regs.with_pc(pc);
        caller.set(regs::RSP, Some(cfa.get()));
        Some((caller, cfa))
    }

    fn jump_at(&self, at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
        stub::jump_at(at, space)
    }

    fn preserved(&self) -> &'static [u16] {
        &trace::CALLEE_SAVED
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

    fn caller_by_frame_pointer(
        &self,
        regs: &Regs,
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Option<Addr>)> {
        let fp = Addr::new(regs.get(regs::RBP)?);
        let sp = Addr::new(regs.get(regs::RSP)?);
        if fp < sp || !fp.get().is_multiple_of(8) {
            return None;
        }
        let saved = space.read_register(fp).ok()?;
        let pc = space.read_addr(fp.checked_add(8)?).ok()?;
        let cfa = fp.checked_add(16)?;
        let mut caller = Regs::new(pc);
        caller.set(regs::RBP, Some(saved));
        caller.set(regs::RSP, Some(cfa.get()));
        Some((caller, Some(cfa)))
    }

    /// The caller's frame pointer would be saved right below the return address.
    fn frame_pointer_of(&self, _regs: &Regs, cfa: Option<Addr>) -> Option<Addr> {
        cfa.map(|cfa| cfa.wrapping_offset(-16))
    }
}
