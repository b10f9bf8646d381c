//! Walker `fiber`: every fiber that has not ended.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the fibers, those of one thread after the other.
pub struct Fibers;

impl Walker for Fibers {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the fibers of Boost.Fiber that have not ended";
        WalkerSpec { name: "fiber", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let fibers = subject::all(cx.core())?;
        fibers.iter().try_for_each(|fiber| visit(cx, subject::dot(fiber)))
    }
}
