//! The `thread` walker.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Walker, WalkerSpec};

/// Steps over the threads, the crashed one first.
pub struct Thread;

impl Walker for Thread {
    fn spec(&self) -> WalkerSpec {
        WalkerSpec { name: "thread", summary: "walk the threads", addr: AddrUse::None }
    }

    fn walk(
        &self,
        cx: &Cx<'_>,
        _from: Option<Dot>,
        visit: &mut dyn FnMut(Dot) -> Result<()>,
    ) -> Result<()> {
        cx.core().threads().iter().try_for_each(|thread| visit(Dot::Thread(thread.tid)))
    }
}
