//! Installing the agent: one mapping, two handlers, and a thread that does not run.

#![allow(unsafe_code)]

use std::{
    sync::{
        Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    agent, asks, call, collector::all_block, error::AgentError, handler, outside, requests,
    sampler, settings::Settings, slots::Slots, sys, window,
};

static SETTINGS: RwLock<Option<Settings>> = RwLock::new(None);
/// One thread installs at a time.
static INSTALLING: Mutex<()> = Mutex::new(());
/// Whether the thread is there to be woken.
static READY: AtomicBool = AtomicBool::new(false);

/// Installs the agent in this process. Handlers that the program has are left alone: where the signal for
/// profiles is in use there are no profiles, and where the signal for stacks is, nothing is installed. One that
/// failed may be tried again.
///
/// # Errors
/// When it was installed before, a setting cannot be, the signal for stacks is in use, all threads block it (a program
/// that waits for it does), or the system refuses what is needed.
pub fn install(mut settings: Settings) -> Result<(), AgentError> {
    let _one_at_a_time = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    if is_installed() {
        return Err(AgentError::Installed);
    }
    settings.check()?;
    let (signal, profile) = (settings.signal, settings.profile_signal);
    if !is_free(signal) {
        return Err(AgentError::SignalInUse(signal));
    }
    if all_block(signal) {
        return Err(AgentError::SignalBlocked(signal));
    }
    sys::look_at_machine();
    requests::make_thread().map_err(|number| AgentError::system("making a thread", number))?;
    // SAFETY: the function has the signature that it wants, and stays.
    let refused = unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    if refused != 0 {
        return Err(AgentError::system("having a say in forks", refused));
    }
    *SETTINGS.write().unwrap_or_else(PoisonError::into_inner) = Some(settings);
    own_process();
    if !handler::install(signal, profile.filter(|profile| is_free(*profile))) {
        return Err(AgentError::SignalInUse(signal));
    }
    READY.store(true, Ordering::Release);
    sys::mark(signal);
    Ok(())
}

/// Whether the agent was installed.
pub fn is_installed() -> bool {
    READY.load(Ordering::Acquire)
}

/// How the agent works.
pub fn settings() -> Settings {
    SETTINGS.read().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}

/// How long is waited for threads that do not answer, and for whoever reads what is written. It takes no memory.
pub fn timeout() -> Duration {
    let settings = SETTINGS.read().unwrap_or_else(PoisonError::into_inner);
    settings.as_ref().map_or(Duration::from_secs(1), |settings| settings.timeout)
}

/// How long a thread waits that asks for stacks. It takes no memory.
pub fn answer_time() -> Duration {
    let settings = SETTINGS.read().unwrap_or_else(PoisonError::into_inner);
    settings.as_ref().map_or(Duration::ZERO, |settings| settings.answer_time)
}

fn is_free(signal: i32) -> bool {
    sys::handler_of(signal).is_some_and(|action| sys::is_default(&action))
}

/// The process is this one.
fn own_process() {
    let pid = sys::process_id();
    handler::PROCESS.store(pid, Ordering::Release);
}

/// What the thread that forked does first in the new process. There is no other thread in it; what the one
/// that serves requests was in the middle of stays as it was, and is nobody's.
extern "C" fn forked() {
    if requests::forget() {
        Slots::forget();
    }
    agent::forget();
    sampler::forget();
    call::forget();
    asks::forget();
    window::forget();
    outside::forget();
    own_process();
}
