//! The way out of a function of Go's, and from one stack to another (`runtime/traceback.go`, `runtime/asm_amd64.s`),
//! on x86-64.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, CodeAddr};
use kcore_unwind::{RegisterId, Regs, RuleFrame, RuleStep};

use super::{
    Go,
    code::CodePlace,
    crossing::elsewhere,
    goroutine::{Goroutine, SavedRegisters},
    role::Role,
};
use crate::Host;

pub const RBP: RegisterId = RegisterId(6);
pub const RSP: RegisterId = RegisterId(7);
/// Bytes of a return address.
pub const RETURN: u64 = 8;

/// Registers as they are set for a stack that begins with them.
pub fn registers(saved: SavedRegisters) -> Regs {
    let mut regs = Regs::new(saved.pc);
    regs.set(RSP, saved.sp.map(Addr::get));
    regs.set(RBP, saved.fp.map(Addr::get));
    regs
}

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
            Role::CallsC if returns => self.out_of_c(host, frame, caller),
            Role::CallsRace if returns => self.out_of_race(host, frame, caller),
            Role::CalledByC if returns => self.out_of_callback(host, &place, frame, caller),
            Role::FromC if returns => Self::to_c(host.space(), &place, frame, caller),
            Role::SystemStack | Role::Leaves if returns => {
                let step = self.to_goroutine(host, frame, caller);
                let is_last = step.is_none() && place.role == Role::Leaves;
                step.or(is_last.then_some(RuleStep::Outermost { cfa: None }))
            }
            _ if place.function.writes_sp() && returns => None,
            _ => by_table(host.space(), &place, frame, caller),
        }
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
        let sp = Addr::new(frame.regs.get(RSP)?);
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
        let regs = registers(SavedRegisters { sp: Some(sp), ..saved });
        // Before Go 1.21 what stands for `runtime.systemstack` is saved by where it begins.
        let begins = |place: &Arc<CodePlace>| place.function.code.start == saved.pc;
        let begun = self.place(host, CodeAddr::Pc(saved.pc)).filter(begins);
        let pc = begun.as_ref().map_or(CodeAddr::Return(saved.pc), |_| CodeAddr::Pc(saved.pc));
        let place = begun.or_else(|| self.place(host, pc))?;
        if place.role == Role::SystemStackMark {
            let frame = RuleFrame { thread: None, pc, regs: &regs };
            return elsewhere(by_table(host.space(), &place, &frame, caller)?);
        }
        *caller = regs;
        Some(RuleStep::Elsewhere { cfa: sp })
    }
}

/// Out of a function by its table of stack pointers.
pub fn by_table(
    space: &dyn AddressSpace,
    place: &CodePlace,
    frame: &RuleFrame<'_>,
    caller: &mut Regs,
) -> Option<RuleStep> {
    let delta = place.stack_delta?;
    let at = Addr::new(frame.regs.get(RSP)?).checked_add(delta)?;
    let pc = space.read_addr(at).ok()?;
    let cfa = at.checked_add(RETURN)?;
    let fp = match delta {
        0 => frame.regs.get(RBP),
        _ if place.function.is_assembly() || !frame.pc.is_return() => None,
        // Compiled functions that have a frame save it right below the return address.
        _ => at.get().checked_sub(8).and_then(|at| space.read_word(Addr::new(at)).ok()),
    };
    *caller = registers(SavedRegisters { pc, sp: Some(cfa), fp: fp.map(Addr::new) });
    Some(RuleStep::Caller { cfa, interrupted: place.role == Role::Injected })
}
