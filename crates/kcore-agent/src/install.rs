//! Installing the agent: one mapping, two handlers, and a thread that does not run.

#![allow(unsafe_code)]

use std::{
    io,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    agent, call,
    error::AgentError,
    handler, requests,
    settings::{Settings, is_real_time},
    slots::Slots,
    sys, window,
};

static SETTINGS: OnceLock<Settings> = OnceLock::new();
/// Whether the thread is there to be woken.
static READY: AtomicBool = AtomicBool::new(false);

/// Installs the agent in this process. Handlers that the program has are left alone: where the signal for
/// profiles is in use there are no profiles, and where the signal for stacks is, nothing is installed.
///
/// # Errors
/// When it was installed before, the signal for stacks is in use, or the system refuses what is needed.
pub fn install(settings: Settings) -> Result<(), AgentError> {
    let signal = settings.signal;
    if !is_real_time(&signal) {
        return Err(AgentError::NotRealTime(signal));
    }
    if !is_free(signal) {
        return Err(if is_installed() {
            AgentError::Installed
        } else {
            AgentError::SignalInUse(signal)
        });
    }
    let profile = settings.profile_signal;
    SETTINGS.set(settings).map_err(|_| AgentError::Installed)?;
    if !requests::make_thread() {
        return Err(system("making a thread"));
    }
    own_process();
    // SAFETY: the functions have the signature that it wants, and stay.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    handler::install(signal, profile.filter(|profile| is_free(*profile)));
    READY.store(true, Ordering::Release);
    Ok(())
}

/// Whether the agent was installed.
pub fn is_installed() -> bool {
    READY.load(Ordering::Acquire)
}

/// How the agent works.
pub fn settings() -> Settings {
    SETTINGS.get().cloned().unwrap_or_default()
}

fn is_free(signal: i32) -> bool {
    sys::handler_of(signal).is_some_and(|action| sys::is_default(&action))
}

/// The process is this one.
fn own_process() {
    let pid = sys::process_id();
    window::set_process(pid);
    handler::PROCESS.store(pid, Ordering::Release);
}

/// What the thread that forked does first in the new process. There is no other thread in it; what the one
/// that serves requests was in the middle of stays as it was, and is nobody's.
extern "C" fn forked() {
    if requests::forget() {
        Slots::forget();
    }
    agent::forget();
    call::forget();
    window::forget();
    own_process();
}

fn system(what: &'static str) -> AgentError {
    AgentError::System { what, error: io::Error::last_os_error() }
}
