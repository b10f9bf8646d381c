//! What goroutines wait for that are in a queue of the semaphores of `sync` (`runtime/sema.go`, `semacquire1`), or of a
//! condition (`notifyListWait`).
//!
//! The record of the wait, a `runtime.sudog`, is found on the stack of the goroutine, to which it points back: no table of
//! the runtime is needed, which has no name in stripped programs.

use kcore_mem::{Addr, AddressSpace};

use super::{Go, goroutine::Goroutine, lock_kind::LockKind};
use crate::Host;

/// Words of the innermost frames, at most: those of `runtime.gopark` and `runtime.semacquire1`.
const WORDS: u64 = 64;
/// Fields of a `runtime.sudog` that lie alike in all versions.
const GOROUTINE: u64 = 0;
const ELEMENT: u64 = 24;
const NEXT: u64 = 8;
/// The kind of a wait group.
pub const WAIT_GROUP: &str = "sync.WaitGroup";
/// The reason of who waits for a condition, and where `sync.Cond` has the list of those (`sync/cond.go`).
const CONDITION: &str = "sync.Cond.Wait";
const LIST: u64 = 16;
/// The first and the last of a `runtime.notifyList`, and how many are looked at of those between them.
const HEAD: u64 = 16;
const TAIL: u64 = 24;
const MAX_LISTED: usize = 1 << 10;

/// What a goroutine waits for: a part of `sync`, or a bare semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Semaphore {
    /// `sync.Mutex`, `sync.RWMutex`, `sync.WaitGroup`, `sync.Once`, `sync.Cond`; `semaphore` where neither the stack nor
    /// the reason tells.
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

/// What the innermost words of the stack of a goroutine refer to, as far as that may be a structure.
pub(super) fn words<'a>(
    space: &'a dyn AddressSpace,
    goroutine: &Goroutine,
) -> impl Iterator<Item = Addr> + 'a {
    let sp = goroutine.saved.sp.filter(|sp| goroutine.stack.contains(*sp));
    let start = sp.unwrap_or(goroutine.stack.end);
    let end = start.saturating_add(WORDS.saturating_mul(8)).min(goroutine.stack.end);
    let all =
        (start.get()..end.get()).step_by(8).filter_map(|at| space.read_addr(Addr::new(at)).ok());
    all.filter(|word| word.get() != 0 && word.get() & 7 == 0)
}

impl Go {
    /// The semaphore or condition that a goroutine waits for, if it does.
    pub fn semaphore(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<Semaphore> {
        let reason = goroutine.reason?;
        if reason == CONDITION {
            return self.condition(host, goroutine);
        }
        let by_reason = of_reason(reason)?;
        let space = host.space();
        let found =
            words(space, goroutine).find_map(|word| self.awaited(space, goroutine, word))?;
        let by_stack = self.lock_kind(host, goroutine);
        let (kind, behind) = by_stack.map_or(by_reason, LockKind::of_semaphore);
        let at = found.get().checked_sub(behind).map(Addr::new)?;
        let not_done = (kind == WAIT_GROUP).then(|| not_done(space, at)).flatten();
        Some(Semaphore { kind, at, not_done })
    }

    /// The condition that a goroutine waits for: the list on its stack that it is in.
    fn condition(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<Semaphore> {
        let mut words = words(host.space(), goroutine);
        let list = words.find(|list| self.is_listed(host, *list, goroutine).unwrap_or_default())?;
        let at = Addr::new(list.get().checked_sub(LIST)?);
        Some(Semaphore { kind: "sync.Cond", at, not_done: None })
    }

    /// Whether the `runtime.notifyList` at an address, if one lies there, has a goroutine. Of a long one it is enough that
    /// both its ends are records of waits.
    fn is_listed(&self, host: &dyn Host, list: Addr, goroutine: &Goroutine) -> Option<bool> {
        let field = |at: Addr, offset: u64| {
            host.space().read_addr(at.checked_add(offset)?).ok().filter(|at| at.get() & 7 == 0)
        };
        let waits = |record: Addr| {
            let found = self.goroutines(host).lying_at(field(record, GOROUTINE)?)?;
            (found.reason == Some(CONDITION)).then_some(found.at)
        };
        let (head, tail) = (field(list, HEAD)?, field(list, TAIL)?);
        let (first, last) = (waits(head)?, waits(tail)?);
        if [first, last].contains(&goroutine.at) {
            return Some(true);
        }
        let mut next = head;
        for _ in 0..MAX_LISTED {
            next = field(next, NEXT)?;
            if waits(next)? == goroutine.at {
                return Some(true);
            }
        }
        Some(true)
    }

    /// Where the semaphore lies that a record of a wait is about, if it is one of this goroutine.
    fn awaited(&self, space: &dyn AddressSpace, goroutine: &Goroutine, at: Addr) -> Option<Addr> {
        let field = |offset: u64| space.read_addr(at.checked_add(offset)?).ok();
        (field(GOROUTINE)? == goroutine.at).then_some(())?;
        let has_channel = field(self.layout.channel)?.get() != 0;
        field(ELEMENT).filter(|at| at.get() != 0 && !has_channel)
    }
}
