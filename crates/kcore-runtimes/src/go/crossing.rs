//! The ways between Go and C: each has a stack of its own, and a goroutine may have been moved while C ran
//! (`runtime/cgocall.go`, `runtime/asm_amd64.s`, `runtime/cgo/asm_amd64.s`, `runtime/cgo/abi_amd64.h`, Go 1.19 to 1.27).

use kcore_mem::{Addr, AddressSpace};
use kcore_unwind::{RegisterId, Regs, RuleFrame, RuleStep};

use super::{
    Go,
    code::CodePlace,
    goroutine::{Goroutine, SavedRegisters},
    layout::CallLayout,
    step::{RBP, RETURN, RSP, by_table, registers},
};
use crate::Host;

/// Calls of Go by C that are inside each other on one thread, at most.
const MAX_NESTED: usize = 256;
/// Fields of `runtime.m` and of `runtime.g`, alike in all versions: `g0`, and `sched.sp`.
const SYSTEM_GOROUTINE: u64 = 0;
const SAVED_SP: u64 = 56;
/// `PUSH_REGS_HOST_TO_ABI0` saves these right below the return address, lowest first: rbx, r12 to r15, rbp.
const SAVED_FOR_C: [u16; 6] = [3, 12, 13, 14, 15, 6];
/// A register that the functions of C keep, in which the stack pointer of Go stands while the race detector runs.
const R12: RegisterId = RegisterId(12);
/// The alignment of stacks of C.
const ALIGNED: u64 = !15;

/// What `runtime.asmcgocall` keeps on the stack of the system while C runs.
struct KeptCall {
    /// The goroutine that called C.
    goroutine: Addr,
    /// Its stack pointer then.
    left: Addr,
}

impl KeptCall {
    /// What lies at a stack pointer, if the goroutine's stack holds it.
    fn at(space: &dyn AddressSpace, layout: CallLayout, sp: Addr) -> Option<Self> {
        let word = |at: Addr, offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let (goroutine, kept) = (word(sp, layout.goroutine)?, word(sp, layout.depth)?);
        let goroutine = Addr::new(goroutine);
        // It was called on the stack of the system already, and kept its stack pointer.
        if goroutine.get() == 0 {
            let near = sp.get()..sp.checked_add(layout.room.checked_add(16)?)?.get();
            return near.contains(&kept).then_some(Self { goroutine, left: Addr::new(kept) });
        }
        let (low, high) = (word(goroutine, 0)?, word(goroutine, 8)?);
        let left = high.checked_sub(kept).filter(|left| *left >= low && *left < high)?;
        Some(Self { goroutine, left: Addr::new(left) })
    }
}

/// A step that leads to another stack.
pub fn elsewhere(step: RuleStep) -> Option<RuleStep> {
    Some(match step {
        RuleStep::Caller { cfa, .. } => RuleStep::Elsewhere { cfa },
        other => other,
    })
}

impl Go {
    /// Out of `runtime.asmcgocall`, by what that keeps on the stack of the system while C runs.
    pub(super) fn out_of_c(
        &self,
        host: &dyn Host,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let space = host.space();
        let sp = Addr::new(frame.regs.get(RSP)?);
        let kept = KeptCall::at(space, self.layout.call, sp);
        let Some((pc, cfa, fp)) = kept.and_then(|kept| self.returned(space, kept.left)) else {
            return self.to_goroutine(host, frame, caller);
        };
        let fp = fp.or_else(|| frame.regs.get(RBP).map(Addr::new));
        *caller = registers(SavedRegisters { pc, sp: Some(cfa), fp });
        Some(RuleStep::Elsewhere { cfa })
    }

    /// The return address at a stack pointer or, since Go 1.21, behind the frame pointer that was saved there.
    fn returned(&self, space: &dyn AddressSpace, sp: Addr) -> Option<(Addr, Addr, Option<Addr>)> {
        let is_code = |pc: &Addr| self.tables.text.contains(*pc);
        let first = space.read_addr(sp).ok()?;
        let second = sp.checked_add(RETURN)?;
        if is_code(&first) {
            return Some((first, second, None));
        }
        let pc = space.read_addr(second).ok().filter(is_code)?;
        Some((pc, second.checked_add(RETURN)?, Some(first)))
    }

    /// Out of `runtime.cgocallback`, which runs Go on the stack of a goroutine, to the C that called it.
    pub(super) fn out_of_callback(
        &self,
        host: &dyn Host,
        place: &CodePlace,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let space = host.space();
        let sp = Addr::new(frame.regs.get(RSP)?);
        // On the stack of the thread it takes or gives back what runs goroutines.
        let Some(goroutine) = self.goroutines(host).holding(sp) else {
            return by_table(space, place, frame, caller);
        };
        let left = sp.checked_add(place.stack_delta?)?.checked_add(RETURN)?;
        let sp = self.called_from(space, goroutine, left)?;
        let regs = registers(SavedRegisters { pc: frame.pc.addr(), sp: Some(sp), fp: None });
        elsewhere(by_table(space, place, &RuleFrame { regs: &regs, ..*frame }, caller)?)
    }

    /// The stack pointer on the thread's stack of the call whose frame on the goroutine's ends at `left`. Each such call
    /// keeps that of the one before it.
    fn called_from(
        &self,
        space: &dyn AddressSpace,
        goroutine: &Goroutine,
        left: Addr,
    ) -> Option<Addr> {
        let system = space.read_addr(goroutine.machine?.checked_add(SYSTEM_GOROUTINE)?).ok()?;
        let mut call = space.read_addr(system.checked_add(SAVED_SP)?).ok()?;
        for _ in 0..MAX_NESTED {
            let before = space.read_addr(call).ok()?;
            // C was called below the frame of the call before, or by nobody in Go.
            let by = (before > call).then(|| self.kept_below(space, before)).flatten();
            match by.filter(|kept| kept.goroutine == goroutine.at && kept.left <= left) {
                Some(kept) if kept.left < left => call = before,
                _ => return Some(call),
            }
        }
        None
    }

    /// What was kept by the call of C that began at a stack pointer of the system's stack.
    fn kept_below(&self, space: &dyn AddressSpace, sp: Addr) -> Option<KeptCall> {
        let below = sp.get().checked_sub(self.layout.call.room)?;
        KeptCall::at(space, self.layout.call, Addr::new(below & ALIGNED))
    }

    /// Out of a function that C called, to C.
    pub(super) fn to_c(
        space: &dyn AddressSpace,
        place: &CodePlace,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let step = by_table(space, place, frame, caller)?;
        let RuleStep::Caller { cfa, .. } = step else { return Some(step) };
        let saved = (SAVED_FOR_C.len() as u64).saturating_add(1).saturating_mul(8);
        let first = cfa.get().checked_sub(saved).map(Addr::new)?;
        for (number, register) in (0_u64..).zip(SAVED_FOR_C) {
            let at = first.checked_add(number.saturating_mul(8))?;
            caller.set(RegisterId(register), space.read_word(at).ok());
        }
        Some(step)
    }

    /// Out of the call of the race detector, which keeps the stack pointer of Go in a register.
    pub(super) fn out_of_race(
        &self,
        host: &dyn Host,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let sp = Addr::new(frame.regs.get(R12)?);
        let pc = host.space().read_addr(sp).ok().filter(|pc| self.tables.text.contains(*pc))?;
        let cfa = sp.checked_add(RETURN)?;
        let fp = frame.regs.get(RBP).map(Addr::new);
        *caller = registers(SavedRegisters { pc, sp: Some(cfa), fp });
        Some(RuleStep::Elsewhere { cfa })
    }
}
