//! The way out of machine code of traces: `vm_x64.dasc` of 2.1.
//!
//! A trace runs on the stack of the frame of the machine that it was entered in, with some bytes more. That frame holds what
//! its caller had in registers, and lies where its state says.

use kcore_mem::{Addr, Arch};
use kcore_unwind::{Phase, RegisterId, Regs, RuleFrame, RuleStep};

use super::{LuaJit, running::around};
use crate::Host;

const RSP: RegisterId = RegisterId(7);
/// Registers that a function preserves, of which machine code of traces says nothing.
const PRESERVED: [RegisterId; 6] =
    [RegisterId(3), RegisterId(6), RegisterId(12), RegisterId(13), RegisterId(14), RegisterId(15)];
/// Where a frame of the machine has those that it uses (`SAVE_R1` to `SAVE_R4`), and where it was called from.
const SAVED: [(RegisterId, u64); 4] =
    [(RegisterId(14), 40), (RegisterId(15), 48), (RegisterId(3), 56), (RegisterId(6), 64)];
const RETURN: u64 = 72;
const SIZE: u64 = 80;

impl LuaJit {
    pub(super) fn step_out(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let at = frame.pc.lookup();
        (phase == Phase::AfterCfi && self.is_trace(host, at)).then_some(())?;
        let machine = around(host, Addr::new(frame.regs.get(RSP)?))?.0;
        let word = |offset| host.space().read_word(machine.checked_add(offset)?).ok();
        let pc = word(RETURN).map(Addr::new).filter(|pc| self.module.contains(*pc))?;
        let cfa = machine.checked_add(SIZE)?;
        *caller = *frame.regs;
        caller.set_pc(pc);
        PRESERVED.into_iter().for_each(|register| caller.set(register, None));
        SAVED.into_iter().for_each(|(register, offset)| caller.set(register, word(offset)));
        caller.set(RSP, Some(cfa.get()));
        Some(RuleStep::Caller { cfa, interrupted: false })
    }

    /// Whether machine code of a trace may lie at an address: no module's, and of no file.
    fn is_trace(&self, host: &dyn Host, at: Addr) -> bool {
        host.space().target().arch == Arch::X86_64
            && !self.module.contains(at)
            && host.module_at(at).is_none()
            && host.range_at(at).is_some_and(|range| range.executable && !range.is_file)
    }
}
