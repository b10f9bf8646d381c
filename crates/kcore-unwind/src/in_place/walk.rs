//! The walk from one frame to its caller until there is none, in room that was set aside.

use kcore_mem::{Addr, AddressSpace, CodeAddr};

use super::{Room, Tables};
use crate::{
    End, Frame, Regs, Trust,
    code_paths::{CodePaths, FrameState},
    follow::{Outcome, Question},
    row::RowRef,
    step::{Step, step_by_row},
};

/// A walk. The registers of the frame that it has come to stand in its room.
pub(super) struct Walk<'a> {
    pub tables: &'a Tables,
    pub space: &'a dyn AddressSpace,
    pub room: &'a mut Room,
}

/// What is above a frame: the registers of its caller stand in the room.
struct Above {
    cfa: Option<Addr>,
    trust: Trust,
    /// Whether there is a caller: the outermost frame has a rule, too.
    has_caller: bool,
    /// Whether the caller was interrupted and did not call: its pc is exact, and it may stand on any stack.
    interrupted: bool,
    /// Whether the frame's own pc is exact, though it was returned to: no call left it there.
    exact: bool,
}

impl Walk<'_> {
    /// Walks from the registers in the room on.
    pub fn run(&mut self) -> End {
        let mut pc = CodeAddr::Pc(self.room.regs.pc());
        let mut trust = Trust::Context;
        let mut returns: usize = 0;
        let (mut is_guess, mut on_other_stack) = (false, false);
        loop {
            let above = self.above(pc);
            let cfa = above.as_ref().ok().and_then(|above| above.cfa);
            let interrupted = above.as_ref().is_ok_and(|above| above.interrupted);
            let exact = above.as_ref().is_ok_and(|above| above.exact);
            let shown = if exact { CodeAddr::Pc(pc.addr()) } else { pc };
            let frame = self.frame(shown, cfa, trust, interrupted);
            if !self.room.push(Frame { guess: is_guess, on_other_stack, ..frame }) {
                return End::Limit(self.room.frames().len());
            }
            let found = match above {
                Ok(found) => found,
                Err(end) => return end,
            };
            on_other_stack = match self.check(&found) {
                Ok(is_other) => is_other,
                Err(end) => return end,
            };
            if interrupted || on_other_stack {
                returns = returns.saturating_add(1);
            }
            if returns > MAX_RETURNS {
                return End::DidNotAdvance(self.room.caller.pc());
            }
            self.go_up(interrupted);
            let at = self.room.regs.pc();
            pc = if interrupted { CodeAddr::Pc(at) } else { CodeAddr::Return(at) };
            trust = found.trust;
            is_guess |= trust.is_guess();
        }
    }

    fn frame(&self, pc: CodeAddr, cfa: Option<Addr>, trust: Trust, trampoline: bool) -> Frame {
        let machine = &self.tables.machine;
        Frame {
            pc: if trampoline { CodeAddr::Pc(pc.addr()) } else { pc },
            sp: self.room.regs.get(machine.stack_pointer()).map(Addr::new),
            cfa,
            frame_pointer: machine.frame_pointer_of(&self.room.regs, cfa),
            trust,
            guess: false,
            signal_trampoline: trampoline,
            on_other_stack: false,
            calls_elsewhere: false,
        }
    }

    /// Makes the caller the frame that stands in the room.
    fn go_up(&mut self, interrupted: bool) {
        if let Some(link) = self.tables.machine.link_register().filter(|_| !interrupted) {
            // Its own call overwrote it.
            self.room.caller.set(link, None);
        }
        std::mem::swap(&mut self.room.regs, &mut self.room.caller);
    }

    /// Finds the caller of the frame in the room.
    fn above(&mut self, pc: CodeAddr) -> Result<Above, End> {
        let at = pc.lookup();
        if let Some(row) = self.tables.ready_row(pc) {
            let (_, regs, caller) = self.room.applied();
            let row = row.by_ref();
            let step = apply(self.tables, self.space, at, row, regs, caller);
            return above_row(step, row.is_signal);
        }
        if self.read_exact_row(pc).is_some()
            && let Ok(above) = self.above_read_row(pc.addr())
            && (!above.has_caller || self.returns_to_caller())
        {
            return Ok(Above { exact: true, ..above });
        }
        if !self.is_restorer_behind(pc) && self.room.read_row(self.tables, at).is_some() {
            return self.above_read_row(at);
        }
        self.above_without_row(pc)
    }

    /// Applies the row for the code at `at`, which was read into the room.
    fn above_read_row(&mut self, at: Addr) -> Result<Above, End> {
        let (row, regs, caller) = self.room.applied();
        let step = apply(self.tables, self.space, at, row, regs, caller);
        above_row(step, self.room.row().is_signal)
    }

    /// Whether a call can return to the caller in the room. `__start_context` of glibc has unwind information that
    /// leads nowhere.
    fn returns_to_caller(&self) -> bool {
        let at = self.room.caller.pc();
        self.tables.is_code(at) && self.tables.machine.follows_call(at, self.space)
    }

    /// Reads the row for the code where a return address is that no call left, if it has one: a function was
    /// entered as if it had been called from there, so the code before it tells nothing.
    fn read_exact_row(&mut self, pc: CodeAddr) -> Option<()> {
        let machine = &self.tables.machine;
        if !self.was_put_there(pc) || machine.is_signal_restorer(pc.addr(), self.space) {
            return None;
        }
        let is_signal =
            self.room.read_row(self.tables, pc.lookup()).is_some() && self.room.row().is_signal;
        self.room.read_row(self.tables, pc.addr()).filter(|()| !is_signal)
    }

    /// Whether a signal's handler returns to `pc`, and the function that ends right before it has unwind
    /// information: nothing called from there.
    fn is_restorer_behind(&mut self, pc: CodeAddr) -> bool {
        pc.is_return()
            && self.tables.is_code(pc.addr())
            && self.room.read_row(self.tables, pc.addr()).is_none()
            && self.tables.machine.is_signal_restorer(pc.addr(), self.space)
    }

    fn above_without_row(&mut self, pc: CodeAddr) -> Result<Above, End> {
        let machine = &self.tables.machine;
        let is_code = self.tables.is_code(pc.addr()) || self.tables.is_code(pc.lookup());
        if is_code && machine.is_signal_restorer(pc.addr(), self.space) {
            let regs = machine.interrupted_regs(&self.room.regs, self.space);
            self.room.caller = regs.ok_or(End::NoRule(pc.addr()))?;
            return Ok(Above {
                cfa: None,
                trust: Trust::Signal,
                has_caller: true,
                interrupted: true,
                exact: false,
            });
        }
        if !is_code {
            return self.above_wild_call(pc);
        }
        if self.was_put_there(pc) {
            let trust = Trust::Cfi;
            return Ok(Above {
                cfa: None,
                trust,
                has_caller: false,
                interrupted: false,
                exact: true,
            });
        }
        if let Some(above) = self.above_by_code(pc).or_else(|| self.above_leaf(pc)) {
            return Ok(above);
        }
        let machine = &self.tables.machine;
        let found = machine.caller_by_frame_pointer(&self.room.regs, self.space);
        let (regs, cfa) = found.ok_or(End::NoRule(pc.addr()))?;
        self.room.caller = regs.with_pc(machine.strip_code(regs.pc()));
        if !self.tables.is_code(self.room.caller.pc()) {
            return Err(End::NoRule(pc.addr()));
        }
        Ok(Above {
            cfa,
            trust: Trust::UncheckedFramePointer,
            has_caller: true,
            interrupted: false,
            exact: false,
        })
    }

    /// The caller by the paths from the pc to the return, where all lead to one.
    fn above_by_code(&mut self, pc: CodeAddr) -> Option<Above> {
        if self.room.follower.spent() > MAX_INSTRUCTIONS {
            return None;
        }
        let question = self.question();
        let to_return = self.room.follower.paths_to_return(pc.addr(), pc.is_return(), question);
        let paths = CodePaths { to_return, ..CodePaths::NONE };
        let found =
            FrameState { regs: &self.room.regs, machine: question.machine, space: self.space };
        let (caller, cfa) = paths.exact(found)?;
        self.by_code(&caller, cfa)
    }

    fn question<'q>(&self) -> Question<'q>
    where
        Self: 'q,
    {
        Question { machine: self.tables.machine.as_ref(), space: self.space, function: None }
    }

    /// The caller that the code tells, if a call may return there, and it lies above.
    fn by_code(&mut self, caller: &Regs, cfa: Addr) -> Option<Above> {
        let machine = &self.tables.machine;
        let sp = self.room.regs.get(machine.stack_pointer())?;
        let takes_none = machine.link_register().is_some();
        let is_above = cfa.get() > sp || (takes_none && cfa.get() == sp);
        let pc = caller.pc();
        let returns = pc.get() == 0
            || (self.tables.is_code(pc)
                && (machine.follows_call(pc, self.space)
                    || machine.is_signal_restorer(pc, self.space)));
        if !is_above || !returns {
            return None;
        }
        self.room.caller = *caller;
        let trust = Trust::Code;
        Some(Above { cfa: Some(cfa), trust, has_caller: true, interrupted: false, exact: false })
    }

    /// Whether a return address in code of a module can be read to be none that a call left: the stack of a
    /// coroutine begins so, `__start_context` of glibc.
    fn was_put_there(&self, pc: CodeAddr) -> bool {
        let at = pc.addr();
        let before = at.wrapping_offset(-LONGEST_CALL);
        pc.is_return()
            && self.tables.cfi_at(at).is_some()
            && self.space.read_register(before).is_ok()
            && !self.tables.machine.follows_call(at, self.space)
    }

    /// The caller of a function that has called nothing: its return address lies where the call left it, if the code
    /// from where that call leads to the pc says so.
    fn above_leaf(&mut self, pc: CodeAddr) -> Option<Above> {
        let machine = &self.tables.machine;
        let (caller, cfa) = machine.caller_at_entry(&self.room.regs, self.space)?;
        let caller = caller.with_pc(machine.strip_code(caller.pc()));
        if pc.is_return() || !self.tables.is_code(caller.pc()) {
            return None;
        }
        let target = machine.called_before(caller.pc(), self.space)?;
        let inside = pc.addr().get().checked_sub(target.get())?;
        if inside >= LONGEST_LEAF || self.room.read_row(self.tables, target).is_some() {
            return None;
        }
        let question = self.question();
        let paths = self.room.follower.paths_from_start(target, pc.addr(), question);
        let by_code =
            |outcome: &Outcome| outcome.caller(&self.room.regs, question.machine, self.space);
        let (found, found_cfa) = paths.only().and_then(by_code)?;
        if (found.pc(), found_cfa) != (caller.pc(), cfa) {
            return None;
        }
        self.by_code(&found, cfa)
    }

    /// A call to where there is no code pushed its return address, and nothing else ran. Code that was
    /// mapped after the tables were made looks the same, but nothing tells how it called.
    fn above_wild_call(&mut self, pc: CodeAddr) -> Result<Above, End> {
        let machine = &self.tables.machine;
        let found = machine.caller_at_entry(&self.room.regs, self.space).filter(|(caller, _)| {
            !pc.is_return()
                && self.tables.is_code(caller.pc())
                && machine.follows_call(caller.pc(), self.space)
        });
        let (regs, cfa) = found.ok_or(End::WildPc(pc.addr()))?;
        self.room.caller = regs;
        let trust = Trust::NullCall;
        Ok(Above { cfa: Some(cfa), trust, has_caller: true, interrupted: false, exact: false })
    }

    /// Refuses a caller that cannot be one: not in code, or neither above the frame that it called nor on another
    /// stack, which it says.
    fn check(&self, found: &Above) -> Result<bool, End> {
        let (callee, caller) = (&self.room.regs, &self.room.caller);
        let pc = caller.pc();
        if !found.has_caller {
            return Err(End::Outermost);
        }
        if found.interrupted {
            return Ok(false);
        }
        if pc.get() == 0 {
            return Err(End::Outermost);
        }
        if !self.tables.is_code(pc) {
            return Err(End::NotCode(pc));
        }
        let sp = self.tables.machine.stack_pointer();
        let (Some(below), Some(above)) = (callee.get(sp), caller.get(sp)) else { return Ok(false) };
        if above > below || self.is_leaf(above == below) {
            return Ok(false);
        }
        let is_other = above < below && found.trust == Trust::Cfi && self.leads_elsewhere(pc);
        is_other.then_some(true).ok_or(End::DidNotAdvance(pc))
    }

    /// Whether unwind information that leads back leads to another stack: a signal's handler returns there, or the
    /// call leads to the function of this frame, or of the one that this called. Which mappings stacks lie in is
    /// not known here.
    fn leads_elsewhere(&self, at: Addr) -> bool {
        let machine = &self.tables.machine;
        if machine.is_signal_restorer(at, self.space) {
            return true;
        }
        let Some(target) = machine.called_before(at, self.space) else { return false };
        let target = machine.jump_at(target, self.space).unwrap_or(target);
        let is_in = |frame: &Frame| {
            let inside = frame.pc.lookup().offset_from(target);
            inside.is_some_and(|len| len <= MAX_FUNCTION)
        };
        self.room.frames().iter().rev().take(2).any(is_in)
    }

    /// Only what called nothing itself, and has its return address in a register still, takes no stack.
    fn is_leaf(&self, takes_none: bool) -> bool {
        takes_none
            && self.tables.machine.link_register().is_some()
            && self.room.frames().last().is_some_and(|frame| !frame.pc.is_return())
    }
}

/// How often a walk may come to another stack, at most, by signals that interrupted handlers and by code that changes
/// stacks: more is a circle.
const MAX_RETURNS: usize = 64;
/// Bytes from the start of a function to a place in it, at most, where only its start is known.
const MAX_FUNCTION: u64 = 64 << 10;
/// Instructions that are followed in one walk, at most, before the frame pointer alone is asked: some milliseconds.
const MAX_INSTRUCTIONS: usize = 1 << 16;
/// Bytes of a call, at most, on any machine.
const LONGEST_CALL: i64 = 8;
/// Bytes from the start of a function without unwind information to a place in it, at most.
const LONGEST_LEAF: u64 = 4096;

fn apply(
    tables: &Tables,
    space: &dyn AddressSpace,
    at: Addr,
    row: RowRef<'_>,
    regs: &Regs,
    caller: &mut Regs,
) -> Result<Step, End> {
    step_by_row(&|| tables.cfi_at(at), row, regs, caller, space, tables.machine.as_ref())
}

fn above_row(step: Result<Step, End>, is_signal: bool) -> Result<Above, End> {
    let step = step?;
    let trust = if is_signal { Trust::Signal } else { Trust::Cfi };
    let has_caller = step.has_caller;
    Ok(Above { cfa: Some(step.cfa), trust, has_caller, interrupted: is_signal, exact: false })
}
