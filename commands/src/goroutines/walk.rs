//! Walker `goroutine`: every goroutine that has not ended.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the goroutines, in the order of the runtime's list.
pub struct Goroutines;

impl Walker for Goroutines {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the goroutines of Go that have not ended";
        WalkerSpec { name: "goroutine", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        subject::note_damage(cx)?;
        let mut goroutines = subject::all(cx.core())?;
        goroutines.try_for_each(|goroutine| visit(cx, Dot::Task(subject::id(&goroutine))))
    }
}
