//! Walker `bthread`: every bthread that has not ended.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the bthreads, in the order of their slots.
pub struct Bthreads;

impl Walker for Bthreads {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the bthreads of bRPC that have not ended";
        WalkerSpec { name: "bthread", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let bthreads = subject::all(cx.core())?;
        bthreads.iter().try_for_each(|bthread| visit(cx, Dot::Task(subject::id(bthread))))
    }
}
