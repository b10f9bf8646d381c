//! Threads that wait for each other's locks of Rust's standard library, which record no owner: the guards in the variables of
//! their functions tell who took which.

use std::collections::BTreeMap;

use kcore_mem::{Addr, AddrRange};

use crate::{
    Core, FrameVariable, Tid,
    analysis::{EvidenceSource, Finder, FinderAnswer, FinderScope, Finding, Hang},
    waits::{Holder, Lock, LockKind},
};

/// Frames of a thread whose variables are looked at.
const FRAMES: usize = 64;
const OWN_FRAMES: usize = 16;
/// Threads that are looked at.
const MAX_THREADS: usize = 64;
/// How the names of guards' types begin, behind their modules, and the members that lead to the lock
/// (`library/std/src/sync/poison/{mutex,rwlock}.rs`, Rust 1.63 to 1.95).
const GUARDS: [&str; 3] = ["MutexGuard<", "RwLockWriteGuard<", "RwLockReadGuard<"];
const LOCKS: [&str; 2] = ["lock", "inner_lock"];
const MODULE: &str = "std::sync::";

pub const FINDER: Finder = Finder {
    name: "guard-deadlock",
    needs: "debug information of the functions that wait for Rust's locks",
    scope: FinderScope::Hang(find),
};

/// A guard in a variable of a function.
#[derive(Clone, Debug)]
struct Guard {
    holder: Tid,
    variable: String,
    function: String,
    /// The lock, whose words are somewhere in it.
    lock: AddrRange,
}

/// A thread, the lock that it waits for, and the guard of that by which another one has it.
type Step<'a> = (Tid, &'a Lock, Guard);

fn find(hang: &Hang<'_>) -> FinderAnswer {
    hang.known()?;
    let locks = hang.waits().locks.iter().filter(|lock| is_held(lock));
    let waiters = locks.flat_map(|lock| lock.waiters.iter().map(move |waiter| (waiter, lock)));
    let endless = waiters.filter(|(waiter, _)| !waiter.has_limit);
    let waiting: BTreeMap<Tid, &Lock> = endless.map(|(waiter, lock)| (waiter.tid, lock)).collect();
    if waiting.len() < 2 || waiting.len() > MAX_THREADS || !are_all_blocked(hang) {
        return Ok(None);
    }
    let guards: Vec<Guard> = waiting.keys().flat_map(|tid| guards_of(hang.core(), *tid)).collect();
    let steps = waiting.iter().filter_map(|(tid, lock)| {
        let guard = only_guard(&guards, lock)?;
        Some((*tid, (*tid, *lock, guard)))
    });
    let steps: BTreeMap<Tid, Step<'_>> = steps.collect();
    Ok(circle(&steps).map(|circle| finding(hang, &circle)))
}

/// Whether no thread runs: one that does may have the locks, and give them back.
fn are_all_blocked(hang: &Hang<'_>) -> bool {
    let waits = hang.waits();
    let is_blocked = |tid| waits.lock_of(tid).is_some() || waits.kernel_wait(tid).is_some();
    hang.core().threads().iter().all(|thread| is_blocked(thread.tid))
}

/// Whether it is a lock that somebody has, and nothing records who.
fn is_held(lock: &Lock) -> bool {
    let is_of_rust = matches!(lock.kind, LockKind::RustMutex | LockKind::RustRwLock);
    is_of_rust && matches!(lock.holder, Holder::NotRecorded | Holder::Readers(1))
}

/// The guard of a lock, if one thread alone has one.
fn only_guard(guards: &[Guard], lock: &Lock) -> Option<Guard> {
    let mut found = guards.iter().filter(|guard| guard.lock.contains(lock.at));
    let first = found.next()?;
    found.all(|other| other.holder == first.holder).then(|| first.clone())
}

/// The first circle of several threads each of which waits for what the next one has. A guard that a thread has of the lock
/// that it waits for itself may be one that it has dropped.
fn circle<'a>(steps: &BTreeMap<Tid, Step<'a>>) -> Option<Vec<Step<'a>>> {
    steps.keys().find_map(|start| {
        let mut path: Vec<Step<'a>> = Vec::new();
        let mut next = *start;
        while let Some(step) = steps.get(&next).filter(|_| path.len() < steps.len()) {
            path.push(step.clone());
            next = step.2.holder;
            if next == *start {
                return (path.len() > 1).then_some(path);
            }
        }
        None
    })
}

/// The guards in the variables of a thread's functions.
fn guards_of(core: &Core, tid: Tid) -> Vec<Guard> {
    let stack = core.stacks().of_thread(tid, FRAMES);
    let frames = core.stacks().known_frames(&stack, FRAMES);
    let own = core.stacks().own_frames(&stack).take_while(|frame| !frame.is_guess());
    let guards = own.take(OWN_FRAMES).flat_map(|frame| {
        let function = frame.location.function.clone();
        let variables = frames.variables(&frame).unwrap_or_default().into_iter();
        variables.filter_map(move |variable| {
            let (variable, lock) = guarded(core, &variable)?;
            Some(Guard { holder: tid, variable, function: function.as_deref()?.to_owned(), lock })
        })
    });
    guards.collect()
}

/// The name of a variable that is a guard, and the lock that it guards.
fn guarded(core: &Core, variable: &FrameVariable) -> Option<(String, AddrRange)> {
    let name = variable.ty.as_ref()?.spelled();
    let is_guard = name.starts_with(MODULE) && GUARDS.iter().any(|guard| name.contains(guard));
    let object = variable.object.as_ref().ok().filter(|_| is_guard)?;
    let mut members = LOCKS.iter().filter_map(|lock| object.member(core, lock).ok());
    let pointer = members.next()?;
    let start: Addr = pointer.pointer(core).ok()?;
    let size = pointer.target(core).ok()?.ty.size()?;
    Some((variable.name.as_deref()?.to_owned(), AddrRange::with_len(start, size)))
}

fn finding(hang: &Hang<'_>, circle: &[Step<'_>]) -> Finding {
    let steps = circle.iter().map(|(tid, lock, guard)| {
        let named = hang.named(lock);
        let (holder, variable, function) = (guard.holder, &guard.variable, &guard.function);
        format!("thread {tid} waits for {named}, of which thread {holder} has the guard {variable} in {function}")
    });
    let steps: Vec<String> = steps.collect();
    let sentence = format!("{} threads wait for each other: {}", circle.len(), steps.join("; "));
    // A guard that was dropped or moved may be left in its variable.
    circle.iter().fold(Finding::likely(sentence), |finding, (tid, lock, guard)| {
        let text = format!("thread {tid} is blocked in the kernel{}", hang.site(*tid));
        let finding = finding.with(text, EvidenceSource::Stack(*tid));
        let text = format!("it is held, and {} guards it", guard.variable);
        finding.with(text, EvidenceSource::Lock(lock.at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::LockProof;

    fn lock(at: u64) -> Lock {
        Lock {
            kind: LockKind::RustMutex,
            at: Addr::new(at),
            word: Addr::new(at),
            value: Some(2),
            holder: Holder::NotRecorded,
            proof: LockProof::Function,
            waiters: Vec::new(),
        }
    }

    fn guard(holder: u32, at: u64) -> Guard {
        Guard {
            holder: Tid::new(holder),
            variable: "g".to_owned(),
            function: "f".to_owned(),
            lock: AddrRange::with_len(Addr::new(at), 16),
        }
    }

    #[test]
    fn a_lock_that_two_threads_have_a_guard_of_has_no_known_holder() {
        let guards = [guard(1, 0x100), guard(1, 0x100), guard(2, 0x200), guard(3, 0x200)];
        let holder = |at| only_guard(&guards, &lock(at)).map(|guard| guard.holder.get());
        assert_eq!((holder(0x108), holder(0x200), holder(0x110)), (Some(1), None, None));
    }

    #[test]
    fn threads_go_round_in_a_circle_or_not() {
        let (a, b, c) = (lock(0x100), lock(0x200), lock(0x300));
        let step = |tid, lock, holder| (Tid::new(tid), (Tid::new(tid), lock, guard(holder, 0)));
        let tids = |steps: &[(Tid, Step<'_>)]| {
            let steps: BTreeMap<Tid, Step<'_>> = steps.iter().cloned().collect();
            let circle = circle(&steps)?;
            Some(circle.iter().map(|(tid, ..)| tid.get()).collect::<Vec<_>>())
        };
        assert_eq!(tids(&[step(1, &a, 2), step(2, &b, 1)]), Some(vec![1, 2]));
        assert_eq!(tids(&[step(1, &a, 2), step(2, &b, 3), step(3, &c, 2)]), Some(vec![2, 3]));
        assert_eq!(tids(&[step(1, &a, 2), step(2, &b, 9)]), None);
        assert_eq!(tids(&[step(1, &a, 1)]), None, "it may have dropped the guard");
    }
}
