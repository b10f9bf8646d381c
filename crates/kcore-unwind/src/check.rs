//! Which callers are refused: those that cannot be, whatever led to them.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, CodeAddr};

use crate::{
    End, Regs, Trust, Walker,
    learnt::Code,
    reach::never_reaches,
    step::step_by_row,
    walk::{Caller, Here},
};

/// Pairs of a call and the code that it leads to, or does not, that are kept.
const MAX_MISSES: usize = 1 << 16;

/// A step from a frame to its caller.
#[derive(Clone, Copy)]
pub(crate) struct CallerStep<'a> {
    /// The registers of the frame that was called.
    pub callee: &'a Regs,
    /// That frame.
    pub called: &'a Here,
    /// The registers of its caller.
    pub caller: &'a Regs,
}

impl Walker<'_> {
    /// Refuses a caller that cannot be one, and says of the others whether their call leads elsewhere, and what is
    /// known of their code.
    pub(crate) fn check(
        &mut self,
        caller: Caller,
        step: CallerStep<'_>,
    ) -> Result<(Caller, Arc<Code>), End> {
        let (caller, code) = self.accept(caller, step)?;
        let calls_elsewhere = !caller.interrupted && self.calls_elsewhere(&code, step.called);
        Ok((Caller { calls_elsewhere, ..caller }, code))
    }

    /// Refuses a caller that cannot be one: not in code, or neither above the frame that it called nor on another
    /// stack. Says what is known of the caller's code as well.
    fn accept(&mut self, caller: Caller, step: CallerStep<'_>) -> Result<(Caller, Arc<Code>), End> {
        let pc = step.caller.pc();
        if caller.interrupted {
            return Ok((caller, self.code(caller.code_addr(pc))));
        }
        if pc.get() == 0 {
            return Err(self.end_at_zero(step.caller));
        }
        let code = self.code(caller.code_addr(pc));
        if !code.is_code {
            return Err(End::NotCode(pc));
        }
        if code.ends_stack {
            return Err(End::Outermost);
        }
        let (caller, code) = self.with_exact_pc(caller, step.caller, code);
        let sp = self.machine.stack_pointer();
        let (Some(below), Some(above)) = (step.callee.get(sp), step.caller.get(sp)) else {
            return Ok((caller, code));
        };
        let (below, above) = (Addr::new(below), Addr::new(above));
        if self.is_above(above, below, step.called.pc, caller.trust) {
            return Ok((Caller { on_other_stack: false, ..caller }, code));
        }
        let is_known = caller.on_other_stack && self.fallback(&[]).can_return_to(pc);
        let on_other_stack =
            above < below && (is_known || self.leads_elsewhere(caller, step, (above, below)));
        let found = (Caller { on_other_stack, ..caller }, code);
        on_other_stack.then_some(found).ok_or(End::DidNotAdvance(pc))
    }

    /// The caller with these registers and its code, which is where code goes on if no call precedes it: a function
    /// that was entered as if it had been called from there left it, as Go's handler of faults enters
    /// `runtime.sigpanic`.
    /// Where no unwind information leads on from that code, a stack may begin there.
    fn with_exact_pc(
        &mut self,
        caller: Caller,
        regs: &Regs,
        code: Arc<Code>,
    ) -> (Caller, Arc<Code>) {
        if !code.was_put_there {
            return (caller, code);
        }
        let exact = self.code(CodeAddr::Pc(regs.pc()));
        match self.leads_to_a_call(regs, &exact) {
            true => (Caller { was_put_there: true, ..caller }, exact),
            false => (caller, code),
        }
    }

    /// Whether the unwind information of some code leads to where a call returns, or says that nobody called it.
    /// `__start_context` of glibc has some that leads nowhere.
    fn leads_to_a_call(&self, regs: &Regs, code: &Code) -> bool {
        let Some(row) = &code.row else { return false };
        let mut above = *regs;
        let cfi = || self.modules.cfi_at(regs.pc());
        let step = step_by_row(&cfi, row.by_ref(), regs, &mut above, self.space, self.machine);
        let returns = || self.fallback(&[]).can_return_to(above.pc());
        step.is_ok_and(|step| !step.has_caller || returns())
    }

    /// Whether the frame at `pc`, whose caller was found by `trust`, can end at `above` when the one that it
    /// called ends at `below`. Only what called nothing itself takes no stack: it has its return address in a
    /// register still, or, as its code tells, has taken it off the stack to jump there.
    pub(crate) fn is_above(&self, above: Addr, below: Addr, pc: CodeAddr, trust: Trust) -> bool {
        let has_link = self.machine.link_register().is_some();
        let by_code = matches!(trust, Trust::Prologue | Trust::Code);
        let is_leaf = !pc.is_return() && (has_link || by_code);
        above > below || (above == below && is_leaf)
    }

    /// Whether call frame information, or the rule of a runtime, leads from one stack to another, whose stack pointers
    /// are these. A damaged stack leads back as well. What tells them apart: a call or a signal can return to the caller,
    /// and either the two lie in different mappings, or the call leads to the function that was called.
    fn leads_elsewhere(
        &self,
        caller: Caller,
        step: CallerStep<'_>,
        (low, high): (Addr, Addr),
    ) -> bool {
        let at = step.caller.pc();
        matches!(caller.trust, Trust::Cfi | Trust::Runtime)
            && self.fallback(&[]).can_return_to(at)
            && (self.are_apart(low, high) || self.calls(at, step.called))
    }

    /// Whether the call before a return address is known to lead neither to the frame below nor to the one below that,
    /// whose call a frame may hide.
    fn calls_elsewhere(&mut self, code: &Code, called: &Here) -> bool {
        let (Some(target), Some(function)) = (code.called, called.code.covered) else {
            return false;
        };
        if target == function.start || !self.misses(target, function) {
            return false;
        }
        let hidden = called.below.and_then(|below| self.code(below).covered);
        hidden.is_none_or(|hidden| self.misses(target, hidden))
    }

    /// Whether the code at `target` is known not to come to that of `function`; remembered.
    fn misses(&mut self, target: Addr, function: AddrRange) -> bool {
        let (machine, space) = (self.machine, self.space);
        if self.learnt.misses.len() >= MAX_MISSES {
            self.learnt.misses.clear();
        }
        let follow = || never_reaches(target, function, machine, space);
        *self.learnt.misses.entry((target, function)).or_insert_with(follow)
    }

    /// Whether bytes are missing between two addresses, so that one stack cannot hold both.
    fn are_apart(&self, low: Addr, high: Addr) -> bool {
        let len = self.space.slice(low).map_or(0, |bytes| bytes.len() as u64);
        len > 0 && high.offset_from(low).is_none_or(|distance| distance >= len)
    }

    /// Whether the call before `at` leads to a function on the stack, or to the one that this called in turn:
    /// `__morestack` hides the call that led to it, and says that it was called where the function was that
    /// needed more stack.
    fn calls(&self, at: Addr, called: &Here) -> bool {
        let Some(target) = self.call_target(at) else { return false };
        let is_in = |pc: CodeAddr| {
            let function = self.modules.function_before(pc.lookup());
            function.is_some_and(|f| f.start == target && f.contains(pc.lookup()))
        };
        is_in(called.pc) || called.below.is_some_and(is_in)
    }
}
