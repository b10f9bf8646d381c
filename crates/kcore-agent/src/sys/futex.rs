//! Waiting for a word to change.

use std::{ptr::from_ref, sync::atomic::AtomicU32, time::Duration};

use super::call::call;

/// Waits until the word is no longer `seen`, somebody wakes, a signal came, or the time is over.
pub fn wait(word: &AtomicU32, seen: u32, most: Option<Duration>) {
    let time = most.map(|most| libc::timespec {
        tv_sec: most.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: most.subsec_nanos().into(),
    });
    let time = time.as_ref().map_or(0, |time| from_ref(time).addr());
    let word = from_ref(word).addr();
    // SAFETY: the kernel reads the word and the time, which are borrowed.
    unsafe {
        call(libc::SYS_futex, [word, libc::FUTEX_WAIT as usize, seen as usize, time, 0, 0]);
    }
}

/// Wakes all who wait for the word.
pub fn wake(word: &AtomicU32) {
    let word = from_ref(word).addr();
    // SAFETY: the kernel uses the address alone.
    unsafe {
        call(libc::SYS_futex, [word, libc::FUTEX_WAKE as usize, i32::MAX as usize, 0, 0, 0]);
    }
}
