//! Walker `ucontext`: the address of each saved context.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use crate::thread_operand::{thread_of, thread_of_dot};

/// Steps over contexts, innermost first: those that signals left on a thread's stack, or, from the address
/// of one, those that follow it by `uc_link`.
pub struct Ucontext;

impl Walker for Ucontext {
    fn spec(&self) -> WalkerSpec {
        let summary = "the contexts that signals left on a stack, or linked ones";
        WalkerSpec { name: "ucontext", summary, addr: AddrUse::Optional }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core();
        let contexts = match from {
            None => core.signal_contexts(thread_of(cx)?),
            Some(dot) if is_memory(cx, dot) => core.context_chain(dot.addr()),
            Some(dot) => core.signal_contexts(thread_of_dot(cx, dot)?),
        };
        contexts.into_iter().try_for_each(|at| visit(cx, Dot::Addr(at)))
    }
}

/// Whether a number is an address, and not the id of a thread.
fn is_memory(cx: &Cx<'_>, dot: Dot) -> bool {
    matches!(dot, Dot::Number(_) | Dot::Addr(_)) && cx.core().mapping_at(dot.addr()).is_some()
}
