//! Walker `javathread`: every thread of Java that a thread of the system runs.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the threads of Java, in the order of the virtual machine.
pub struct Javathreads;

impl Walker for Javathreads {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the threads of Java";
        WalkerSpec { name: "javathread", summary, addr: AddrUse::None }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        subject::note_damage(cx)?;
        let threads = subject::threads(cx.core())?;
        let mut of_system = threads.iter().filter_map(|thread| thread.tid);
        of_system.try_for_each(|tid| visit(cx, Dot::Thread(tid)))
    }
}
