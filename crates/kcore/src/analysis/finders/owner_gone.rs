//! A mutex whose owner is no thread of the process.

use crate::{
    MappingKind,
    analysis::{EvidenceSource, Finder, FinderAnswer, FinderScope, Finding, Hang},
    waits::{Holder, Lock, LockKind},
};

pub const FINDER: Finder = Finder {
    name: "owner-gone",
    needs: "the ids of all threads as the process knows them, and the mutexes that they wait for",
    scope: FinderScope::Hang(find),
};

fn find(hang: &Hang<'_>) -> FinderAnswer {
    hang.known()?;
    let private = hang.waits().locks.iter().filter(|lock| !may_be_shared(hang, lock));
    let mut orphans = private.filter_map(|lock| Some((lock, owner_of(lock)?)));
    let Some((lock, id)) = orphans.next() else { return Ok(None) };
    if !hang.waits().knows_all_threads {
        return Err("some threads are not in the core, or their ids in the process are not known");
    }
    let sentence = format!(
        "{} for {}, whose owner is thread {id}, and the process has no such thread: it ended \
         without unlocking the mutex, or was one of the parent before a fork",
        waiters(lock),
        hang.named(lock)
    );
    let text = format!("the mutex says that thread {id} holds it");
    let finding = Finding::certain(sentence).with(text, EvidenceSource::Lock(lock.at));
    let finding = match lock.waiters.first() {
        Some(waiter) => {
            let text = format!("thread {} is blocked in the kernel until it is free", waiter.tid);
            finding.with(text, EvidenceSource::Stack(waiter.tid))
        }
        None => finding,
    };
    Ok(Some(orphans.fold(finding, |finding, (lock, id)| {
        let text =
            format!("{} for {}, whose owner is thread {id}", waiters(lock), hang.named(lock));
        finding.with(text, EvidenceSource::Lock(lock.at))
    })))
}

/// Whether other processes may map the memory of a lock: that of a file which is no module. The kernel lists shared
/// memory without a name as such a file too.
pub fn may_be_shared(hang: &Hang<'_>, lock: &Lock) -> bool {
    let core = hang.core();
    let mapping = core.mapping_at(lock.at);
    let is_of_file = mapping.is_some_and(|it| matches!(it.kind, MappingKind::File { .. }));
    is_of_file && core.modules().at(lock.at).is_none()
}

/// The owner that the process does not have. A thread of another process may hold a mutex that is shared.
fn owner_of(lock: &Lock) -> Option<u32> {
    let LockKind::Mutex(kind) = lock.kind else { return None };
    let waits_for_ever = lock.waiters.iter().any(|waiter| !waiter.has_limit);
    match lock.holder {
        Holder::Absent(id) if !kind.is_shared && waits_for_ever => Some(id),
        _ => None,
    }
}

/// The threads that wait for a lock, as the beginning of a sentence.
pub fn waiters(lock: &Lock) -> String {
    match lock.waiters.as_slice() {
        [waiter] => format!("thread {} waits", waiter.tid),
        waiters => format!("{} threads wait", waiters.len()),
    }
}
