//! The walkers `lock` and `waiter`.

use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use super::lock_at;

/// Steps over what threads wait for.
pub struct WalkLock;

impl Walker for WalkLock {
    fn spec(&self) -> WalkerSpec {
        WalkerSpec {
            name: "lock",
            summary: "walk the locks that threads wait for",
            addr: AddrUse::None,
        }
    }

    fn walk(&self, cx: &mut Cx<'_>, _from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let waits = cx.core().waits();
        waits.locks.iter().try_for_each(|lock| visit(cx, Dot::Addr(lock.at)))
    }
}

/// Steps over the threads that wait for a lock.
pub struct WalkWaiter;

impl Walker for WalkWaiter {
    fn spec(&self) -> WalkerSpec {
        WalkerSpec {
            name: "waiter",
            summary: "walk the threads that wait for a lock",
            addr: AddrUse::Required,
        }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let waits = cx.core().waits();
        let lock = lock_at(waits, from.unwrap_or_default().addr())?;
        lock.waiters.iter().try_for_each(|waiter| visit(cx, Dot::Thread(waiter.tid)))
    }
}
