//! Signals that must not come while a process stands still.

use std::mem::MaybeUninit;

/// Holds back all signals that may be held back, from the thread that made it, until it is dropped.
/// A key that stops kcore must not stop it while a process waits for it.
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

    /// Begins with those alone by which a terminal stops a process without ending it.
    pub fn stops() -> Self {
        let mut stops = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: sigemptyset and pthread_sigmask fill what they are given; none of the three can fail
        // with valid signals and a valid `how`.
        let before = unsafe {
            libc::sigemptyset(stops.as_mut_ptr());
            for signal in [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU] {
                libc::sigaddset(stops.as_mut_ptr(), signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, stops.as_ptr(), before.as_mut_ptr());
            before.assume_init()
        };
        Self { before }
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        // SAFETY: the mask is the one that was there before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}
