//! The stacks that threads run on.

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashSet;

use super::walked::{LEFT_OVER, Walked};
use crate::Stack;

/// The first function of a stack begins so near to where its maker set the stack pointer.
const BEGINNING: u64 = 32;

/// The stacks that threads run on: what was saved of them before is old.
pub struct Busy {
    /// Where frames end: a stack that begins at one of them is one that a thread runs on.
    ends: FxHashSet<Addr>,
    /// From the lowest address that may be left of calls to where the stack begins.
    stacks: Vec<AddrRange>,
}

impl Busy {
    pub fn of(stacks: &[Stack]) -> Self {
        let frames = stacks.iter().flat_map(|stack| stack.frames.iter());
        let ends = frames.filter_map(|frame| frame.cfa).collect();
        let range = |stack: &Stack| {
            let lowest = stack.frames.first()?.sp?.get().saturating_sub(LEFT_OVER);
            Some(AddrRange::new(Addr::new(lowest), stack.frames.last()?.cfa?))
        };
        let stacks = stacks.iter().filter_map(range).filter(|it| it.start <= it.end).collect();
        Self { ends, stacks }
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
