//! Requests: from anywhere, handlers too, to the one thread that serves them.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
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
/// kcore waits for stacks, in another process.
pub const ASK: u32 = 16;

/// The thread that serves requests.
static THREAD: Dormant = Dormant::new();
/// What is asked for. Equal requests are one until it begins to serve them.
static REQUESTS: AtomicU32 = AtomicU32::new(0);
/// Whether the thread had to be given up: nothing is served any more.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Makes the thread that serves requests.
///
/// # Errors
/// The system's error number.
pub fn make_thread() -> Result<(), i32> {
    THREAD.make()
}

/// What the thread does first.
pub fn enter() {
    THREAD.enter();
}

/// Whether the thread that asks is the one that serves requests.
pub fn is_own_thread() -> bool {
    THREAD.is_current()
}

/// Why nobody will serve a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The thread was given up.
    GivenUp,
    /// The system does not let it run, with this error number.
    System(i32),
}

/// Asks for something. A handler may call it.
///
/// # Errors
/// When nobody will serve it.
pub fn post(request: u32) -> Result<(), Refused> {
    let before = REQUESTS.fetch_or(request | RUNS, Ordering::AcqRel);
    if is_given_up() {
        return Err(Refused::GivenUp);
    }
    if before & RUNS != 0 {
        sys::wake(&REQUESTS);
        return Ok(());
    }
    THREAD.wake(agent::run).map_err(|error| {
        REQUESTS.store(0, Ordering::Release);
        Refused::System(error)
    })
}

/// Serves nothing any more, in this process and in those that it forks off: what the thread was in the middle of
/// stays as it is.
pub fn give_up() {
    GIVEN_UP.store(true, Ordering::Release);
}

/// Whether the thread was given up.
pub fn is_given_up() -> bool {
    GIVEN_UP.load(Ordering::Acquire)
}

/// Takes what is asked for; `None` when there is nothing, and the thread is to end: from then on a request
/// wakes it again.
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
    THREAD.forget(ran);
    ran
}
