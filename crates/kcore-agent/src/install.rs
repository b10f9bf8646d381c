//! Installing the agent: one mapping, two handlers, and a thread that does not run.

#![allow(unsafe_code)]

use std::{
    io,
    ptr::null_mut,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    agent, call,
    error::AgentError,
    handler,
    requests::{self, THREAD},
    settings::{Settings, is_real_time},
    slots::Slots,
    sys, window,
};

/// Bytes of the mapping: the stack of the thread that serves requests, and a page below it that may not be
/// touched.
const STACK: usize = 2 << 20;
const GUARD: usize = 64 << 10;

static SETTINGS: OnceLock<Settings> = OnceLock::new();
/// Whether the thread is there to be woken.
static READY: AtomicBool = AtomicBool::new(false);
static MAPPING: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

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
    let stack = map_stack()?;
    MAPPING.store(stack.expose_provenance(), Ordering::Release);
    if !THREAD.make(stack, STACK) {
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
        agent::forget();
        Slots::forget();
        let stack = std::ptr::with_exposed_provenance_mut(MAPPING.load(Ordering::Acquire));
        READY.store(THREAD.make(stack, STACK), Ordering::Release);
    } else {
        agent::forget();
    }
    call::forget();
    own_process();
}

fn map_stack() -> Result<*mut libc::c_void, AgentError> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping touches no other; its first part becomes the guard.
    unsafe {
        let mapping = libc::mmap(null_mut(), GUARD.saturating_add(STACK), access, flags, -1, 0);
        if mapping == libc::MAP_FAILED {
            return Err(system("mapping a stack"));
        }
        libc::mprotect(mapping, GUARD, libc::PROT_NONE);
        Ok(mapping.byte_add(GUARD))
    }
}

fn system(what: &'static str) -> AgentError {
    AgentError::System { what, error: io::Error::last_os_error() }
}
