//! The program asks for its own stacks.

#![allow(unsafe_code)]

use std::{
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering},
};

use crate::{error::AgentError, install::is_installed, report::Stacks, requests, sys};

/// The thread that asks; 0 when none does.
static ASKS: AtomicU32 = AtomicU32::new(0);
/// Rises with each answer.
static ANSWERS: AtomicU32 = AtomicU32::new(0);
static ANSWER: AtomicPtr<Result<Stacks, AgentError>> = AtomicPtr::new(ptr::null_mut());

/// The unique stacks of all threads of this process, also of the one that asks. Waits until they are there;
/// several threads that ask at the same time get them one after the other. Not for a signal handler.
///
/// # Errors
/// When the agent was not installed, or the system does not tell of the process.
pub fn stacks() -> Result<Stacks, AgentError> {
    if !is_installed() {
        return Err(AgentError::NotInstalled);
    }
    let _turn = Turn::take();
    let seen = ANSWERS.load(Ordering::Acquire);
    requests::post(requests::CALL)?;
    while ANSWERS.load(Ordering::Acquire) == seen {
        sys::wait(&ANSWERS, seen, None);
    }
    let answer = ANSWER.swap(ptr::null_mut(), Ordering::AcqRel);
    if answer.is_null() {
        return Err(if requests::is_given_up() { AgentError::GivenUp } else { AgentError::Failed });
    }
    // SAFETY: `answer` leaked a box, which is taken once.
    *unsafe { Box::from_raw(answer) }
}

/// Gives the answer to the thread that asks, if there is one.
pub fn answer(answer: Result<Stacks, AgentError>) {
    if ASKS.load(Ordering::Acquire) == 0 {
        return;
    }
    let old = ANSWER.swap(Box::into_raw(Box::new(answer)), Ordering::AcqRel);
    if !old.is_null() {
        // SAFETY: as above: nobody has taken it.
        drop(unsafe { Box::from_raw(old) });
    }
    ANSWERS.fetch_add(1, Ordering::AcqRel);
    sys::wake(&ANSWERS);
}

/// Tells the thread that asks, if there is one, that there will be no answer. It takes no memory.
pub fn answer_nothing() {
    ANSWERS.fetch_add(1, Ordering::AcqRel);
    sys::wake(&ANSWERS);
}

/// Forgets who asked, in a process that was forked off.
pub fn forget() {
    ASKS.store(0, Ordering::Release);
    ANSWER.store(ptr::null_mut(), Ordering::Release);
}

/// The turn of one thread to ask.
struct Turn;

impl Turn {
    fn take() -> Self {
        let own = sys::thread_id().unsigned_abs();
        while let Err(other) = ASKS.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire) {
            sys::wait(&ASKS, other, None);
        }
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        ASKS.store(0, Ordering::Release);
        sys::wake(&ASKS);
    }
}
