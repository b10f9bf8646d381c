//! Walker `ucontext`: the address of each saved context.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use crate::operand;
use crate::thread_operand::{thread_of, thread_of_dot};

/// Steps over contexts, innermost first: those that signals left on a thread's stack, or, from the address
/// of one, those that follow it by `uc_link`.
pub struct Ucontext;

impl Walker for Ucontext {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the contexts that signals left on a stack, or linked ones";
        WalkerSpec { name: "ucontext", summary, addr: AddrUse::Optional }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core();
        let contexts = match from.and_then(|dot| operand::memory(core, dot)) {
            Some(at) => core.contexts().chain(at),
            None => {
                let tid = from.map_or_else(|| thread_of(cx), |dot| thread_of_dot(cx, dot))?;
                core.contexts().of_signals(tid)
            }
        };
        contexts.into_iter().try_for_each(|at| visit(cx, Dot::Addr(at)))
    }
}
