//! Walker `coroutine`: every chain of coroutines of C++20 that wait for one another.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the innermost ones, lowest address first.
pub struct WalkCoroutines;

impl Walker for WalkCoroutines {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the C++20 coroutines that await no other coroutine";
        WalkerSpec { name: "coroutine", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core().clone();
        let mut leaves = subject::found(&core)?.leaves(core.as_ref());
        leaves.try_for_each(|leaf| visit(cx, subject::dot(leaf)))
    }
}
