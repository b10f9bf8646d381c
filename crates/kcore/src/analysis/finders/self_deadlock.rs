//! A thread that locks a mutex again that it holds already.

use crate::{
    Tid,
    analysis::{Confidence, EvidenceSource, Finder, FinderAnswer, FinderScope, Finding, Hang},
    waits::{Lock, LockKind, MutexType},
};

pub const FINDER: Finder = Finder {
    name: "self-deadlock",
    needs: "the registers of all threads, and the mutexes that they wait for",
    scope: FinderScope::Hang(find),
};

fn find(hang: &Hang<'_>) -> FinderAnswer {
    hang.known()?;
    let alone = hang.cycles().iter().filter(|cycle| !hang.has_limit(cycle));
    let mut alone = alone.filter_map(|cycle| match cycle.as_slice() {
        [tid] => Some((*tid, hang.waits().lock_of(*tid).filter(|lock| waits_for_itself(lock))?)),
        _ => None,
    });
    let Some((tid, lock)) = alone.next() else { return Ok(None) };
    let finding = found(hang, tid, lock);
    Ok(Some(alone.fold(finding, |finding, (tid, lock)| {
        finding.with(sentence(hang, tid, lock), EvidenceSource::Lock(lock.at))
    })))
}

/// Whether the owner of a lock that takes it again waits for itself. A recursive or an error-checking mutex never
/// makes its owner wait.
fn waits_for_itself(lock: &Lock) -> bool {
    match lock.kind {
        LockKind::Mutex(kind) => {
            let waits = matches!(kind.mutex_type, MutexType::Normal | MutexType::Adaptive);
            // The kernel refuses to lock such a mutex, and glibc waits for ever elsewhere.
            waits && (!kind.inherits_priority || lock.word != lock.at)
        }
        LockKind::OfLanguage(kind) => !kind.is_recursive,
        _ => false,
    }
}

fn found(hang: &Hang<'_>, tid: Tid, lock: &Lock) -> Finding {
    let is_recorded = lock.records_holder();
    let confidence = match is_recorded && hang.waits().knows_all_threads {
        true => Confidence::Certain,
        false => Confidence::Likely,
    };
    let finding = Finding::new(confidence, sentence(hang, tid, lock));
    let text = match is_recorded {
        true => format!("the mutex says that thread {tid} holds it"),
        false => format!("the code of thread {tid} took it and has not released it"),
    };
    let finding = finding.with(text, EvidenceSource::Lock(lock.at));
    let text = format!("thread {tid} is blocked in the kernel until it is free");
    finding.with(text, EvidenceSource::Stack(tid))
}

fn sentence(hang: &Hang<'_>, tid: Tid, lock: &Lock) -> String {
    let named = hang.named(lock);
    format!("thread {tid} waits for {named}, which it holds itself{}", hang.site(tid))
}
