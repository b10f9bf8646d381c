//! Requests: from anywhere, handlers too, to the one thread that serves them.

use std::sync::atomic::{AtomicU32, Ordering};

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

/// The thread that serves requests.
pub static THREAD: Dormant = Dormant::new();
/// What is asked for. Equal requests are one until it begins to serve them.
static REQUESTS: AtomicU32 = AtomicU32::new(0);

/// Asks for something. A handler may call it. Says whether somebody will serve it.
pub fn post(request: u32) -> bool {
    let before = REQUESTS.fetch_or(request | RUNS, Ordering::AcqRel);
    if before & RUNS != 0 {
        sys::wake(&REQUESTS);
        return true;
    }
    let woken = THREAD.wake(agent::run);
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

/// Forgets all, in a process that was forked off; says whether the thread ran, so that what it worked on is
/// left as it was in the middle.
pub fn forget() -> bool {
    REQUESTS.swap(0, Ordering::AcqRel) & RUNS != 0
}
