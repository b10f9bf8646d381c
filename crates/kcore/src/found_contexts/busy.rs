//! The stacks that threads run on.

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashSet;

use super::walked::{LEFT_OVER, Walked};
use crate::{Core, MAX_FRAMES, Stack};

/// The first function of a stack begins so near to where its maker set the stack pointer.
const BEGINNING: u64 = 32;
/// Stacks that are held at one time: there may be many threads, and each stack long.
const AT_A_TIME: usize = 64;

/// The stacks that threads run on: what was saved of them before is old.
pub struct Busy {
    /// Where frames end: a stack that begins at one of them is one that a thread runs on.
    ends: FxHashSet<Addr>,
    /// From the lowest address that may be left of calls to where the stack begins.
    stacks: Vec<AddrRange>,
}

impl Busy {
    /// Those of all threads of a process.
    pub fn of(core: &Core) -> Self {
        let mut busy = Self { ends: FxHashSet::default(), stacks: Vec::new() };
        for tids in core.tids().chunks(AT_A_TIME) {
            core.stacks().of_threads(tids, MAX_FRAMES).iter().for_each(|stack| busy.add(stack));
        }
        busy
    }

    fn add(&mut self, stack: &Stack) {
        self.ends.extend(stack.frames.iter().filter_map(|frame| frame.cfa));
        let range = || {
            let lowest = stack.frames.first()?.sp?.get().saturating_sub(LEFT_OVER);
            Some(AddrRange::new(Addr::new(lowest), stack.frames.last()?.cfa?))
        };
        self.stacks.extend(range().filter(|it| it.start <= it.end));
    }

    /// Whether a thread runs on the stack of a context, or has it as what is left of its calls.
    pub fn has(&self, context: &Walked) -> bool {
        let Some(bottom) = context.bottom() else { return false };
        if context.shaped.begins_with.is_none() {
            return self.ends.contains(&bottom);
        }
        let mut ends = (0..=BEGINNING).step_by(8).map(|by| bottom.saturating_add(by));
        let at = context.shaped.at;
        ends.any(|end| self.ends.contains(&end)) || self.stacks.iter().any(|it| it.contains(at))
    }
}
