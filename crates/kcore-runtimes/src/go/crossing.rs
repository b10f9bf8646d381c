//! The ways between Go and C: each has a stack of its own, and a goroutine may have been moved while C ran
//! (`runtime/cgocall.go`, `runtime/asm_{amd64,arm64}.s`, `runtime/cgo/{asm_amd64.s,abi_amd64.h,asm_arm64.s}`, Go 1.19 to 1.27).

use kcore_mem::{Addr, AddressSpace, CodeAddr};
use kcore_unwind::{RegisterId, Regs, RuleFrame, RuleStep};

use super::{
    Go,
    abi::KeptBlock,
    code::CodePlace,
    goroutine::{Goroutine, SavedRegisters},
    layout::CallLayout,
    role::Role,
};
use crate::Host;

/// Calls of Go by C that are inside each other on one thread, at most.
const MAX_NESTED: usize = 256;
/// Fields of `runtime.m` and of `runtime.g`, alike in all versions: `g0`, and `sched.sp`.
const SYSTEM_GOROUTINE: u64 = 0;
const SAVED_SP: u64 = 56;
/// Bytes of a word.
const WORD: u64 = 8;
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

/// A call of Go by C, as the stack of the goroutine records it.
struct Called<'a> {
    /// What the goroutine was left with when it called C.
    pc: Addr,
    left: Addr,
    /// Where in `runtime.cgocallback` it is.
    place: &'a CodePlace,
}

/// A step that leads to another stack.
pub fn elsewhere(step: RuleStep) -> Option<RuleStep> {
    Some(match step {
        RuleStep::Caller { cfa, interrupted } => RuleStep::Elsewhere { cfa, interrupted },
        other => other,
    })
}

impl Go {
    /// Out of `runtime.asmcgocall`, by what that keeps on the stack of the system while C runs.
    pub(super) fn out_of_c(
        &self,
        host: &dyn Host,
        place: &CodePlace,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let space = host.space();
        let kept = KeptCall::at(space, self.abi.call(self.layout.call), self.abi.sp(frame.regs)?);
        let returned = kept.and_then(|kept| self.returned(space, place, kept.left));
        let Some((pc, cfa, fp)) = returned else {
            return self.to_goroutine(host, frame, caller);
        };
        let fp = fp.or_else(|| self.abi.fp(frame.regs));
        *caller = self.abi.registers(SavedRegisters { pc, sp: Some(cfa), fp, link: None });
        Some(RuleStep::Elsewhere { cfa, interrupted: false })
    }

    /// The return address of `runtime.asmcgocall`, which left its frame at a stack pointer. On machines without a link
    /// register that lies there or, since Go 1.21, behind the frame pointer that was saved there.
    fn returned(
        &self,
        space: &dyn AddressSpace,
        place: &CodePlace,
        sp: Addr,
    ) -> Option<(Addr, Addr, Option<Addr>)> {
        let is_code = |pc: &Addr| self.tables.text.contains(*pc);
        if self.abi.has_link() {
            let delta = place.stack_delta.filter(|delta| *delta > 0)?;
            let (pc, cfa) = self.abi.return_of(space, sp, delta, None)?;
            return is_code(&pc).then_some((pc, cfa, self.abi.kept_fp(space, sp, delta)));
        }
        let first = space.read_addr(sp).ok()?;
        let second = sp.checked_add(WORD)?;
        if is_code(&first) {
            return Some((first, second, None));
        }
        let pc = space.read_addr(second).ok().filter(is_code)?;
        Some((pc, second.checked_add(WORD)?, Some(first)))
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
        let sp = self.abi.sp(frame.regs)?;
        // On the stack of the thread it takes or gives back what runs goroutines.
        let Some(goroutine) = self.goroutines(host).holding(sp) else {
            return self.by_table(host, place, frame, caller);
        };
        let (pc, left) = self.abi.return_of(space, sp, place.stack_delta?, None)?;
        let called = Called { pc, left, place };
        let Some(sp) = self.called_from(host, &goroutine, &called) else {
            return self.without_c(host, &called, frame, caller);
        };
        let (pc, sp) = (frame.pc.addr(), Some(sp));
        let regs = self.abi.registers(SavedRegisters { pc, sp, fp: None, link: None });
        elsewhere(self.by_table(host, place, &RuleFrame { regs: &regs, ..*frame }, caller)?)
    }

    /// Steps over the frames of C, to the frame of Go that called C. After a panic has unwound the call, the runtime reuses
    /// the part of the system's stack that holds the frames of C. They may be overwritten; Go's own traces omit them too.
    fn without_c(
        &self,
        host: &dyn Host,
        called: &Called<'_>,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let saved = SavedRegisters { pc: called.pc, sp: Some(called.left), fp: None, link: None };
        let pc = self.resumes_at(host, saved);
        let place = self.place(host, pc).filter(|place| place.role == Role::SystemStackMark)?;
        let regs = self.abi.registers(saved);
        elsewhere(self.by_table(host, &place, &RuleFrame { pc, regs: &regs, ..*frame }, caller)?)
    }

    /// The stack pointer that a call has on the thread's stack. Each call saves the one of the call before it. `None` if the
    /// runtime has no record of the call any more: a panic that unwinds a call removes it.
    fn called_from(
        &self,
        host: &dyn Host,
        goroutine: &Goroutine,
        called: &Called<'_>,
    ) -> Option<Addr> {
        let space = host.space();
        // Below the first call on a goroutine that belongs to a thread of C, nothing of Go was left.
        let is_first = self
            .place(host, CodeAddr::Return(called.pc))
            .is_some_and(|place| place.role == Role::Outermost);
        let system = space.read_addr(goroutine.machine?.checked_add(SYSTEM_GOROUTINE)?).ok()?;
        let mut call = space.read_addr(system.checked_add(SAVED_SP)?).ok()?;
        for _ in 0..MAX_NESTED {
            self.is_call(host, call, called.place).then_some(())?;
            let before = space.read_addr(call.checked_add(self.abi.call_before)?).ok()?;
            // C was called below the frame of the call before, or by nobody in Go.
            let by = (before > call).then(|| self.kept_below(space, before)).flatten();
            match by.filter(|kept| kept.goroutine == goroutine.at) {
                Some(kept) if kept.left == called.left => return Some(call),
                Some(kept) if kept.left < called.left => call = before,
                None if is_first => return Some(call),
                _ => return None,
            }
        }
        None
    }

    /// Whether a frame of `runtime.cgocallback` begins at a stack pointer: such a frame returns to an entry point from C.
    fn is_call(&self, host: &dyn Host, sp: Addr, place: &CodePlace) -> bool {
        let delta = place.stack_delta;
        let returns = delta.and_then(|delta| self.abi.return_of(host.space(), sp, delta, None));
        let by = returns.and_then(|(pc, _)| self.place(host, CodeAddr::Return(pc)));
        by.is_some_and(|by| by.role.is_from_c())
    }

    /// What was kept by the call of C that began at a stack pointer of the system's stack.
    fn kept_below(&self, space: &dyn AddressSpace, sp: Addr) -> Option<KeptCall> {
        let layout = self.abi.call(self.layout.call);
        let below = sp.get().checked_sub(layout.room)?;
        KeptCall::at(space, layout, Addr::new(below & ALIGNED))
    }

    /// Out of a function that C called, to C.
    pub(super) fn to_c(
        &self,
        host: &dyn Host,
        place: &CodePlace,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let by_race = place.role == Role::FromRace;
        let kept = if by_race { &self.abi.from_race } else { &self.abi.from_c };
        let space = host.space();
        let word = |at: Addr, offset: u64| space.read_addr(at.checked_add(offset)?).ok();
        let sp = self.abi.sp(frame.regs)?;
        let step = match kept.frame_record {
            None => self.by_table(host, place, frame, caller)?,
            Some((fp, pc)) => {
                let (pc, fp) = (word(sp, pc)?, word(sp, fp));
                let cfa = sp.checked_add(place.stack_delta?)?;
                let saved = SavedRegisters { pc, sp: Some(cfa), fp, link: None };
                *caller = self.abi.registers(saved);
                RuleStep::Caller { cfa, interrupted: false }
            }
        };
        let RuleStep::Caller { cfa, .. } = step else { return Some(step) };
        let first = match kept.first {
            KeptBlock::BehindSp(offset) => sp.checked_add(offset),
            KeptBlock::BelowCfa(offset) => cfa.get().checked_sub(offset).map(Addr::new),
        }?;
        for (number, register) in (0_u64..).zip(kept.registers) {
            let at = first.checked_add(number.saturating_mul(WORD))?;
            caller.set(RegisterId(*register), space.read_word(at).ok());
        }
        Some(step)
    }

    /// Steps out of a call of the race detector. While that runs, the stack pointer of Go is in a register that C
    /// preserves.
    pub(super) fn out_of_race(
        &self,
        host: &dyn Host,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        let (sp, link) = self.abi.race;
        let sp = frame.regs.get(sp).map(Addr::new)?;
        let (pc, cfa) = match link {
            Some(link) => (Addr::new(frame.regs.get(link)?), sp),
            None => (host.space().read_addr(sp).ok()?, sp.checked_add(WORD)?),
        };
        self.tables.text.contains(pc).then_some(())?;
        let fp = self.abi.fp(frame.regs);
        *caller = self.abi.registers(SavedRegisters { pc, sp: Some(cfa), fp, link: None });
        Some(RuleStep::Elsewhere { cfa, interrupted: false })
    }
}
