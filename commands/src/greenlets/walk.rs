//! Walker `greenlet`: every greenlet that has not ended.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the greenlets, in the order of the collector's lists.
pub struct Greenlets;

impl Walker for Greenlets {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the greenlets that have not ended";
        WalkerSpec { name: "greenlet", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core().clone();
        for found in subject::instances(&core)? {
            let all = &found.known(core.as_ref()).all;
            all.iter().try_for_each(|greenlet| visit(cx, subject::dot(&core, greenlet)))?;
        }
        Ok(())
    }
}
