//! Which of several candidates is the caller: that whose chain holds.

use kcore_mem::{Addr, CodeAddr};

use crate::{
    End, Regs, Trust, Walker,
    fallback::{Fallback, Guess},
    follow::Question,
    step::step_by_row,
};

/// Frames beyond a candidate that are looked at.
const DEPTH: usize = 8;
/// Candidates that are followed for one stack, at most.
const MAX_PROOFS: usize = 256;
/// Candidates whose call is followed to the place that it should have led to, for one frame.
const MAX_CALLS: usize = 8;
/// Bytes from the start of a function to a place in it, at most.
const MAX_FUNCTION: u64 = 64 << 10;

/// What speaks for a candidate and against it. A chain that holds counts the same however long it is: of several
/// that hold, the first is the nearest, and leaves nothing out.
mod weight {
    /// A step to the next frame record.
    pub const RECORD: i32 = 1;
    /// A step by call frame information to a place behind a call.
    pub const STEP: i32 = 2;
    /// The chain holds for all frames that are checked.
    pub const HOLDS: i32 = 16;
    /// The call leads to the function below it.
    pub const CALLS: i32 = 4;
    /// The start of its function was read, on machines where that tells all: more than that a word of the stack is an
    /// address to which a call of the function returns.
    pub const READ: i32 = 8;
    /// The chain leads to where there is no code, or no memory, or does not advance.
    pub const BROKEN: i32 = -32;
}

impl Walker<'_> {
    /// The best of the candidates for the caller of the frame at `regs`; of equals the first. With
    /// `needs_proof` there is none unless its chain holds.
    pub(crate) fn best(
        &mut self,
        regs: &Regs,
        pc: CodeAddr,
        candidates: &[Guess],
        needs_proof: bool,
    ) -> Option<Guess> {
        if let Some(proven) = self.called_from(regs, pc, candidates) {
            return Some(proven);
        }
        let mut best: Option<(i32, Guess)> = None;
        for guess in candidates {
            let score = self.score(pc, guess);
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, *guess));
            }
        }
        let (score, guess) = best?;
        (!needs_proof || score >= weight::HOLDS).then_some(guess)
    }

    /// The candidate whose call leads to a function whose code, followed to the pc, says that the return address
    /// lies where the candidate has it. That is no guess.
    fn called_from(&mut self, regs: &Regs, pc: CodeAddr, candidates: &[Guess]) -> Option<Guess> {
        let is_near =
            |target: Addr| pc.lookup().offset_from(target).is_some_and(|len| len <= MAX_FUNCTION);
        let called = candidates.iter().filter_map(|guess| {
            let target = self.call_target(guess.regs.pc())?;
            is_near(target).then_some((guess, target))
        });
        let called: Vec<_> = called.take(MAX_CALLS).collect();
        called.into_iter().find_map(|(guess, target)| self.lead_to(regs, pc, guess, target))
    }

    fn lead_to(&mut self, regs: &Regs, pc: CodeAddr, guess: &Guess, start: Addr) -> Option<Guess> {
        let question = Question { machine: self.machine, space: self.space, function: None };
        let paths =
            self.follow(|follower| follower.paths_from_start(start, pc.addr(), question))?;
        let outcome = paths.only()?;
        let (caller, cfa) = outcome.caller(regs, self.machine, self.space)?;
        let is_it = caller.pc() == guess.regs.pc() && Some(cfa) == guess.cfa;
        let exact = Guess { regs: caller, trust: Trust::Code, is_guess: false, ..*guess };
        is_it.then_some(exact)
    }

    /// Where the call before a return address leads, through a jump that stands for the function.
    pub(crate) fn call_target(&self, at: Addr) -> Option<Addr> {
        let target = self.machine.called_before(at, self.space)?;
        Some(self.machine.jump_at(target, self.space).unwrap_or(target))
    }

    /// How well the chain of a candidate holds. `callee` is the pc of the frame below it.
    fn score(&mut self, callee: CodeAddr, guess: &Guess) -> i32 {
        self.followed.proofs = self.followed.proofs.saturating_add(1);
        if self.followed.proofs > MAX_PROOFS {
            return 0;
        }
        let calls = self.call_weight(guess.regs.pc(), callee);
        let is_read = guess.trust == Trust::Prologue && self.machine.trusts_prologues();
        let read = if is_read { weight::READ } else { 0 };
        calls.saturating_add(read).saturating_add(self.chain_weight(guess))
    }

    fn chain_weight(&mut self, guess: &Guess) -> i32 {
        let mut score: i32 = 0;
        let (mut regs, mut above) = (guess.regs, guess.regs);
        for depth in 0..DEPTH {
            let at = CodeAddr::Return(regs.pc());
            let gained = match self.chain_step(&regs, at, &mut above) {
                Chain::Leads => weight::STEP,
                Chain::MayLead => weight::RECORD,
                // Every stack ends so: it proves nothing of a word that was found far above.
                Chain::Outermost if depth == 0 && guess.trust == Trust::Scan => return 0,
                Chain::Outermost => return weight::HOLDS,
                Chain::Broken => return weight::BROKEN,
                Chain::Unknown => return score,
            };
            score = score.saturating_add(gained);
            std::mem::swap(&mut regs, &mut above);
        }
        weight::HOLDS
    }

    /// Whether the call before a return address is known to lead to the function below it.
    fn call_weight(&self, at: Addr, below: CodeAddr) -> i32 {
        let function = self.modules.function_before(below.lookup());
        let start = function.filter(|range| range.contains(below.lookup())).map(|f| f.start);
        let is_called = start.is_some() && self.call_target(at) == start;
        if is_called { weight::CALLS } else { 0 }
    }

    fn chain_step(&mut self, regs: &Regs, at: CodeAddr, above: &mut Regs) -> Chain {
        let code = self.code(at);
        if !code.is_code {
            return Chain::Broken;
        }
        if code.ends_stack || code.is_first_on_stack || self.modules.is_entry(at.lookup()) {
            return Chain::Outermost;
        }
        let Some(row) = &code.row else { return self.chain_step_by_code(regs, at, above) };
        let cfi = || self.modules.cfi_at(at.lookup());
        let step = step_by_row(&cfi, row.by_ref(), regs, above, self.space, self.machine);
        match step {
            Ok(step) if !step.has_caller => Chain::Outermost,
            Ok(_) if row.is_signal => Chain::Unknown,
            Ok(_) if self.machine.links_frames() && above.pc().get() == 0 => Chain::Outermost,
            Ok(step) => self.judge(regs, above, step.cfa),
            // Links of frames alone led here, which tell of no other registers.
            Err(End::UnknownRegister { .. }) if self.machine.links_frames() => {
                self.chain_step_by_frame_pointer(regs, above)
            }
            Err(_) => Chain::Broken,
        }
    }

    fn chain_step_by_code(&mut self, regs: &Regs, at: CodeAddr, above: &mut Regs) -> Chain {
        match self.exact_caller(regs, at) {
            Some((caller, cfa)) => {
                *above = caller;
                self.judge(regs, above, cfa)
            }
            None if self.ends_at_no_frame_pointer(regs, at) => Chain::Outermost,
            None => self.chain_step_by_frame_pointer(regs, above),
        }
    }

    /// Whether a frame is the outermost one, since its frame pointer is 0 and its code never returns.
    fn ends_at_no_frame_pointer(&mut self, regs: &Regs, at: CodeAddr) -> bool {
        let paths = self.paths(at);
        let fallback = Fallback { paths: &paths, ..self.fallback(&[]) };
        fallback.has_no_frame_pointer(regs, at.lookup())
            && fallback.ends_at_no_frame_pointer(regs, at.lookup())
    }

    /// Frame records that lead on are some proof, in code that is not known to keep them.
    fn chain_step_by_frame_pointer(&self, regs: &Regs, above: &mut Regs) -> Chain {
        match self.fallback(&[]).by_frame_pointer(regs) {
            Some(Guess { regs: caller, .. }) => {
                *above = caller;
                Chain::MayLead
            }
            None => Chain::Unknown,
        }
    }

    fn judge(&self, regs: &Regs, above: &Regs, cfa: Addr) -> Chain {
        let sp = regs.get(self.machine.stack_pointer());
        let advances = sp.is_none_or(|sp| cfa.get() > sp);
        let returns = self.fallback(&[]).can_return_to(above.pc());
        if advances && returns { Chain::Leads } else { Chain::Broken }
    }
}

/// How a chain goes on.
enum Chain {
    /// To a place behind a call.
    Leads,
    /// To the next frame record.
    MayLead,
    /// It ends where stacks begin.
    Outermost,
    /// It cannot be one.
    Broken,
    /// Nothing tells.
    Unknown,
}
