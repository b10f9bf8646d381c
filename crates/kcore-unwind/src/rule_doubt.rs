//! What a rule or unwind information says of code that was interrupted, held against that code.
//!
//! Rules follow the frames that a runtime keeps. Code that was interrupted may not have made its frame yet, or have left
//! it, or, as a leaf, make none: then they leave out its caller.

use kcore_mem::{Addr, CodeAddr};

use crate::{
    Regs, Walker,
    code_paths::FrameState,
    fallback::{Fallback, Guess},
};

impl Walker<'_> {
    /// The caller to which all paths through code lead that was interrupted, if it lies below `cfa`.
    pub(crate) fn below_by_code(&mut self, regs: &Regs, pc: CodeAddr, cfa: Addr) -> Option<Guess> {
        if pc.is_return() {
            return None;
        }
        let paths = self.paths(pc);
        let fallback = Fallback { paths: &paths, ..self.fallback(&[]) };
        fallback.exact(regs).filter(|exact| exact.cfa < Some(cfa))
    }

    /// What to take for the caller instead of `named`, which a rule says: what lies below it, where all paths
    /// through the code lead there; the same, marked, where no path is known to lead to it.
    pub(crate) fn instead_of_rule(
        &mut self,
        regs: &Regs,
        pc: CodeAddr,
        named: &Regs,
        cfa: Addr,
    ) -> Option<Guess> {
        if pc.is_return() {
            return None;
        }
        let paths = self.paths(pc);
        let fallback = Fallback { paths: &paths, ..self.fallback(&[]) };
        if let Some(exact) = fallback.exact(regs) {
            return Some(exact).filter(|it| it.cfa < Some(cfa) && it.regs.pc() != named.pc());
        }
        let found = FrameState { regs, machine: self.machine, space: self.space };
        let is_below = paths.callers(found).any(|(_, other)| other < cfa);
        let is_there = paths.callers(found).any(|(other, _)| other.pc() == named.pc());
        (is_below && !is_there).then(|| Guess::by_rule(*named, cfa))
    }
}
