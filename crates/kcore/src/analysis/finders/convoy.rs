//! Many threads that wait for what one holds, which is blocked itself: one lock, or several, such as those of a table of
//! locks.

use std::{cmp::Reverse, collections::BTreeMap};

use super::owner_gone::waiters;
use crate::{
    Tid,
    analysis::{EvidenceSource, Finder, FinderAnswer, FinderScope, Finding, Hang},
    waits::{KernelWait, Lock, LockKind},
};

/// Threads that make a convoy. Two wait for a moment in many a healthy process.
const CONVOY: usize = 3;

/// Locks of one thread that are named.
const NAMED: usize = 4;

/// System calls in which threads wait for new work.
const WORK: [&str; 9] = [
    "accept",
    "accept4",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "poll",
    "ppoll",
    "select",
    "pselect6",
];

/// The lock of Python's interpreter.
const GIL: &str = "gil";

pub const FINDER: Finder = Finder {
    name: "lock-convoy",
    needs: "the registers of all threads, and the locks that they wait for",
    scope: FinderScope::Hang(find),
};

/// The locks are in the order of their waiters, so that the first is the longest convoy.
fn find(hang: &Hang<'_>) -> FinderAnswer {
    hang.known()?;
    let mut convoys = hang.waits().locks.iter().filter_map(|lock| found(hang, lock));
    Ok(convoys.next().or_else(|| behind_several(hang)))
}

/// How many threads make a convoy behind a lock of a kind. A thread that is blocked in the kernel gives up Python's lock
/// of its interpreter first, as long as its code does what Python asks.
fn least(kind: LockKind) -> usize {
    match kind {
        LockKind::Join => usize::MAX,
        LockKind::OfLanguage(kind) if kind.word == GIL => 1,
        _ => CONVOY,
    }
}

fn found(hang: &Hang<'_>, lock: &Lock) -> Option<Finding> {
    let owner = hang.waits().blocker(lock.waiters.first()?.tid)?;
    let is_other = is_in_circle(hang, owner) || hang.crashed_in(owner);
    if lock.waiters.len() < least(lock.kind) || is_other || may_be_well(hang, lock, owner) {
        return None;
    }
    let (does, shown) = hang.blocked(owner)?;
    let sentence = format!(
        "{} for {}, which thread {owner} holds; that thread {does}{}",
        waiters(lock),
        hang.named(lock),
        hang.site(owner)
    );
    let finding = Finding::likely(sentence);
    let text = match lock.records_holder() {
        true => format!("memory records that thread {owner} holds it"),
        false => format!("the code of thread {owner} took it and has not released it"),
    };
    let finding = finding.with(text, EvidenceSource::Lock(lock.at));
    let finding = finding.with(format!("thread {owner} {does}"), shown);
    Some(finding.then_ask("why it does not go on", EvidenceSource::Stack(owner)))
}

/// The threads behind several locks that one thread holds, of the thread that holds up the most.
fn behind_several(hang: &Hang<'_>) -> Option<Finding> {
    let mut held: BTreeMap<Tid, Vec<&Lock>> = BTreeMap::new();
    for lock in hang.waits().locks.iter().filter(|lock| least(lock.kind) == CONVOY) {
        let owner = lock.waiters.first().and_then(|waiter| hang.waits().blocker(waiter.tid));
        if let Some(owner) = owner.filter(|_| lock.records_holder()) {
            held.entry(owner).or_default().push(lock);
        }
    }
    let counted = held.into_iter().map(|(owner, locks)| {
        let waiters = locks.iter().map(|lock| lock.waiters.len()).fold(0, usize::saturating_add);
        (waiters, owner, locks)
    });
    let mut convoys: Vec<_> =
        counted.filter(|(waiters, _, locks)| *waiters >= CONVOY && locks.len() > 1).collect();
    convoys.sort_by_key(|(waiters, ..)| Reverse(*waiters));
    convoys.into_iter().find_map(|(waiters, owner, locks)| {
        (!is_in_circle(hang, owner) && !hang.crashed_in(owner)).then_some(())?;
        behind(hang, waiters, owner, &locks)
    })
}

fn behind(hang: &Hang<'_>, waiters: usize, owner: Tid, locks: &[&Lock]) -> Option<Finding> {
    let (does, shown) = hang.blocked(owner)?;
    let sentence = format!(
        "{waiters} threads wait for {} locks, all of which thread {owner} holds; that thread {does}{}",
        locks.len(),
        hang.site(owner)
    );
    let named = locks.iter().take(NAMED).fold(Finding::likely(sentence), |finding, lock| {
        let text = format!("memory records that thread {owner} holds {}", hang.named(lock));
        finding.with(text, EvidenceSource::Lock(lock.at))
    });
    let finding = named.with(format!("thread {owner} {does}"), shown);
    Some(finding.then_ask("why it does not go on", EvidenceSource::Stack(owner)))
}

/// Whether a thread that holds one lock may be as it should: it waits for new work, as one thread of a pool does for all,
/// or its wait ends by itself. Nobody is to hold the lock of Python's interpreter in either.
fn may_be_well(hang: &Hang<'_>, lock: &Lock, owner: Tid) -> bool {
    let is_such =
        |wait: &KernelWait| wait.has_limit == Some(true) || WORK.contains(&wait.call.as_str());
    least(lock.kind) == CONVOY && hang.waits().kernel_wait(owner).is_some_and(is_such)
}

/// Whether a thread waits for one that waits for itself in the end: that explains more.
fn is_in_circle(hang: &Hang<'_>, tid: Tid) -> bool {
    let in_circle = |cycle: &Vec<Tid>| cycle.contains(&tid) || hang.leads_to(tid, cycle);
    hang.cycles().iter().any(in_circle)
}
