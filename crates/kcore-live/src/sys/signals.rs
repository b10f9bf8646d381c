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

/// What a key, a terminal or another program sends to stop kcore, and then what is sent to end it. SIGSTOP
/// and SIGKILL cannot be put off; the latter lets the process go.
const SIGNALS: [c_int; 7] = [
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGHUP,
    libc::SIGTERM,
];
/// How many of them stop.
const STOPS: usize = 3;

/// Which of them came.
static CAME: [AtomicBool; SIGNALS.len()] = [const { AtomicBool::new(false) }; SIGNALS.len()];
static PUT_OFF: Mutex<[Signal; SIGNALS.len()]> =
    Mutex::new([const { Signal { users: 0, before: None } }; SIGNALS.len()]);

/// How a signal is put off.
struct Signal {
    users: usize,
    /// What was done on it before; `None` when that is left alone.
    before: Option<sigaction>,
}

/// Puts off signals that would stop or end kcore, whichever of its threads they are sent to, until the
/// last one of these is dropped: then they do what they would have done. A kcore that is stopped would
/// leave the process stopped for as long.
#[derive(Debug)]
pub struct PutOff {
    count: usize,
}

impl PutOff {
    /// Begins with all of them, for as short a time as nobody notices.
    pub fn all() -> Self {
        Self::begin(SIGNALS.len())
    }

    /// Begins with those alone that stop kcore without ending it.
    pub fn stops() -> Self {
        Self::begin(STOPS)
    }

    /// A signal for which the program has a handler of its own, or that it ignores, neither stops nor
    /// ends it, and is left alone.
    fn begin(count: usize) -> Self {
        let mut signals = PUT_OFF.lock().unwrap_or_else(PoisonError::into_inner);
        for (state, signal) in signals.iter_mut().zip(SIGNALS).take(count) {
            if state.users == 0 {
                state.before = put_off(signal);
            }
            state.users = state.users.saturating_add(1);
        }
        Self { count }
    }
}

impl Drop for PutOff {
    fn drop(&mut self) {
        let mut signals = PUT_OFF.lock().unwrap_or_else(PoisonError::into_inner);
        for (state, signal) in signals.iter_mut().zip(SIGNALS).take(self.count) {
            state.users = state.users.saturating_sub(1);
            let before = if state.users == 0 { state.before.take() } else { None };
            if let Some(before) = before {
                // SAFETY: the action is the one that was there before.
                unsafe { libc::sigaction(signal, &raw const before, null_mut()) };
            }
        }
        let over = signals.each_ref().map(|state| state.users == 0);
        drop(signals);
        for ((signal, came), over) in SIGNALS.into_iter().zip(&CAME).zip(over) {
            if over && came.swap(false, Ordering::AcqRel) {
                // SAFETY: sends a signal to this process itself.
                unsafe { libc::kill(libc::getpid(), signal) };
            }
        }
    }
}

/// Takes note of a signal from now on. The answer is what was done on it before; `None` when that is left
/// alone.
fn put_off(signal: c_int) -> Option<sigaction> {
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
        (libc::sigaction(signal, &raw const noting, null_mut()) == 0).then_some(before)
    }
}

/// Whether a signal waits that is sent to end kcore.
pub fn wait_to_end() -> bool {
    CAME.iter().skip(STOPS).any(|came| came.load(Ordering::Relaxed))
}

extern "C" fn note(signal: c_int) {
    for (known, came) in SIGNALS.iter().zip(&CAME) {
        if *known == signal {
            came.store(true, Ordering::Release);
        }
    }
}
