//! The way out of a function of Go's, and from one stack to another (`runtime/traceback.go`, `runtime/asm_amd64.s`,
//! `runtime/asm_arm64.s`).

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{Regs, RuleFrame, RuleStep};

use super::{
    Go,
    code::CodePlace,
    crossing::elsewhere,
    goroutine::{Goroutine, SavedRegisters},
    role::Role,
};
use crate::Host;

impl Go {
    /// The step out of a frame, if it is of this module's code.
    pub(super) fn step_out(
        &self,
        host: &dyn Host,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let place = self.place(host, frame.pc)?;
        let returns = frame.pc.is_return();
        match place.role {
            Role::SignalReturn => None,
            Role::Outermost => Some(RuleStep::Outermost { cfa: None }),
            Role::BeginsThread => Some(self.out_of_thread(host, &place, frame, caller)),
            Role::CallsC if returns => self.out_of_c(host, &place, frame, caller),
            Role::CallsRace if returns => self.out_of_race(host, frame, caller),
            Role::CalledByC if returns => self.out_of_callback(host, &place, frame, caller),
            Role::FromC | Role::FromRace if returns => self.to_c(host, &place, frame, caller),
            Role::SystemStack | Role::Leaves if returns => {
                let step = self.to_goroutine(host, frame, caller);
                let is_last = step.is_none() && place.role == Role::Leaves;
                step.or(is_last.then_some(RuleStep::Outermost { cfa: None }))
            }
            _ if place.function.writes_sp() && returns => None,
            _ => self.by_table(host, &place, frame, caller),
        }
    }

    /// Out of the function that begins a thread, to the C that made it, if C did.
    fn out_of_thread(
        &self,
        host: &dyn Host,
        place: &CodePlace,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> RuleStep {
        let step = self.by_table(host, place, frame, caller);
        let step = step.filter(|_| self.is_of_c(host, caller.pc()));
        let Some(RuleStep::Caller { cfa, .. }) = step else {
            return RuleStep::Outermost { cfa: None };
        };
        if let Some(fp) = self.fp_of_c(host, place, frame) {
            let (pc, sp) = (caller.pc(), Some(cfa));
            *caller = self.abi.registers(SavedRegisters { pc, sp, fp: Some(fp), link: None });
        }
        RuleStep::Caller { cfa, interrupted: false }
    }

    /// What the function that begins a thread keeps of C's frame pointer, where it has a frame.
    fn fp_of_c(&self, host: &dyn Host, place: &CodePlace, frame: &RuleFrame<'_>) -> Option<Addr> {
        let delta = place.stack_delta.filter(|delta| *delta > 0)?;
        self.abi.kept_fp(host.space(), self.abi.sp(frame.regs)?, delta)
    }

    /// Whether an address is a return address in C code. C code that Go's linker included is in its tables of functions too, but
    /// without a table of stack pointers.
    fn is_of_c(&self, host: &dyn Host, pc: Addr) -> bool {
        let own = self.place(host, CodeAddr::Return(pc));
        let is_code = host.range_at(pc).is_some_and(|range| range.executable);
        is_code && own.is_none_or(|place| place.stack_delta.is_none())
    }

    /// To the goroutine of the thread, which was left for the stack of the system.
    pub(super) fn to_goroutine(
        &self,
        host: &dyn Host,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let goroutines = self.goroutines(host);
        let goroutine = goroutines.on_thread(frame.thread?)?;
        let sp = self.abi.sp(frame.regs)?;
        (!goroutine.stack.contains(sp)).then_some(())?;
        self.resume(host, goroutine, caller)
    }

    /// What a goroutine was left with. A function that stands for `runtime.systemstack` was not called.
    fn resume(
        &self,
        host: &dyn Host,
        goroutine: &Goroutine,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let saved = goroutine.saved;
        let sp = saved.sp.filter(|sp| goroutine.stack.contains(*sp))?;
        let regs = self.abi.registers(SavedRegisters { sp: Some(sp), ..saved });
        let pc = self.resumes_at(host, saved);
        let place = self.place(host, pc)?;
        if place.role == Role::SystemStackMark {
            let frame = RuleFrame { thread: None, pc, regs: &regs };
            return elsewhere(self.by_table(host, &place, &frame, caller)?);
        }
        *caller = regs;
        Some(RuleStep::Elsewhere { cfa: sp, interrupted: !pc.is_return() })
    }

    /// Whether the saved program counter is exact or a return address. It is exact at the beginning of a function: the
    /// goroutine has not begun to run or, before Go 1.21, it stands for `runtime.systemstack`. It is exact too where a link
    /// register was saved, by which the function still returns.
    pub(super) fn resumes_at(&self, host: &dyn Host, saved: SavedRegisters) -> CodeAddr {
        let exact = CodeAddr::Pc(saved.pc);
        let begins = |place: Arc<CodePlace>| place.function.code.start == saved.pc;
        let keeps_link = self.abi.has_link() && saved.link.is_some();
        match keeps_link || self.place(host, exact).is_some_and(begins) {
            true => exact,
            false => CodeAddr::Return(saved.pc),
        }
    }

    /// Out of a function by its table of stack pointers.
    pub(super) fn by_table(
        &self,
        host: &dyn Host,
        place: &CodePlace,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let (abi, space) = (self.abi, host.space());
        let (delta, sp) = (place.stack_delta?, abi.sp(frame.regs)?);
        let (pc, cfa) = abi.return_of(space, sp, delta, Some(frame.regs))?;
        let fp = match delta {
            0 => abi.fp(frame.regs),
            _ if place.function.is_assembly() || !frame.pc.is_return() => None,
            _ => abi.kept_fp(space, sp, delta),
        };
        let interrupted = place.role == Role::Injected;
        let (link, sp) = if interrupted { abi.before_injection(space, cfa)? } else { (None, cfa) };
        *caller = abi.registers(SavedRegisters { pc, sp: Some(sp), fp, link });
        Some(RuleStep::Caller { cfa, interrupted })
    }
}
