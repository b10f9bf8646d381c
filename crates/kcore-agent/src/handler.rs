//! The handler. It runs wherever the signal strikes: everything that it calls takes no memory and no lock.
//! `docs/book/src/agent.md` lists every function that can be reached from here.

use std::{
    ffi::c_void,
    sync::{
        OnceLock,
        atomic::{AtomicI32, Ordering},
    },
};

use kcore::Addr;

use crate::{
    asks,
    error::AgentError,
    requests,
    slots::{ANSWERS, Slots, Ticket, WAITS},
    sys::{self, Action, Queued, SigInfo},
};

/// The signal by which threads are asked, and stacks are asked for.
pub static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// What timers of profiles carry.
pub const SAMPLE: u64 = 0x6b63_6f72_6500;
/// The process that the agent serves: another one may have its handlers, between a fork and what follows it.
pub static PROCESS: AtomicI32 = AtomicI32::new(0);

/// What was in place after the handler was installed: what is there later may be somebody else's.
static INSTALLED: OnceLock<(i32, Action)> = OnceLock::new();

/// Installs the handler for these signals; says whether the first one has it.
pub fn install(signal: i32, profile: Option<i32>) -> bool {
    SIGNAL.store(signal, Ordering::Release);
    let Some(action) = sys::install_handler(signal, handle) else { return false };
    let _ = INSTALLED.set((signal, action));
    if let Some(profile) = profile {
        sys::install_handler(profile, handle);
    }
    true
}

/// Checks that the handler is still in place, before threads are sent a signal that would end the process
/// otherwise.
///
/// # Errors
/// When the program has put another one there.
pub fn check() -> Result<(), AgentError> {
    let (signal, action) = INSTALLED.get().ok_or(AgentError::NotInstalled)?;
    let is_there = sys::handler_of(*signal).as_ref() == Some(action);
    if is_there { Ok(()) } else { Err(AgentError::SignalInUse(*signal)) }
}

/// Serves a signal.
#[allow(unsafe_code)]
pub extern "C" fn handle(signal: i32, info: *mut SigInfo, context: *mut c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO what the signal was sent for.
    let Some(info) = (unsafe { info.as_ref() }) else { return };
    match info.queued() {
        Queued::Asked(payload) => answer(Ticket::new(payload), context),
        Queued::Asker(number) => kcore_asks(signal, number),
        Queued::Timer(SAMPLE, more) => sample(more, context),
        Queued::Timer(..) | Queued::Other => request(signal),
    }
}

/// Leaves the stack of this thread in the slot of the ticket.
fn answer(ticket: Ticket, context: *mut c_void) {
    let slot = Slots::known().and_then(|slots| slots.at(ticket.index()));
    let Some(slot) = slot else { return };
    slot.answer(ticket, Addr::new(context.expose_provenance() as u64));
    ANSWERS.fetch_add(1, Ordering::AcqRel);
    if WAITS.load(Ordering::Acquire) != 0 {
        sys::wake(&ANSWERS);
    }
}

/// Leaves the stack of this thread in any slot that is open to samples.
fn sample(more: u32, context: *mut c_void) {
    let Some(slots) = Slots::known() else { return };
    slots.sample(Addr::new(context.expose_provenance() as u64), u64::from(more).saturating_add(1));
}

/// kcore asks in another process.
fn kcore_asks(signal: i32, number: u64) {
    let is_own = PROCESS.load(Ordering::Relaxed) == sys::process_id();
    if is_own && signal == SIGNAL.load(Ordering::Relaxed) && asks::note(number) {
        let _ = requests::post(requests::ASK);
    }
}

/// Somebody asks the process.
fn request(signal: i32) {
    // While a profile is taken it has that one, which somebody else may send as well.
    if signal == libc::SIGURG || PROCESS.load(Ordering::Relaxed) != sys::process_id() {
        return;
    }
    let is_stacks = signal == SIGNAL.load(Ordering::Relaxed);
    let _ = requests::post(if is_stacks { requests::STACKS } else { requests::PROFILE });
}
