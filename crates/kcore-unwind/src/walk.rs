//! The walk: from one frame to its caller until there is none.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, CodeAddr};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    End, Frame, Machine, Modules, Reading, Regs, Trust,
    fallback::{Fallback, Guess},
    reading::MAX_CODE,
    row::{Context, Row},
    step::{stack_fault, step_by_row},
};

/// Rows that are kept: enough for the code of a thousand different stacks.
const MAX_ROWS: usize = 1 << 16;
/// Bytes of code that a walker follows, at most, in search of what it did to the stack. Functions
/// without unwind information are some hundred bytes long, and few.
const MAX_FOLLOWED: u64 = 16 << 20;

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
    space: &'a dyn AddressSpace,
    modules: &'a dyn Modules,
    machine: &'a dyn Machine,
    context: Context,
    rows: FxHashMap<CodeAddr, Code>,
    readings: FxHashMap<CodeAddr, Arc<[Reading]>>,
    followed: u64,
}

/// What is known of the code at one pc.
#[derive(Clone, Default)]
struct Code {
    row: Option<Arc<Row>>,
    is_code: bool,
    /// A signal restorer that only its bytes give away.
    is_restorer: bool,
}

/// The caller of a frame, before it is itself stepped from.
struct Caller {
    regs: Regs,
    trust: Trust,
    /// Whether its pc is exact, because it was interrupted and did not call.
    interrupted: bool,
}

/// What is above a frame.
struct Above {
    cfa: Option<Addr>,
    signal_trampoline: bool,
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
            context: Context::new(),
            rows: FxHashMap::default(),
            readings: FxHashMap::default(),
            followed: 0,
        }
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
        let (mut regs, mut pc, mut trust) = (*regs, pc, trust);
        let mut interrupted = FxHashSet::default();
        for _ in 0..limit {
            let above = self.above(&regs, pc);
            let frame = Frame {
                pc: if above.signal_trampoline { CodeAddr::Pc(pc.addr()) } else { pc },
                sp: regs.get(self.machine.stack_pointer()).map(Addr::new),
                cfa: above.cfa,
                trust,
                signal_trampoline: above.signal_trampoline,
            };
            if visit(&frame, &regs) == Flow::Stop {
                return End::Stopped;
            }
            match above.caller.and_then(|caller| self.check(&regs, pc, caller)) {
                Ok(caller) => {
                    let place = (caller.regs.pc(), caller.regs.get(self.machine.stack_pointer()));
                    if caller.interrupted && !interrupted.insert(place) {
                        return End::DidNotAdvance(caller.regs.pc());
                    }
                    regs = caller.regs;
                    trust = caller.trust;
                    pc = code_addr(&caller);
                }
                Err(end) => return end,
            }
        }
        End::Limit(limit)
    }

    /// Finds what is above the frame at `regs`.
    fn above(&mut self, regs: &Regs, pc: CodeAddr) -> Above {
        let code = self.code(pc);
        if code.is_restorer {
            return self.above_restorer(regs);
        }
        if let Some(row) = &code.row {
            return self.above_row(regs, row, pc.lookup());
        }
        if !pc.is_return() && !code.is_code {
            return self.above_wild_call(regs);
        }
        self.above_guess(regs, pc)
    }

    fn above_row(&self, regs: &Regs, row: &Row, lookup: Addr) -> Above {
        let step = match self.modules.cfi_at(lookup) {
            Some(cfi) => step_by_row(cfi, row, regs, self.space, self.machine),
            None => Err(End::NoRule(regs.pc())),
        };
        let trust = if row.is_signal { Trust::Signal } else { Trust::Cfi };
        if let Err(End::UnknownRegister { register, .. }) = step
            && register == self.machine.stack_pointer().0
        {
            return self.above_frame_record(regs, step.err());
        }
        let cfa = step.as_ref().ok().map(|step| step.cfa);
        let interrupted = row.is_signal;
        let caller = step.and_then(|step| step.caller.ok_or(End::Outermost));
        let caller = caller.map(|regs| Caller { regs, trust, interrupted });
        Above { cfa, signal_trampoline: row.is_signal, caller }
    }

    /// Where frame pointers led to the frame, its stack pointer may be unknown, and with it what
    /// a row is relative to: then frame pointers lead on. `end` is why the row did not.
    fn above_frame_record(&self, regs: &Regs, end: Option<End>) -> Above {
        let caller = self.fallback(&[]).by_frame_pointer(regs).map(Guess::into_caller);
        let caller = caller.ok_or(end.unwrap_or(End::NoRule(regs.pc())));
        Above { cfa: None, signal_trampoline: false, caller }
    }

    fn above_restorer(&self, regs: &Regs) -> Above {
        let caller = self.machine.interrupted_regs(regs, self.space).map(|regs| Caller {
            regs,
            trust: Trust::Signal,
            interrupted: true,
        });
        let caller = caller.ok_or(End::NoRule(regs.pc()));
        Above { cfa: None, signal_trampoline: true, caller }
    }

    /// A call to where there is no code pushed its return address, and nothing else ran.
    fn above_wild_call(&self, regs: &Regs) -> Above {
        let found = self.machine.caller_at_entry(regs, self.space).filter(|(caller, _)| {
            self.modules.is_code(caller.pc()) && self.machine.follows_call(caller.pc(), self.space)
        });
        let cfa = found.as_ref().map(|(_, cfa)| *cfa);
        let caller =
            found.map(|(regs, _)| Caller { regs, trust: Trust::NullCall, interrupted: false });
        Above { cfa, signal_trampoline: false, caller: caller.ok_or(End::NotCode(regs.pc())) }
    }

    fn above_guess(&mut self, regs: &Regs, pc: CodeAddr) -> Above {
        let readings = self.readings(pc);
        let fallback = self.fallback(&readings);
        let none = |end| Above { cfa: None, signal_trampoline: false, caller: Err(end) };
        if fallback.is_outermost(regs, pc.lookup()) {
            return none(End::Outermost);
        }
        match fallback.caller(regs) {
            Some(guess) => {
                let cfa = guess.cfa;
                Above { cfa, signal_trampoline: false, caller: Ok(guess.into_caller()) }
            }
            None => none(self.why_no_guess(regs, pc)),
        }
    }

    fn fallback<'r>(&self, readings: &'r [Reading]) -> Fallback<'r>
    where
        'a: 'r,
    {
        let (space, modules, machine) = (self.space, self.modules, self.machine);
        Fallback { space, modules, machine, readings }
    }

    /// What the code at `pc` tells, remembered. Beyond [`MAX_FOLLOWED`] it tells nothing.
    fn readings(&mut self, pc: CodeAddr) -> Arc<[Reading]> {
        if let Some(readings) = self.readings.get(&pc) {
            return readings.clone();
        }
        let readings: Arc<[Reading]> = self.read_code(pc).unwrap_or_default().into();
        if self.readings.len() >= MAX_ROWS {
            self.readings.clear();
        }
        self.readings.insert(pc, readings.clone());
        readings
    }

    fn read_code(&mut self, pc: CodeAddr) -> Option<Vec<Reading>> {
        let function = self.modules.function_before(pc.lookup())?;
        let len = pc.addr().offset_from(function.start).filter(|len| *len <= MAX_CODE)?;
        self.followed = self.followed.saturating_add(len);
        let within = self.followed <= MAX_FOLLOWED;
        within.then(|| self.machine.read_code(pc.addr(), function, self.space))
    }

    fn why_no_guess(&self, regs: &Regs, pc: CodeAddr) -> End {
        let sp = regs.get(self.machine.stack_pointer()).map(Addr::new);
        let fault = sp.and_then(|sp| stack_fault(self.space, sp));
        fault.map_or(End::NoRule(pc.addr()), End::Fault)
    }

    /// Refuses a caller that cannot be one: not in code, or not above the frame it called, whose pc
    /// is `called`.
    fn check(&mut self, callee: &Regs, called: CodeAddr, caller: Caller) -> Result<Caller, End> {
        let pc = caller.regs.pc();
        if caller.interrupted {
            // It may have been interrupted anywhere, on another stack too; but not twice in one
            // place, which the walk looks after.
            return Ok(caller);
        }
        if pc.get() == 0 {
            return Err(End::Outermost);
        }
        if !self.code(CodeAddr::Return(pc)).is_code {
            return Err(End::NotCode(pc));
        }
        let sp = self.machine.stack_pointer();
        let advanced = match (callee.get(sp), caller.regs.get(sp)) {
            (Some(below), Some(above)) => {
                // Only what called nothing itself can have left its return address in a register.
                let is_leaf = self.machine.returns_by_register() && !called.is_return();
                above > below || (above == below && is_leaf)
            }
            _ => true,
        };
        if advanced { Ok(caller) } else { Err(End::DidNotAdvance(pc)) }
    }

    /// What is known of the code at `pc`, remembered.
    fn code(&mut self, pc: CodeAddr) -> Code {
        if let Some(code) = self.rows.get(&pc) {
            return code.clone();
        }
        let code = self.find_code(pc);
        if self.rows.len() >= MAX_ROWS {
            self.rows.clear();
        }
        self.rows.insert(pc, code.clone());
        code
    }

    fn find_code(&mut self, pc: CodeAddr) -> Code {
        let is_code = self.modules.is_code(pc.addr()) || self.modules.is_code(pc.lookup());
        let cfi = self.modules.cfi_at(pc.lookup());
        let row = cfi.and_then(|cfi| cfi.row(pc.lookup(), &mut self.context)).map(Arc::new);
        let known_signal = row.as_ref().is_some_and(|row| row.is_signal);
        let is_restorer =
            is_code && !known_signal && self.machine.is_signal_restorer(pc.addr(), self.space);
        Code { row, is_code, is_restorer }
    }
}

impl Guess {
    fn into_caller(self) -> Caller {
        Caller { regs: self.regs, trust: self.trust, interrupted: false }
    }
}

/// The kind of a caller's pc: exact where it was interrupted.
fn code_addr(caller: &Caller) -> CodeAddr {
    if caller.interrupted {
        CodeAddr::Pc(caller.regs.pc())
    } else {
        CodeAddr::Return(caller.regs.pc())
    }
}
