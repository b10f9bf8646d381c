//! The program asks for its own stacks.

#![allow(unsafe_code)]

use std::{
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering},
    time::{Duration, Instant},
};

use crate::{
    error::AgentError,
    install::{answer_time, is_installed},
    report::Stacks,
    requests, sys,
};

/// The thread that asks; 0 when none does.
static ASKS: AtomicU32 = AtomicU32::new(0);
/// The number of the question that was asked last.
static ASKED: AtomicU32 = AtomicU32::new(0);
/// The question that is being answered: one whose thread has gone away is not answered to the next.
static SERVED: AtomicU32 = AtomicU32::new(0);
/// The question that was answered last.
static ANSWERED: AtomicU32 = AtomicU32::new(0);
static ANSWER: AtomicPtr<Result<Stacks, AgentError>> = AtomicPtr::new(ptr::null_mut());

/// The unique stacks of all threads of this process, also of the one that asks. Waits until they are there, for as
/// long as [`Settings::answer_time`](crate::Settings::answer_time); several threads that ask at the same time get
/// them one after the other. Not for a signal handler.
///
/// # Errors
/// When the agent was not installed, the system does not tell of the process, or no answer came in time.
pub fn stacks() -> Result<Stacks, AgentError> {
    if !is_installed() {
        return Err(AgentError::NotInstalled);
    }
    let patience = Patience { begun: Instant::now(), most: answer_time() };
    let _turn = Turn::take(&patience)?;
    let question = ASKED.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
    requests::post(requests::CALL)?;
    loop {
        let answered = ANSWERED.load(Ordering::Acquire);
        if answered == question {
            break;
        }
        sys::wait(&ANSWERED, answered, Some(patience.left()?));
    }
    let answer = ANSWER.swap(ptr::null_mut(), Ordering::AcqRel);
    if answer.is_null() {
        return Err(if requests::is_given_up() { AgentError::GivenUp } else { AgentError::Failed });
    }
    // SAFETY: `answer` leaked a box, which is taken once.
    *unsafe { Box::from_raw(answer) }
}

/// Begins to answer the question that was asked last.
pub fn begin() {
    SERVED.store(ASKED.load(Ordering::Acquire), Ordering::Release);
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
    ANSWERED.store(SERVED.load(Ordering::Acquire), Ordering::Release);
    sys::wake(&ANSWERED);
}

/// Tells the thread that asks, if there is one, that there will be no answer. It takes no memory.
pub fn answer_nothing() {
    ANSWERED.store(ASKED.load(Ordering::Acquire), Ordering::Release);
    sys::wake(&ANSWERED);
}

/// Forgets who asked, in a process that was forked off.
pub fn forget() {
    ASKS.store(0, Ordering::Release);
    ANSWER.store(ptr::null_mut(), Ordering::Release);
}

/// How long a thread waits.
struct Patience {
    begun: Instant,
    most: Duration,
}

impl Patience {
    fn left(&self) -> Result<Duration, AgentError> {
        let left = self.most.saturating_sub(self.begun.elapsed());
        if left.is_zero() { Err(AgentError::Late(self.most)) } else { Ok(left) }
    }
}

/// The turn of one thread to ask.
struct Turn;

impl Turn {
    fn take(patience: &Patience) -> Result<Self, AgentError> {
        let own = sys::thread_id().unsigned_abs();
        while let Err(other) = ASKS.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire) {
            sys::wait(&ASKS, other, Some(patience.left()?));
        }
        Ok(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        ASKS.store(0, Ordering::Release);
        sys::wake(&ASKS);
    }
}
