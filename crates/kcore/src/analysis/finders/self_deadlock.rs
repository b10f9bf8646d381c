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

/// Whether the owner of a mutex that locks it again waits for itself. A recursive or an error-checking mutex never
/// makes its owner wait, and the kernel refuses to lock one whose owner inherits priority.
fn waits_for_itself(lock: &Lock) -> bool {
    let LockKind::Mutex(kind) = lock.kind else { return false };
    matches!(kind.mutex_type, MutexType::Normal | MutexType::Adaptive) && !kind.inherits_priority
}

fn found(hang: &Hang<'_>, tid: Tid, lock: &Lock) -> Finding {
    let confidence = match hang.waits().knows_all_threads {
        true => Confidence::Certain,
        false => Confidence::Likely,
    };
    let finding = Finding::new(confidence, sentence(hang, tid, lock));
    let text = format!("the mutex says that thread {tid} holds it");
    let finding = finding.with(text, EvidenceSource::Lock(lock.at));
    let text = format!("thread {tid} is blocked in the kernel until it is free");
    finding.with(text, EvidenceSource::Stack(tid))
}

fn sentence(hang: &Hang<'_>, tid: Tid, lock: &Lock) -> String {
    let named = hang.named(lock);
    format!("thread {tid} waits for {named}, which it holds itself{}", hang.site(tid))
}
