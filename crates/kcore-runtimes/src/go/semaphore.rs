//! What goroutines wait for that are in a queue of the semaphores of `sync` (`runtime/sema.go`, `semacquire1`).
//!
//! The record of the wait, a `runtime.sudog`, is found on the stack of the goroutine, to which it points back: no table of
//! the runtime is needed, which has no name in stripped programs.

use kcore_mem::{Addr, AddressSpace};

use super::{Go, goroutine::Goroutine};
use crate::Host;

/// Words of the innermost frames, at most: those of `runtime.gopark` and `runtime.semacquire1`.
const WORDS: u64 = 64;
/// Fields of a `runtime.sudog` that lie alike in all versions.
const GOROUTINE: u64 = 0;
const ELEMENT: u64 = 24;
/// The kind of a wait group.
const WAIT_GROUP: &str = "sync.WaitGroup";

/// What a goroutine waits for: a part of `sync`, or a bare semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Semaphore {
    /// `sync.Mutex`, `sync.RWMutex`, `sync.WaitGroup`; `semaphore` where the reason does not tell.
    pub kind: &'static str,
    /// Where that lies.
    pub at: Addr,
    /// Of a `sync.WaitGroup`, how often `Done` must still be called.
    pub not_done: Option<u64>,
}

/// What a reason says: the kind, and how far behind its beginning the semaphore lies (`sync/mutex.go`,
/// `sync/rwmutex.go`, `internal/sync/mutex.go`, `sync/waitgroup.go`). Since Go 1.24 wait groups have reasons of their own.
fn of_reason(reason: &str) -> Option<(&'static str, u64)> {
    match reason {
        "sync.Mutex.Lock" => Some(("sync.Mutex", 4)),
        "sync.RWMutex.Lock" => Some(("sync.RWMutex", 8)),
        "sync.RWMutex.RLock" => Some(("sync.RWMutex", 12)),
        "sync.WaitGroup.Wait" | "sync.WaitGroup.Wait (durable)" => Some((WAIT_GROUP, 8)),
        "semacquire" => Some(("semaphore", 0)),
        _ => None,
    }
}

/// How often `Done` must still be called for the `sync.WaitGroup` at an address: the upper half of its state.
fn not_done(space: &dyn AddressSpace, at: Addr) -> Option<u64> {
    let counter = space.read_uint(at.checked_add(4)?, 4).ok()?;
    (i32::try_from(counter).is_ok()).then_some(counter)
}

impl Go {
    /// The semaphore that a goroutine waits for, if it does.
    pub fn semaphore(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<Semaphore> {
        let (kind, behind) = of_reason(goroutine.reason?)?;
        let sp = goroutine.saved.sp.filter(|sp| goroutine.stack.contains(*sp))?;
        let space = host.space();
        let end = sp.saturating_add(WORDS.saturating_mul(8)).min(goroutine.stack.end);
        let found = (sp.get()..end.get()).step_by(8).find_map(|at| {
            let record = space.read_addr(Addr::new(at)).ok().filter(|at| at.get() & 7 == 0)?;
            self.awaited(space, goroutine, record)
        })?;
        let at = found.get().checked_sub(behind).map(Addr::new)?;
        let not_done = (kind == WAIT_GROUP).then(|| not_done(space, at)).flatten();
        Some(Semaphore { kind, at, not_done })
    }

    /// Where the semaphore lies that a record of a wait is about, if it is one of this goroutine.
    fn awaited(&self, space: &dyn AddressSpace, goroutine: &Goroutine, at: Addr) -> Option<Addr> {
        let field = |offset: u64| space.read_addr(at.checked_add(offset)?).ok();
        (field(GOROUTINE)? == goroutine.at).then_some(())?;
        let has_channel = field(self.layout.channel)?.get() != 0;
        field(ELEMENT).filter(|at| at.get() != 0 && !has_channel)
    }
}
