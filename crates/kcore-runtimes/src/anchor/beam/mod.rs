//! The caller of code that BEAM's JIT made (Erlang/OTP 25 and later, x86-64). Such code runs on the stack of an Erlang
//! process; where that ends, and where C was called from such code, the next caller lies on the stack of the thread.
//!
//! `process_main` jumps to code that keeps the registers of the virtual machine on the stack of its thread, has `rbx` point
//! to them all the time, and goes to the stack of a process from there (`erts/emulator/beam/jit/x86/process_main.cpp`,
//! `beam_asm.hpp`). So what called `process_main` is the first return address above them that is behind such a call.

mod stack;
#[cfg(test)]
mod tests;

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, CodeAddr};
use kcore_unwind::{Machine, Phase, RegisterId, Regs, RuleFrame, RuleStep, machine};

use self::stack::Stack;
use super::Anchor;
use crate::Host;

const RBX: RegisterId = RegisterId(3);
const RSP: RegisterId = RegisterId(7);
/// Functions that every such virtual machine exports.
const MAIN: &str = "process_main";
const OTHERS: [&str; 2] = ["erts_schedule", "beamasm_init"];
/// Variables with the places at which the stack of an Erlang process begins, each where one may end.
const ENDS: [&str; 3] = ["beam_normal_exit", "beam_exit", "beam_continue_exit"];
/// The virtual machine has more code.
const MIN_CODE: u64 = 512 << 10;
/// Bytes that are looked at above `rbx`: 1024 registers of either kind, and what is aligned to a line of the cache.
const MAX_REGISTERS: u64 = 32 << 10;

struct Beam {
    machine: Box<dyn Machine>,
    module: AddrRange,
    main: Addr,
    /// What a process returns to when it ends.
    ends: Vec<Addr>,
}

/// The anchor of the Erlang virtual machine that a process is, if it is one with a JIT.
pub fn find(host: &dyn Host) -> Option<Box<dyn Anchor>> {
    let target = host.space().target();
    (target.arch == Arch::X86_64).then_some(())?;
    let modules = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    { modules }.find_map(|module| {
        let exported = |name| module.addr(module.exported(name)?.0);
        let main = exported(MAIN)?;
        let is_beam = OTHERS.iter().all(|name| exported(name).is_some());
        let ends = ENDS.iter().filter_map(|name| host.space().read_addr(exported(name)?).ok());
        let machine = machine(target, None)?;
        let beam = Beam { machine, module: module.span(), main, ends: ends.collect() };
        is_beam.then(|| Box::new(beam) as Box<dyn Anchor>)
    })
}

impl Anchor for Beam {
    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        (phase == Phase::AfterCode && is_made(frame.pc.lookup(), host)).then_some(())?;
        let registers = Addr::new(frame.regs.get(RBX)?);
        let stack = Stack::of(host, &*self.machine, registers, frame.regs);
        match stack.and_then(|stack| stack.return_address(&self.ends)) {
            Some((_, pc)) if self.ends.contains(&pc) => self.leave(registers, host, caller),
            Some((slot, pc)) => called(frame, slot, pc, caller),
            None => self.leave(registers, host, caller),
        }
    }
}

/// The caller on the same stack, which keeps the registers of the virtual machine. Where code was stopped, its frame may
/// hold what an older one left.
fn called(frame: &RuleFrame<'_>, slot: Addr, pc: Addr, caller: &mut Regs) -> Option<RuleStep> {
    let cfa = slot.checked_add(8)?;
    *caller = Regs::new(pc);
    caller.set(RSP, Some(cfa.get()));
    caller.set(RBX, frame.regs.get(RBX));
    Some(match frame.pc {
        CodeAddr::Return(_) => RuleStep::Caller { cfa, interrupted: false },
        CodeAddr::Pc(_) => RuleStep::Guess { cfa },
    })
}

/// Whether code was made at run time.
fn is_made(at: Addr, host: &dyn Host) -> bool {
    host.module_at(at).is_none() && host.range_at(at).is_some_and(|it| it.executable)
}

impl Beam {
    /// To the stack of the thread.
    fn leave(&self, registers: Addr, host: &dyn Host, caller: &mut Regs) -> Option<RuleStep> {
        let (slot, pc) = self.return_address(registers, host.space())?;
        let cfa = slot.checked_add(8)?;
        *caller = Regs::new(pc);
        caller.set(RSP, Some(cfa.get()));
        Some(RuleStep::Caller { cfa, interrupted: false })
    }

    /// The return address of `process_main` above the registers of the virtual machine, and where it lies.
    fn return_address(&self, registers: Addr, space: &dyn AddressSpace) -> Option<(Addr, Addr)> {
        registers.get().is_multiple_of(8).then_some(())?;
        let held = space.read_held(registers, MAX_REGISTERS);
        let mut words = held.as_chunks().0.iter().map(|word| Addr::new(u64::from_le_bytes(*word)));
        let index = words.position(|word| self.called_main(word, space))?;
        let slot = registers.checked_add((index as u64).checked_mul(8)?)?;
        Some((slot, space.read_addr(slot).ok()?))
    }

    /// Whether a call of `process_main` stands before an address.
    fn called_main(&self, pc: Addr, space: &dyn AddressSpace) -> bool {
        self.module.contains(pc) && self.machine.called_before(pc, space) == Some(self.main)
    }
}
