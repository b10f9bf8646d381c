//! Steps out of code without unwind information: what is followed for one stack, and what that may cost.

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};
use rustc_hash::FxHashSet;

use crate::{
    End, Reading, Regs, Walker,
    code_paths::{CodePaths, FrameState},
    fallback::{Fallback, Guess},
    follow::{Follower, Paths, Question},
};

/// Places whose paths are remembered: each takes some KiB.
const MAX_PLACES: usize = 1 << 10;
/// Instructions whose paths are followed for one stack, at most.
const MAX_INSTRUCTIONS: usize = 1 << 18;

/// Places whose code was followed, and what that took.
#[derive(Default)]
pub struct Followed {
    pub places: FxHashSet<CodeAddr>,
    pub bytes: u64,
    /// Places whose paths were followed.
    paths: FxHashSet<CodeAddr>,
    instructions: usize,
    /// Candidates whose chains were followed.
    pub proofs: usize,
}

impl Walker<'_> {
    /// The caller by reading the code, where that leaves no doubt.
    pub(crate) fn caller_by_code(
        &mut self,
        regs: &Regs,
        pc: CodeAddr,
        readings: &[Reading],
    ) -> Option<Guess> {
        let paths = self.paths(pc);
        Fallback { paths: &paths, ..self.fallback(readings) }.exact(regs)
    }

    /// The best candidate for the caller where the code does not tell.
    pub(crate) fn best_caller(
        &mut self,
        regs: &Regs,
        pc: CodeAddr,
        readings: &[Reading],
    ) -> Result<Guess, End> {
        let paths = self.paths(pc);
        let fallback = Fallback { paths: &paths, ..self.fallback(readings) };
        let is_told = || self.machine.trusts_prologues() && fallback.by_code(regs).is_some();
        let needs_proof = fallback.has_no_frame_pointer(regs, pc.lookup()) && !is_told();
        if needs_proof && fallback.ends_at_no_frame_pointer(regs, pc.lookup()) {
            return Err(End::Outermost);
        }
        let mut candidates = std::mem::take(&mut self.learnt.candidates);
        fallback.candidates(regs, &mut candidates);
        if let Some(linked) = fallback.by_link_register(regs, pc) {
            candidates.insert(0, linked);
        }
        let best = self.best(regs, pc, &candidates, needs_proof);
        self.learnt.candidates = candidates;
        best.ok_or_else(|| match needs_proof {
            true => End::UnknownCode(pc.addr()),
            false => self.why_no_guess(regs, pc),
        })
    }

    /// The caller of a frame by the paths through its code, where they agree.
    pub(crate) fn exact_caller(&mut self, regs: &Regs, pc: CodeAddr) -> Option<(Regs, Addr)> {
        let paths = self.paths(pc);
        paths.exact(FrameState { regs, machine: self.machine, space: self.space })
    }

    /// Where the paths through the code at `pc` lead, remembered. Beyond [`MAX_INSTRUCTIONS`] nowhere.
    pub(crate) fn paths(&mut self, pc: CodeAddr) -> Arc<CodePaths> {
        if let Some(known) = self.learnt.paths.get(&pc).cloned() {
            // What is found of a stack does not depend on what other stacks have found out.
            return if self.followed.charge(pc, known.cost) { known } else { CodePaths::none() };
        }
        let spent = self.followed.instructions;
        let function = self.modules.function_before(pc.lookup());
        let function = function.filter(|function| function.contains(pc.lookup()));
        let question = Question { machine: self.machine, space: self.space, function };
        let to_return = self.follow(|it| it.paths_to_return(pc.addr(), pc.is_return(), question));
        let from_start = function.and_then(|function| {
            self.follow(|it| it.paths_from_start(function.start, pc.addr(), question))
        });
        let (Some(to_return), true) = (to_return, from_start.is_some() || function.is_none())
        else {
            return CodePaths::none();
        };
        let cost = self.followed.instructions.saturating_sub(spent);
        let from_start = from_start.unwrap_or(Paths::NONE);
        let paths = Arc::new(CodePaths { to_return, from_start, cost });
        if !self.followed.paths.insert(pc) {
            // It was counted before it was forgotten.
            self.followed.instructions = spent;
        }
        if self.learnt.paths.len() >= MAX_PLACES {
            self.learnt.paths.clear();
        }
        self.learnt.paths.insert(pc, Arc::clone(&paths));
        paths
    }

    /// Asks a question about paths, unless too much was asked for this stack.
    pub(crate) fn follow(&mut self, ask: impl FnOnce(&mut Follower) -> Paths) -> Option<Paths> {
        if self.followed.instructions > MAX_INSTRUCTIONS {
            return None;
        }
        let follower = self.learnt.follower.get_or_insert_default();
        let paths = ask(follower);
        let spent = follower.take_spent();
        self.followed.instructions = self.followed.instructions.saturating_add(spent);
        Some(paths)
    }
}

impl Followed {
    /// Counts what following the paths at a place has cost, once a stack; says whether that may be.
    fn charge(&mut self, pc: CodeAddr, cost: usize) -> bool {
        if self.paths.contains(&pc) {
            return true;
        }
        let may = self.instructions <= MAX_INSTRUCTIONS;
        if may {
            self.paths.insert(pc);
            self.instructions = self.instructions.saturating_add(cost);
        }
        may
    }
}
