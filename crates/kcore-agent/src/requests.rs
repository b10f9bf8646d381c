//! Requests: from anywhere, handlers too, to the one thread that serves them.

use std::{
    sync::atomic::{AtomicU32, AtomicUsize, Ordering},
    time::Duration,
};

use crate::{
    agent,
    sys::{self, Dormant},
};

/// That the thread runs, or is about to.
const RUNS: u32 = 1;
/// Stacks are to be written to standard error.
pub const STACKS: u32 = 2;
/// A profile is to begin, or to end.
pub const PROFILE: u32 = 4;
/// The program waits for stacks.
pub const CALL: u32 = 8;

/// Bytes of the stack of the thread that serves requests.
const STACK: usize = 2 << 20;

/// Threads that can serve requests. One of them is in use; the other one is there for a process that is forked
/// off while that one runs, and is made by it first of all.
static THREADS: [Dormant; 2] = [Dormant::new(), Dormant::new()];
/// Which one is in use.
static CURRENT: AtomicUsize = AtomicUsize::new(0);
/// What is asked for. Equal requests are one until it begins to serve them.
static REQUESTS: AtomicU32 = AtomicU32::new(0);

/// Makes the thread that serves requests. Says whether that went well.
pub fn make_thread() -> bool {
    thread(0).is_some_and(|thread| thread.make(STACK))
}

/// What the thread does first.
pub fn enter() {
    if let Some(thread) = thread(0) {
        thread.enter();
    }
    if let Some(spare) = thread(1).filter(|spare| !spare.is_made()) {
        spare.make(STACK);
    }
}

/// The thread in use, or the one so many behind it.
fn thread(behind: usize) -> Option<&'static Dormant> {
    let at = CURRENT.load(Ordering::Acquire).wrapping_add(behind);
    THREADS.get(at & 1)
}

/// Asks for something. A handler may call it. Says whether somebody will serve it.
pub fn post(request: u32) -> bool {
    let before = REQUESTS.fetch_or(request | RUNS, Ordering::AcqRel);
    if before & RUNS != 0 {
        sys::wake(&REQUESTS);
        return true;
    }
    let woken = thread(0).is_some_and(|thread| thread.wake(agent::run));
    if !woken {
        REQUESTS.store(0, Ordering::Release);
    }
    woken
}

/// Takes what is asked for; `None` when there is nothing, and the thread is to end: from then on a request
/// wakes another one.
pub fn take_or_end() -> Option<u32> {
    let taken = REQUESTS.fetch_and(RUNS, Ordering::AcqRel) & !RUNS;
    if taken != 0 {
        return Some(taken);
    }
    let ended = REQUESTS.compare_exchange(RUNS, 0, Ordering::AcqRel, Ordering::Acquire);
    if ended.is_ok() { None } else { Some(0) }
}

/// Waits for a request, for so long at most, and takes what there is.
pub fn take_within(most: Duration) -> u32 {
    sys::wait(&REQUESTS, RUNS, Some(most));
    REQUESTS.fetch_and(RUNS, Ordering::AcqRel) & !RUNS
}

/// Forgets all, in a process that was forked off; says whether the thread ran, so that what it worked on is
/// left as it was in the middle.
pub fn forget() -> bool {
    let ran = REQUESTS.swap(0, Ordering::AcqRel) & RUNS != 0;
    if ran && let Some(thread) = thread(0) {
        thread.forget();
        CURRENT.fetch_add(1, Ordering::AcqRel);
    }
    ran
}
