//! Walker `trio`: every task of trio that has not ended.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the tasks, in the order of their addresses.
pub struct TrioTasks;

impl Walker for TrioTasks {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the tasks of trio that have not ended";
        WalkerSpec { name: "trio", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core().clone();
        for found in subject::instances(&core)? {
            found.known(core.as_ref()).all.iter().try_for_each(|it| visit(cx, subject::dot(it)))?;
        }
        Ok(())
    }
}
