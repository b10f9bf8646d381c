//! The `thread` walker.

use kcore_dcmd::{AddrUse, Cx, DcmdError, Dot, Result, Visit, Walker, WalkerSpec};

/// Steps over the threads, the crashed one first.
pub struct Thread;

impl Walker for Thread {
    fn spec(&self) -> WalkerSpec {
        WalkerSpec { name: "thread", summary: "walk the threads", addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        if cx.core().file().is_none() {
            return Err(DcmdError::failed("no process active"));
        }
        cx.core().threads().iter().try_for_each(|thread| visit(cx, Dot::Thread(thread.tid)))
    }
}
