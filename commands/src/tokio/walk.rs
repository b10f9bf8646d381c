//! Walker `tokio`: every task of tokio that has not ended.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the tasks, in the order of their numbers.
pub struct TokioTasks;

impl Walker for TokioTasks {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the tasks of tokio that have not ended";
        WalkerSpec { name: "tokio", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core().clone();
        for found in subject::instances(&core)? {
            let all = found.known(core.as_ref());
            all.iter().try_for_each(|task| visit(cx, subject::dot(task)))?;
        }
        Ok(())
    }
}
