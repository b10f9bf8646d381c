//! Timers of the time that one thread runs, whose signals go to that thread.

use std::{mem::zeroed, ptr::from_ref};

use super::call::call;

/// A timer; it ends when this is dropped.
pub struct ThreadTimer(i32);

/// The kernel's `struct sigevent` (Linux `include/uapi/asm-generic/siginfo.h`), 64 bytes.
#[repr(C)]
struct Event {
    value: u64,
    signal: i32,
    notify: i32,
    tid: i32,
    rest: [i32; 11],
}

impl ThreadTimer {
    /// Sends `signal` with `payload` to a thread of the process each time that it has run for so many
    /// nanoseconds; `None` when the thread has ended, or the system has no timer left.
    pub fn start(tid: i32, signal: i32, payload: u64, interval_ns: i64) -> Option<Self> {
        let event =
            Event { value: payload, signal, notify: libc::SIGEV_THREAD_ID, tid, rest: [0; 11] };
        let mut id: i32 = 0;
        let args = [
            thread_clock(tid) as usize,
            from_ref(&event).addr(),
            std::ptr::from_mut(&mut id).addr(),
            0,
            0,
            0,
        ];
        // SAFETY: the kernel reads the event, which has its layout, and writes the id.
        if unsafe { call(libc::SYS_timer_create, args) } != 0 {
            return None;
        }
        let timer = Self(id);
        // SAFETY: plain numbers, for which zeros are valid.
        let mut time: libc::itimerspec = unsafe { zeroed() };
        time.it_interval.tv_sec = interval_ns / 1_000_000_000;
        time.it_interval.tv_nsec = interval_ns % 1_000_000_000;
        time.it_value = time.it_interval;
        let args = [timer.0 as usize, 0, from_ref(&time).addr(), 0, 0, 0];
        // SAFETY: the kernel reads the times.
        let started = unsafe { call(libc::SYS_timer_settime, args) } == 0;
        started.then_some(timer)
    }
}

impl Drop for ThreadTimer {
    fn drop(&mut self) {
        // SAFETY: it takes no pointer.
        unsafe { call(libc::SYS_timer_delete, [self.0 as usize, 0, 0, 0, 0, 0]) };
    }
}

/// The clock of the time that a thread of the process has run (Linux
/// `include/linux/posix-timers_types.h`: the inverted id, and the bits for one thread's scheduled time).
const fn thread_clock(tid: i32) -> libc::clockid_t {
    (!tid << 3) | 6
}
