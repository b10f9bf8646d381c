//! The only thread of a process that waits for a lock, which nobody is left to free.

use super::owner_gone::may_be_shared;
use crate::{
    Tid,
    analysis::{EvidenceSource, Finder, FinderAnswer, FinderScope, Finding, Hang},
    waits::{Holder, Lock, LockKind, LockWaiter},
};

pub const FINDER: Finder = Finder {
    name: "nobody-left",
    needs: "the registers of the only thread, and the lock that it waits for",
    scope: FinderScope::Hang(find),
};

fn find(hang: &Hang<'_>) -> FinderAnswer {
    hang.known()?;
    let Some((tid, lock)) = alone(hang) else { return Ok(None) };
    let is_private = !may_be_shared(hang, lock);
    Ok((is_private && is_held(lock)).then(|| finding(hang, tid, lock)))
}

/// The only thread of the process, and what it waits for without a limit of time.
fn alone<'a>(hang: &'a Hang<'_>) -> Option<(Tid, &'a Lock)> {
    let [thread] = hang.core().threads() else { return None };
    let waits_on = |waiter: &LockWaiter| !waiter.has_limit && waiter.is_unchanged;
    let waiter = hang.waits().waiter(thread.tid).filter(|waiter| waits_on(waiter));
    let lock = hang.waits().lock_of(waiter?.tid)?;
    hang.waits().knows_all_threads.then_some((thread.tid, lock))
}

/// Whether it is held until somebody frees it, or begun until somebody ends it, without a record of who does. What waits
/// for an event may be woken by the handler of a signal.
fn is_held(lock: &Lock) -> bool {
    let frees = matches!(
        lock.kind,
        LockKind::MuslMutex
            | LockKind::ReadWriteLock
            | LockKind::RustMutex
            | LockKind::RustRwLock
            | LockKind::Arena
            | LockKind::Once
            | LockKind::RustOnce
            | LockKind::StaticGuard
    );
    frees && matches!(lock.holder, Holder::NotRecorded | Holder::Readers(_))
}

fn finding(hang: &Hang<'_>, tid: Tid, lock: &Lock) -> Finding {
    let named = hang.named(lock);
    let sentence = format!(
        "thread {tid} waits for {named}, and the process has no other thread that could free it: thread {tid} took it \
         before, or a thread that has ended, or that the parent had before a fork{}",
        hang.site(tid)
    );
    let finding = Finding::certain(sentence);
    let finding = finding.with(format!("{named} is held"), EvidenceSource::Lock(lock.at));
    let text = format!("thread {tid} is the only one, and blocked in the kernel until it is free");
    finding.with(text, EvidenceSource::Stack(tid))
}
