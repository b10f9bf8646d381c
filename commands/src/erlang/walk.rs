//! Walker `erlprocess`: every process of Erlang.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the processes, in the order of their numbers.
pub struct ErlangProcesses;

impl Walker for ErlangProcesses {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the processes of Erlang";
        WalkerSpec { name: "erlprocess", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core().clone();
        for erlang in subject::instances(&core)? {
            let all = &erlang.processes(core.as_ref()).all;
            all.iter().try_for_each(|process| visit(cx, subject::dot(process)))?;
        }
        Ok(())
    }
}
