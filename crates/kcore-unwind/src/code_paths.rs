//! What the paths through the code around a place say together.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use crate::{
    Machine, Regs,
    follow::{Outcome, Paths},
};

/// The callers to which the code around a pc leads.
pub struct CodePaths {
    /// By the paths from there to the return.
    pub to_return: Paths,
    /// By the paths to there from the start of the function, where that is known.
    pub from_start: Paths,
    /// Instructions that were followed for it.
    pub cost: usize,
}

/// How a caller is found from registers.
#[derive(Clone, Copy)]
pub struct FrameState<'a> {
    pub regs: &'a Regs,
    pub machine: &'a dyn Machine,
    pub space: &'a dyn AddressSpace,
}

impl FrameState<'_> {
    fn caller(self, outcome: &Outcome) -> Option<(Regs, Addr)> {
        outcome.caller(self.regs, self.machine, self.space)
    }

    /// Whether two outcomes are one caller.
    fn same(self, one: &Outcome, other: &Outcome) -> bool {
        let place = |outcome| self.caller(outcome).map(|(regs, cfa)| (regs.pc(), cfa));
        place(one).is_some_and(|one| Some(one) == place(other))
    }
}

impl CodePaths {
    /// Nothing was read.
    pub const NONE: Self = Self { to_return: Paths::NONE, from_start: Paths::NONE, cost: 0 };

    /// As [`Self::NONE`], to be shared.
    pub fn none() -> Arc<Self> {
        Arc::new(Self::NONE)
    }

    /// The caller's registers and the CFA, where all paths agree.
    pub fn exact(&self, found: FrameState<'_>) -> Option<(Regs, Addr)> {
        found.caller(self.agreed(found)?)
    }

    fn agreed(&self, found: FrameState<'_>) -> Option<&Outcome> {
        let (there, here) = (&self.to_return, &self.from_start);
        let is_same = |one, other| found.same(one, other);
        match (there.agreed(), here.only()) {
            (Some(there), Some(here)) => Some(there).filter(|there| is_same(there, here)),
            (Some(there), None) => Some(there).filter(|_| here.all().next().is_none()),
            (None, Some(here)) => Some(here).filter(|here| {
                there.all().next().is_none() || there.all().any(|o| is_same(o, here))
            }),
            (None, None) => None,
        }
    }

    /// All callers that a path leads to.
    pub fn callers(&self, found: FrameState<'_>) -> impl Iterator<Item = (Regs, Addr)> {
        let outcomes = self.to_return.all().chain(self.from_start.all());
        outcomes.filter_map(move |outcome| found.caller(outcome))
    }
}
