//! Signals that must not come while a process stands still.

use std::{
    mem::MaybeUninit,
    ptr::{null, null_mut},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use libc::{c_int, sigaction};

/// Holds back all signals that may be held back, from the thread that made it, until it is dropped.
#[derive(Debug)]
pub struct HeldBack {
    before: libc::sigset_t,
}

impl HeldBack {
    /// Begins.
    pub fn begin() -> Self {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: sigfillset and pthread_sigmask fill what they are given; both cannot fail with a
        // valid `how`.
        let before = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            before.assume_init()
        };
        Self { before }
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        // SAFETY: the mask is the one that was there before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, null_mut());
        }
    }
}

/// What a key, a terminal or another program sends to stop or end kcore. SIGSTOP and SIGKILL cannot be put
/// off; the latter lets the process go.
const SIGNALS: [c_int; 7] = [
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGHUP,
    libc::SIGTERM,
];

/// Which of them came.
static CAME: [AtomicBool; SIGNALS.len()] = [const { AtomicBool::new(false) }; SIGNALS.len()];
static STATE: Mutex<State> = Mutex::new(State { users: 0, before: Vec::new() });

struct State {
    users: usize,
    /// What was done on each signal that is put off.
    before: Vec<(c_int, sigaction)>,
}

/// Puts off signals that would stop or end kcore, whichever of its threads they are sent to, until the
/// last one of these is dropped: then they do what they would have done. A kcore that is stopped would
/// leave the process stopped for as long.
#[derive(Debug)]
pub struct PutOff(());

impl PutOff {
    /// Begins. A signal for which the program has a handler of its own, or that it ignores, neither
    /// stops nor ends it, and is left alone.
    pub fn begin() -> Self {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        if state.users == 0 {
            state.before = SIGNALS.into_iter().filter_map(put_off).collect();
        }
        state.users = state.users.saturating_add(1);
        Self(())
    }
}

impl Drop for PutOff {
    fn drop(&mut self) {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        state.users = state.users.saturating_sub(1);
        if state.users > 0 {
            return;
        }
        for (signal, before) in std::mem::take(&mut state.before) {
            // SAFETY: the action is the one that was there before.
            unsafe { libc::sigaction(signal, &raw const before, null_mut()) };
        }
        drop(state);
        for (signal, came) in SIGNALS.into_iter().zip(&CAME) {
            if came.swap(false, Ordering::AcqRel) {
                // SAFETY: sends a signal to this process itself.
                unsafe { libc::kill(libc::getpid(), signal) };
            }
        }
    }
}

/// Takes note of a signal from now on. The answer is what was done on it before; `None` when that is left
/// alone.
fn put_off(signal: c_int) -> Option<(c_int, sigaction)> {
    let mut before = MaybeUninit::<sigaction>::zeroed();
    // SAFETY: sigaction fills what it is given, which is valid when it is all zeros, too; the handler does
    // nothing but store to an atomic variable.
    unsafe {
        libc::sigaction(signal, null(), before.as_mut_ptr());
        let before = before.assume_init();
        if before.sa_sigaction != libc::SIG_DFL {
            return None;
        }
        let mut noting = MaybeUninit::<sigaction>::zeroed().assume_init();
        noting.sa_sigaction = note as extern "C" fn(c_int) as usize;
        noting.sa_flags = libc::SA_RESTART;
        (libc::sigaction(signal, &raw const noting, null_mut()) == 0).then_some((signal, before))
    }
}

extern "C" fn note(signal: c_int) {
    for (known, came) in SIGNALS.iter().zip(&CAME) {
        if *known == signal {
            came.store(true, Ordering::Release);
        }
    }
}
