//! The walk: from one frame to its caller until there is none.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr};
use rustc_hash::FxHashSet;

use crate::{
    Cfi, End, Frame, Machine, Modules, Reading, Regs, Tid, Trust,
    check::CallerStep,
    code_paths::CodePaths,
    fallback::{Fallback, Guess},
    learnt::{Code, Knowledge, Learnt},
    reading::MAX_CODE,
    row::{Row, Rule},
    rule::{Phase, RuleFrame, RuleStep, StepRule},
    step::{stack_fault, step_by_row},
    without_row::Followed,
    zeros::is_zero_page,
};

/// Rows that are kept: enough for the code of a thousand different stacks.
const MAX_ROWS: usize = 1 << 16;
/// Bytes of code that are followed for one stack, at most, in search of what it did to the stack.
/// Functions without unwind information are some hundred bytes long, and few.
const MAX_FOLLOWED: u64 = 2 << 20;

/// Whether a walk goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// To the next frame.
    Continue,
    /// No further.
    Stop,
}

/// Walks stacks. It remembers the rows that it read, so one walker is best used for many threads.
pub struct Walker<'a> {
    pub(crate) space: &'a dyn AddressSpace,
    pub(crate) modules: &'a dyn Modules,
    pub(crate) machine: &'a dyn Machine,
    pub(crate) learnt: Learnt,
    knowledge: Option<&'a Knowledge>,
    rule: Option<&'a dyn StepRule>,
    thread: Option<Tid>,
    /// What was followed for the stack that is walked: so it does not depend on other stacks what is
    /// found.
    pub(crate) followed: Followed,
    /// Whether some row of the stack that is walked is unknown since the command has to end.
    is_halted: bool,
}

/// How the caller of a frame was found, before it is itself stepped from. Its registers stand
/// apart: they are the largest part of a step, and copied as seldom as possible.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) trust: Trust,
    pub(crate) is_guess: bool,
    /// Whether its pc is exact, because it was interrupted and did not call.
    pub(crate) interrupted: bool,
    /// Whether its pc is exact, because no call precedes it: it was put where a call leaves one.
    pub(crate) was_put_there: bool,
    /// Whether it is known to stand on another stack than the frame that it called.
    pub(crate) on_other_stack: bool,
    /// Whether its call is known not to lead to the frame below it.
    pub(crate) calls_elsewhere: bool,
}

/// A frame as the walk has come to it, without its registers.
pub(crate) struct Here {
    pub(crate) pc: CodeAddr,
    trust: Trust,
    is_guess: bool,
    on_other_stack: bool,
    calls_elsewhere: bool,
    /// What the frame that it called ends at, or above; 0 where any stack may follow.
    floor: Addr,
    pub(crate) code: Arc<Code>,
    /// The pc of the frame that it called.
    pub(crate) below: Option<CodeAddr>,
}

impl Here {
    const fn innermost(pc: CodeAddr, trust: Trust, code: Arc<Code>) -> Self {
        Self {
            pc,
            trust,
            is_guess: trust.is_guess(),
            on_other_stack: false,
            calls_elsewhere: false,
            floor: Addr::new(0),
            code,
            below: None,
        }
    }

    /// Its caller at `pc`. `floor` is what it ends at, or above, itself.
    fn caller(&self, caller: Caller, pc: Addr, floor: Addr, code: Arc<Code>) -> Self {
        Self {
            pc: caller.code_addr(pc),
            trust: caller.trust,
            is_guess: self.is_guess || caller.is_guess,
            on_other_stack: caller.on_other_stack,
            calls_elsewhere: caller.calls_elsewhere,
            floor,
            code,
            below: Some(self.pc),
        }
    }
}

/// What is above a frame.
struct Above {
    cfa: Option<Addr>,
    /// What the frame ends at, or above.
    floor: Option<Addr>,
    signal_trampoline: bool,
    /// Whether no call left its return address: it was put there, and is where code goes on.
    was_put_there: bool,
    caller: Result<Caller, End>,
}

impl<'a> Walker<'a> {
    /// A walker over the memory and code of one process.
    pub fn new(
        space: &'a dyn AddressSpace,
        modules: &'a dyn Modules,
        machine: &'a dyn Machine,
    ) -> Self {
        Self {
            space,
            modules,
            machine,
            learnt: Learnt::default(),
            knowledge: None,
            rule: None,
            thread: None,
            followed: Followed::default(),
            is_halted: false,
        }
    }

    /// A walker that begins with what others of the same process have learnt, and leaves what it
    /// learns to those after it.
    pub fn sharing(
        space: &'a dyn AddressSpace,
        modules: &'a dyn Modules,
        machine: &'a dyn Machine,
        knowledge: &'a Knowledge,
    ) -> Self {
        let learnt = knowledge.take();
        Self {
            space,
            modules,
            machine,
            learnt,
            knowledge: Some(knowledge),
            rule: None,
            thread: None,
            followed: Followed::default(),
            is_halted: false,
        }
    }

    /// The same walker, which asks `rule` about code as well.
    #[must_use]
    pub fn with_rule(mut self, rule: Option<&'a dyn StepRule>) -> Self {
        self.rule = rule;
        self
    }

    /// Says whose stack is walked next, which a rule may want to know.
    pub const fn set_thread(&mut self, thread: Option<Tid>) {
        self.thread = thread;
    }

    /// Visits the frames from `regs` outwards, innermost first, at most `limit` of them, each with
    /// the registers that are known in it. Always ends, and says why.
    pub fn walk(
        &mut self,
        regs: &Regs,
        limit: usize,
        visit: &mut dyn FnMut(&Frame, &Regs) -> Flow,
    ) -> End {
        self.walk_from(regs, CodeAddr::Pc(regs.pc()), Trust::Context, limit, visit)
    }

    /// As [`Walker::walk`], from a frame that was found before: its pc says whether it is a return
    /// address.
    pub fn walk_from(
        &mut self,
        regs: &Regs,
        pc: CodeAddr,
        trust: Trust,
        limit: usize,
        visit: &mut dyn FnMut(&Frame, &Regs) -> Flow,
    ) -> End {
        let (mut regs, mut above_regs) = (*regs, *regs);
        self.is_halted = false;
        let mut here = Here::innermost(pc, trust, self.code(pc));
        let mut entered = FxHashSet::default();
        self.followed = Followed::default();
        for _ in 0..limit {
            let above = self.above(&regs, here.pc, &here.code, &mut above_regs);
            if visit(&self.frame(&regs, &here, &above), &regs) == Flow::Stop {
                return End::Stopped;
            }
            let step = CallerStep { callee: &regs, called: &here, caller: &above_regs };
            let checked = above.caller.and_then(|caller| self.check(caller, step));
            let (caller, code) = match checked {
                // To choose a caller takes more rows than its own.
                _ if self.is_halted => return End::Halted(here.pc.addr()),
                Ok(found) => found,
                Err(end) => return end,
            };
            let place = (above_regs.pc(), above_regs.get(self.machine.stack_pointer()));
            if caller.may_lie_below() && !entered.insert(place) {
                return End::DidNotAdvance(above_regs.pc());
            }
            let floor = match above.floor.filter(|_| !caller.may_lie_below()) {
                Some(above) if self.is_above(above, here.floor, here.pc, caller.trust) => above,
                _ if caller.may_lie_below() => Addr::new(0),
                _ => return End::DidNotAdvance(above_regs.pc()),
            };
            if let Some(link) = self.machine.link_register().filter(|_| !caller.interrupted) {
                // Its own call overwrote it.
                above_regs.set(link, None);
            }
            std::mem::swap(&mut regs, &mut above_regs);
            here = here.caller(caller, regs.pc(), floor, code);
        }
        End::Limit(limit)
    }

    fn frame(&self, regs: &Regs, here: &Here, above: &Above) -> Frame {
        let is_exact = above.signal_trampoline || above.was_put_there;
        Frame {
            pc: if is_exact { CodeAddr::Pc(here.pc.addr()) } else { here.pc },
            sp: regs.get(self.machine.stack_pointer()).map(Addr::new),
            cfa: above.cfa,
            frame_pointer: self.machine.frame_pointer_of(regs, above.cfa),
            trust: here.trust,
            guess: here.is_guess,
            signal_trampoline: above.signal_trampoline,
            on_other_stack: here.on_other_stack,
            calls_elsewhere: here.calls_elsewhere,
        }
    }

    /// Finds what is above the frame at `regs`; `caller` becomes the registers of the caller, if
    /// there is one.
    fn above(&mut self, regs: &Regs, pc: CodeAddr, code: &Code, caller: &mut Regs) -> Above {
        if self.is_halted {
            return Above::none(End::Halted(pc.addr()));
        }
        if let Some(above) = self.above_rule(Phase::BeforeCfi, regs, pc, caller) {
            return above;
        }
        if code.is_first_on_stack {
            return Above::none(End::Outermost);
        }
        if code.is_restorer {
            return self.above_restorer(regs, caller);
        }
        if let Some(row) = &code.row {
            let above = self.above_row(regs, row, pc.lookup(), caller);
            let above = self.held_against_code(above, regs, pc, caller);
            return self.ended_at_entry(above, regs, pc, caller);
        }
        if let Some(above) = self.above_rule(Phase::AfterCfi, regs, pc, caller) {
            return above;
        }
        if !pc.is_return() && !code.is_code {
            return self.above_wild_call(regs, caller);
        }
        self.above_guess(regs, pc, caller)
    }

    /// The same, but where code that was made at run time was interrupted: its unwind information often tells of calls
    /// alone, as Cranelift's, which leaves out how a function ends.
    fn held_against_code(
        &mut self,
        above: Above,
        regs: &Regs,
        pc: CodeAddr,
        caller: &mut Regs,
    ) -> Above {
        let may_be_wrong = above.caller.is_ok() && !self.modules.is_in_module(pc.lookup());
        let Some(cfa) = above.cfa.filter(|_| may_be_wrong) else { return above };
        match self.below_by_code(regs, pc, cfa) {
            Some(exact) => Above::by_guess(exact, caller),
            None => above,
        }
    }

    /// The same, but that nothing calls the function where the program begins, whatever its unwind information says.
    fn ended_at_entry(&self, above: Above, regs: &Regs, pc: CodeAddr, caller: &Regs) -> Above {
        let leads_on =
            above.caller.is_ok() && caller.pc() != regs.pc() && self.modules.is_code(caller.pc());
        // Nearly all frames lead on: symbols need not be read for them.
        match leads_on || !self.modules.is_entry(pc.lookup()) {
            true => above,
            false => Above { cfa: above.cfa, ..Above::none(End::Outermost) },
        }
    }

    fn above_rule(
        &mut self,
        phase: Phase,
        regs: &Regs,
        pc: CodeAddr,
        caller: &mut Regs,
    ) -> Option<Above> {
        let frame = RuleFrame { thread: self.thread, pc, regs };
        Some(match self.rule?.step(phase, &frame, caller)? {
            RuleStep::Outermost { cfa } => Above { cfa, ..Above::none(End::Outermost) },
            RuleStep::Guess { cfa } => Above::by_guess(Guess::by_rule(*caller, cfa), caller),
            RuleStep::Elsewhere { cfa, interrupted } => {
                let sure = Caller::sure(Trust::Runtime, interrupted);
                let found = Ok(Caller { on_other_stack: true, ..sure });
                Above { cfa: Some(cfa), floor: Some(cfa), ..Above::of(found) }
            }
            RuleStep::Caller { cfa, interrupted } => {
                let may_skip = !interrupted && self.code(pc).row.is_none();
                let other = may_skip.then(|| self.instead_of_rule(regs, pc, caller, cfa)).flatten();
                if let Some(other) = other {
                    return Some(Above::by_guess(other, caller));
                }
                let found = Ok(Caller::sure(Trust::Runtime, interrupted));
                let cfa = Some(cfa);
                Above { cfa, floor: cfa, ..Above::of(found) }
            }
        })
    }

    fn above_row(&self, regs: &Regs, row: &Row, lookup: Addr, caller: &mut Regs) -> Above {
        let cfi = || self.modules.cfi_at(lookup);
        let step = step_by_row(&cfi, row.by_ref(), regs, caller, self.space, self.machine);
        let trust = if row.is_signal { Trust::Signal } else { Trust::Cfi };
        if let Err(End::UnknownRegister { register, .. }) = step
            && (register == self.machine.stack_pointer().0 || self.machine.links_frames())
        {
            return self.above_frame_record(regs, row, step.err(), caller);
        }
        let cfa = step.as_ref().ok().map(|step| step.cfa);
        let interrupted = row.is_signal;
        let found = step.and_then(|step| step.has_caller.then_some(()).ok_or(End::Outermost));
        let found = found.map(|()| Caller::sure(trust, interrupted));
        Above { cfa, floor: cfa, signal_trampoline: row.is_signal, ..Above::of(found) }
    }

    /// Where frame pointers led to the frame, its stack pointer may be unknown, and with it what
    /// a row is relative to: then frame pointers lead on. `end` is why the row did not.
    fn above_frame_record(
        &self,
        regs: &Regs,
        row: &Row,
        end: Option<End>,
        caller: &mut Regs,
    ) -> Above {
        let is_outermost = row.rules.contains(&(row.return_address, Rule::Undefined))
            || regs.get(self.machine.frame_pointer()) == Some(0);
        if is_outermost {
            return Above::none(End::Outermost);
        }
        match self.fallback(&[]).by_frame_pointer(regs) {
            Some(guess) if self.machine.links_frames() || keeps_frame_record(row, self.machine) => {
                let trust = Trust::FramePointer;
                Above::by_guess(Guess { trust, ..guess.sure() }, caller)
            }
            Some(guess) => Above::by_guess(guess, caller),
            None => Above::none(end.unwrap_or(End::NoRule(regs.pc()))),
        }
    }

    fn above_restorer(&self, regs: &Regs, caller: &mut Regs) -> Above {
        let found = self.machine.interrupted_regs(regs, self.space).map(|regs| {
            *caller = regs;
            Caller::sure(Trust::Signal, true)
        });
        let found = found.ok_or(End::NoRule(regs.pc()));
        Above { signal_trampoline: true, ..Above::of(found) }
    }

    /// A call to where there is no code left its return address, and nothing else ran.
    fn above_wild_call(&self, regs: &Regs, caller: &mut Regs) -> Above {
        let found = self.machine.caller_at_entry(regs, self.space).filter(|(caller, _)| {
            let is_code = self.modules.is_code(caller.pc());
            let follows_call = || self.machine.follows_call(caller.pc(), self.space);
            is_code && (self.lacks_code(caller) || follows_call())
        });
        let cfa = found.as_ref().map(|(_, cfa)| *cfa);
        let is_guess = found.as_ref().is_some_and(|(caller, _)| {
            self.lacks_code(caller) || self.machine.may_have_returned(regs, self.space)
        });
        let found = found.map(|(regs, _)| {
            *caller = regs;
            Caller { is_guess, ..Caller::sure(Trust::NullCall, false) }
        });
        let found = found.ok_or(End::WildPc(regs.pc()));
        Above { cfa, floor: cfa, ..Above::of(found) }
    }

    /// Whether nothing tells what stands before the pc, in a core whose files are elsewhere.
    fn lacks_code(&self, regs: &Regs) -> bool {
        self.space.slice(regs.pc().wrapping_offset(-1)).is_err()
    }

    /// The caller by an exception table, which is as good as call frame information.
    fn above_table(&self, regs: &Regs, pc: CodeAddr, caller: &mut Regs) -> Option<Above> {
        let table = self.modules.exception_table(pc.lookup())?;
        let (above, cfa) =
            self.machine.caller_by_table(table, (regs, pc.is_return()), self.space)?;
        self.fallback(&[]).can_return_to(above.pc()).then(|| {
            *caller = above;
            let found = Ok(Caller::sure(Trust::Cfi, false));
            Above { cfa: Some(cfa), floor: Some(cfa), ..Above::of(found) }
        })
    }

    fn above_guess(&mut self, regs: &Regs, pc: CodeAddr, caller: &mut Regs) -> Above {
        if let Some(above) = self.above_table(regs, pc, caller) {
            return above;
        }
        if self.machine.grows_upwards() {
            return Above::none(End::NoRule(regs.pc()));
        }
        if pc.is_return() && self.machine.ends_chain(regs, self.space) {
            return Above::none(End::Outermost);
        }
        let readings = self.readings(pc);
        let fallback = self.fallback(&readings);
        let was_put_there = pc.is_return() && fallback.was_put_there(regs.pc());
        if was_put_there || self.modules.is_entry(pc.lookup()) {
            return Above { was_put_there, ..Above::none(End::Outermost) };
        }
        let on_another_stack = fallback.is_on_another_stack();
        let exact = match on_another_stack {
            true => fallback.on_another_stack(regs),
            false => self.caller_by_code(regs, pc, &readings),
        };
        if let Some(exact) = exact.or_else(|| fallback.by_link(regs, pc)) {
            return Above::by_guess(exact, caller);
        }
        if let Some(above) = self.above_rule(Phase::AfterCode, regs, pc, caller) {
            return above;
        }
        match on_another_stack {
            true => Above::none(self.why_no_guess(regs, pc)),
            false => match self.best_caller(regs, pc, &readings) {
                Ok(guess) => Above::by_guess(guess, caller),
                Err(end) => Above::none(end),
            },
        }
    }

    pub(crate) fn fallback<'r>(&self, readings: &'r [Reading]) -> Fallback<'r>
    where
        'a: 'r,
    {
        let (space, modules, machine) = (self.space, self.modules, self.machine);
        Fallback { space, modules, machine, readings, paths: &CodePaths::NONE }
    }

    /// What the code at `pc` tells, remembered. Beyond [`MAX_FOLLOWED`] it tells nothing.
    fn readings(&mut self, pc: CodeAddr) -> Arc<[Reading]> {
        let Some((function, len)) = self.code_before(pc) else { return Arc::default() };
        if self.followed.places.insert(pc) {
            self.followed.bytes = self.followed.bytes.saturating_add(len);
        }
        if self.followed.bytes > MAX_FOLLOWED {
            return Arc::default();
        }
        if self.learnt.readings.len() >= MAX_ROWS {
            self.learnt.readings.clear();
        }
        let read = || self.machine.read_code(pc.addr(), function, self.space).into();
        self.learnt.readings.entry(pc).or_insert_with(read).clone()
    }

    /// The function before `pc`, and the bytes of its code up to there.
    fn code_before(&self, pc: CodeAddr) -> Option<(AddrRange, u64)> {
        let function = self.modules.function_before(pc.lookup())?;
        let len = pc.addr().offset_from(function.start).filter(|len| *len <= MAX_CODE)?;
        Some((function, len))
    }

    pub(crate) fn why_no_guess(&self, regs: &Regs, pc: CodeAddr) -> End {
        let sp = regs.get(self.machine.stack_pointer()).map(Addr::new);
        let zeros = || sp.filter(|sp| is_zero_page(self.space, *sp)).map(End::Zeros);
        let fault = sp.and_then(|sp| stack_fault(self.space, sp)).map(End::Fault);
        fault.or_else(zeros).unwrap_or(End::NoRule(pc.addr()))
    }

    /// Why there is no caller where its pc was read as 0. That ends a stack, unless nothing but zeros
    /// was read. `caller` has the stack pointer right behind what a call pushes.
    pub(crate) fn end_at_zero(&self, caller: &Regs) -> End {
        let word = self.space.target().register_size() as u64;
        let sp = caller.get(self.machine.stack_pointer());
        let pushed = sp.and_then(|sp| sp.checked_sub(word)).map(Addr::new);
        let missing = pushed.filter(|at| is_zero_page(self.space, *at));
        missing.map_or(End::Outermost, End::Zeros)
    }

    /// What is known of the code at `pc`, remembered.
    pub(crate) fn code(&mut self, pc: CodeAddr) -> Arc<Code> {
        if let Some(code) = self.learnt.rows.get(&pc) {
            return Arc::clone(code);
        }
        let code = Arc::new(self.find_code(pc));
        if self.is_halted {
            return code;
        }
        if self.learnt.rows.len() >= MAX_ROWS {
            self.learnt.rows.clear();
        }
        self.learnt.rows.insert(pc, Arc::clone(&code));
        code
    }

    /// Whether a row says anything of a caller. What is registered of code that was made at run time may be there for its
    /// personality alone, which takes exceptions, and describe no frame: LuaJIT's has no rule but for the CFA
    /// (`lj_err.c`, `err_frame_jit_template`). That nothing is said of the return address does not make it the outermost
    /// frame.
    fn tells_of_caller(&self, row: &Row, lookup: Addr) -> bool {
        self.machine.link_register().is_some()
            || self.modules.is_in_module(lookup)
            || row.rules.iter().any(|(register, _)| *register == row.return_address)
    }

    fn find_code(&mut self, pc: CodeAddr) -> Code {
        let is_code = self.modules.is_code(pc.addr()) || self.modules.is_code(pc.lookup());
        let cfi = self.modules.cfi_at(pc.lookup());
        let row = cfi.and_then(|cfi| cfi.row(pc.lookup(), &mut self.learnt.context));
        let row = row.filter(|row| self.tells_of_caller(row, pc.lookup()));
        self.is_halted |= row.is_none() && cfi.is_some_and(Cfi::is_partial);
        let covered = cfi.zip(row.as_ref()).map(|(cfi, row)| row.covered.at(cfi.bias()));
        let known_signal = row.as_ref().is_some_and(|row| row.is_signal);
        let is_trusted = known_signal && self.machine.trusts_signal_rows();
        let is_restorer =
            is_code && !is_trusted && self.machine.is_signal_restorer(pc.addr(), self.space);
        let was_put_there = pc.is_return()
            && !known_signal
            && !is_restorer
            && self.fallback(&[]).was_put_there(pc.addr());
        let returns = pc.is_return() && is_code && !known_signal && !is_restorer && !was_put_there;
        let called = returns.then(|| self.machine.called_before(pc.addr(), self.space)).flatten();
        let ends_stack = is_code
            && row.is_none()
            && self.machine.is_end_of_context(pc.addr(), self.space)
            && !self.machine.follows_call(pc.addr(), self.space);
        let is_first_on_stack = pc.is_return() && self.modules.is_first_on_stack(pc.lookup());
        Code {
            row,
            is_code,
            is_restorer,
            covered,
            called,
            was_put_there,
            ends_stack,
            is_first_on_stack,
        }
    }
}

impl Drop for Walker<'_> {
    fn drop(&mut self) {
        if let Some(knowledge) = self.knowledge {
            knowledge.keep(std::mem::take(&mut self.learnt));
        }
    }
}

impl Above {
    const fn of(caller: Result<Caller, End>) -> Self {
        Self { cfa: None, floor: None, signal_trampoline: false, was_put_there: false, caller }
    }

    const fn none(end: End) -> Self {
        Self::of(Err(end))
    }

    fn by_guess(guess: Guess, caller: &mut Regs) -> Self {
        let (cfa, floor) = (guess.cfa, Some(guess.floor));
        Self { cfa, floor, ..Self::of(Ok(guess.take(caller))) }
    }
}

impl Guess {
    /// What a rule could not prove.
    pub(crate) const fn by_rule(regs: Regs, cfa: Addr) -> Self {
        Self {
            regs,
            cfa: Some(cfa),
            floor: cfa,
            trust: Trust::Runtime,
            is_guess: true,
            begins: false,
        }
    }

    /// Leaves the registers of the caller in `caller`.
    fn take(self, caller: &mut Regs) -> Caller {
        *caller = self.regs;
        let (trust, is_guess) = (self.trust, self.is_guess);
        Caller { trust, is_guess, ..Caller::sure(trust, self.begins) }
    }
}

/// Whether unwind information tells that a function keeps a frame record: it saved the frame pointer right below the
/// return address.
fn keeps_frame_record(row: &Row, machine: &dyn Machine) -> bool {
    let saved = |wanted| {
        row.rules.iter().find_map(|(register, rule)| match rule {
            Rule::Offset(offset) if *register == wanted => Some(*offset),
            _ => None,
        })
    };
    let (record, link) = (saved(machine.frame_pointer()), saved(row.return_address));
    record.zip(link).is_some_and(|(record, link)| record.checked_add(8) == Some(link))
}

impl Caller {
    /// A caller that is no guess.
    const fn sure(trust: Trust, interrupted: bool) -> Self {
        Self {
            trust,
            is_guess: false,
            interrupted,
            was_put_there: false,
            on_other_stack: false,
            calls_elsewhere: false,
        }
    }

    /// Whether it may lie below the frame that it called: what was interrupted may have been so anywhere, on
    /// another stack too. But a walk comes to no place twice.
    const fn may_lie_below(self) -> bool {
        self.interrupted || self.on_other_stack
    }

    /// The kind of its pc: exact where it did not call.
    pub(crate) const fn code_addr(self, pc: Addr) -> CodeAddr {
        let is_exact = self.interrupted || self.was_put_there;
        if is_exact { CodeAddr::Pc(pc) } else { CodeAddr::Return(pc) }
    }
}
