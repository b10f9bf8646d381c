//! Follows the paths through code.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{
    instruction::Flow,
    paths::Paths,
    state::{Roles, State},
    visited::Visited,
    window::Window,
};
use crate::Machine;

/// Instructions that are followed for one question, at most: assembly with unrolled loops has some thousands.
const MAX_INSTRUCTIONS: usize = 1 << 13;
/// Paths that wait to be followed, at most.
const MAX_PENDING: usize = 128;
/// Where functions begin, in bytes, behind a call that does not return.
const FUNCTION_ALIGNMENT: u64 = 16;

/// Room to follow code in. It takes memory when it is made, and none later.
pub struct Follower {
    pending: Vec<Path>,
    visited: Visited,
    window: Window,
    spent: usize,
}

/// Code, and how to read it.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub machine: &'a dyn Machine,
    pub space: &'a dyn AddressSpace,
    /// The function, as far as it is known.
    pub function: Option<AddrRange>,
}

/// A path, as far as it was followed.
#[derive(Clone, Copy)]
struct Path {
    at: Addr,
    state: State,
    /// Whether nothing but padding came since a call, which may not return.
    after_call: bool,
    /// Whether what follows may be another function, since a call may not have returned.
    is_doubtful: bool,
}

/// What one question has come to.
struct Search<'a> {
    question: Question<'a>,
    roles: Roles,
    word: i64,
    /// The place to which paths lead that begin at a function's start.
    goal: Option<Addr>,
    paths: Paths,
}

impl Default for Follower {
    fn default() -> Self {
        Self::new()
    }
}

impl Follower {
    /// Room for one question at a time.
    pub fn new() -> Self {
        let pending = Vec::with_capacity(MAX_PENDING);
        Self { pending, visited: Visited::new(), window: Window::new(), spent: 0 }
    }

    /// The instructions that were followed since [`Self::take_spent`] was asked last.
    pub const fn spent(&self) -> usize {
        self.spent
    }

    /// The instructions that were followed since this was asked last.
    pub fn take_spent(&mut self) -> usize {
        std::mem::take(&mut self.spent)
    }

    /// The callers to which the paths from `pc` to the return lead. `is_return`: a call stands before it.
    pub fn paths_to_return(&mut self, pc: Addr, is_return: bool, question: Question<'_>) -> Paths {
        let is_behind = is_return && question.function.is_some_and(|range| !range.contains(pc));
        if is_behind {
            // The call was the function's last instruction, so that it cannot have been meant to return.
            return Paths::NONE;
        }
        self.follow(pc, is_return, None, question)
    }

    /// The caller at `pc`, by the paths that lead there from the start of a function.
    pub fn paths_from_start(&mut self, start: Addr, pc: Addr, question: Question<'_>) -> Paths {
        self.follow(start, false, Some(pc), question)
    }

    fn follow(
        &mut self,
        start: Addr,
        after_call: bool,
        goal: Option<Addr>,
        question: Question<'_>,
    ) -> Paths {
        let roles = Roles::of(question.machine);
        let word = question.space.target().register_size() as i64;
        let mut search = Search { question, roles, word, goal, paths: Paths::new() };
        self.window.clear();
        self.visited.clear();
        self.pending.clear();
        self.pending.push(Path { at: start, state: State::new(), after_call, is_doubtful: false });
        let mut left = MAX_INSTRUCTIONS;
        while let Some(path) = self.pending.pop() {
            self.follow_path(path, &mut search, &mut left);
        }
        self.spent = self.spent.saturating_add(MAX_INSTRUCTIONS.saturating_sub(left));
        search.paths.finish();
        search.paths
    }

    /// Follows a path until it ends, or comes to where another one was.
    fn follow_path(&mut self, mut path: Path, search: &mut Search<'_>, left: &mut usize) {
        loop {
            if search.is_at_goal(&path)
                || search.is_left_behind(&path)
                || !self.visited.insert(path.at, path.state.fingerprint(search.roles))
            {
                return;
            }
            let Some(rest) = left.checked_sub(1) else { return search.paths.give_up() };
            *left = rest;
            if self.step(&mut path, search).is_none() {
                return;
            }
        }
    }

    /// One instruction; `None` where the path ends.
    fn step(&mut self, path: &mut Path, search: &mut Search<'_>) -> Option<()> {
        let Search { question, roles, .. } = *search;
        let bytes = self.window.at(path.at, question.space);
        let Some(instruction) = question.machine.instruction(bytes, path.at) else {
            search.lose(path);
            return None;
        };
        if path.after_call && !instruction.is_padding {
            let is_aligned = path.at.get().is_multiple_of(FUNCTION_ALIGNMENT);
            path.is_doubtful |= is_aligned && !search.is_known_inside(path.at);
            path.after_call = false;
        }
        path.state.apply(&instruction, path.at, roles);
        let next = path.at.checked_add(u64::from(instruction.len))?;
        path.at = match instruction.flow {
            Flow::Next => next,
            Flow::Branch(target) => {
                self.wait(Path { at: target, ..*path }, search);
                next
            }
            Flow::Jump(target) => target,
            Flow::Call(_) => {
                path.state.call(roles);
                path.after_call = true;
                next
            }
            Flow::JumpRegister(number) => return search.jump(path, number),
            Flow::TailCall => return search.tail_call(path),
            Flow::Return => return search.returned(path),
            Flow::Stop => return None,
            Flow::Unknown => {
                search.lose(path);
                return None;
            }
        };
        Some(())
    }

    fn wait(&mut self, path: Path, search: &mut Search<'_>) {
        if self.pending.len() < self.pending.capacity() {
            self.pending.push(path);
        } else {
            search.paths.give_up();
        }
    }
}

impl Search<'_> {
    /// Takes the state of a path that has come to where it should.
    fn is_at_goal(&mut self, path: &Path) -> bool {
        let is_there = self.goal == Some(path.at);
        if is_there {
            match path.state.outcome_at_place(self.roles, self.word) {
                Some(outcome) => self.paths.add(outcome, path.is_doubtful),
                None => self.paths.give_up(),
            }
        }
        is_there
    }

    /// Whether a call was the last of its function: it does not return.
    fn is_left_behind(&self, path: &Path) -> bool {
        path.after_call && self.question.function.is_some_and(|range| range.end == path.at)
    }

    /// Whether the function at hand is known to reach beyond `at`.
    fn is_known_inside(&self, at: Addr) -> bool {
        self.question.function.is_some_and(|range| range.contains(at))
    }

    /// Gives up a path, unless it need not be one.
    fn lose(&mut self, path: &Path) {
        if !path.is_doubtful {
            self.paths.give_up();
        }
    }

    fn returned(&mut self, path: &Path) -> Option<()> {
        if self.goal.is_none() {
            self.paths.add(path.state.outcome_of_return(self.roles), path.is_doubtful);
        }
        None
    }

    fn tail_call(&mut self, path: &Path) -> Option<()> {
        if self.goal.is_none() {
            let outcome = path.state.outcome_of_tail_call(self.roles, self.word);
            self.paths.add(outcome, path.is_doubtful);
        }
        None
    }

    /// A jump to what a register holds: a return, where that was taken off the stack.
    fn jump(&mut self, path: &mut Path, number: u16) -> Option<()> {
        let target = path.state.get(number);
        let top = path.state.get(self.roles.sp).plus(self.word.checked_neg()?).word();
        if self.roles.link.is_none() && target.is_known() && target == top {
            let mut outcome = path.state.outcome_of_return(self.roles);
            outcome.pc = target;
            if self.goal.is_none() {
                self.paths.add(outcome, path.is_doubtful);
            }
        } else {
            self.lose(path);
        }
        None
    }
}
