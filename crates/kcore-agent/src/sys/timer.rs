//! Timers of the time that one thread runs, whose signals go to that thread.

use std::{
    mem::zeroed,
    ptr::from_ref,
    sync::atomic::{AtomicI32, Ordering},
};

use super::{call::call, task::clock_ns};

/// A timer; it ends when this is dropped.
pub struct ThreadTimer {
    id: i32,
    /// Where its id is noted.
    at: usize,
}

/// Timers that there may be at a time.
pub const MAX_TIMERS: usize = 1 << 14;
/// Ids of the timers that there are, and one more, so that 0 is none: for [`end_timers`].
static TIMERS: [AtomicI32; MAX_TIMERS] = [const { AtomicI32::new(0) }; MAX_TIMERS];

/// Ends all timers, whoever has them.
pub fn end_timers() {
    for timer in &TIMERS {
        let noted = timer.swap(0, Ordering::AcqRel);
        if noted != 0 {
            end(noted.wrapping_sub(1));
        }
    }
}

/// Notes a timer; says where.
fn note(id: i32) -> Option<usize> {
    TIMERS.iter().position(|timer| {
        let noted = id.wrapping_add(1);
        timer.compare_exchange(0, noted, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    })
}

fn end(id: i32) {
    // SAFETY: it takes no pointer.
    unsafe { call(libc::SYS_timer_delete, [id as usize, 0, 0, 0, 0, 0]) };
}

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
    /// nanoseconds.
    ///
    /// # Errors
    /// The system's error number: `EINVAL` when the thread has ended, `EAGAIN` when there is no timer left.
    pub fn start(tid: i32, signal: i32, payload: u64, interval_ns: i64) -> Result<Self, i32> {
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
        good(unsafe { call(libc::SYS_timer_create, args) })?;
        let Some(at) = note(id) else {
            end(id);
            return Err(libc::EAGAIN);
        };
        let timer = Self { id, at };
        // SAFETY: plain numbers, for which zeros are valid.
        let mut time: libc::itimerspec = unsafe { zeroed() };
        time.it_interval.tv_sec = interval_ns / 1_000_000_000;
        time.it_interval.tv_nsec = interval_ns % 1_000_000_000;
        time.it_value = time.it_interval;
        let args = [timer.id as usize, 0, from_ref(&time).addr(), 0, 0, 0];
        // SAFETY: the kernel reads the times.
        good(unsafe { call(libc::SYS_timer_settime, args) })?;
        Ok(timer)
    }
}

impl Drop for ThreadTimer {
    fn drop(&mut self) {
        let noted = TIMERS.get(self.at).map_or(0, |timer| timer.swap(0, Ordering::AcqRel));
        if noted != 0 {
            end(self.id);
        }
    }
}

fn good(answer: isize) -> Result<(), i32> {
    if answer == 0 { Ok(()) } else { Err(answer.wrapping_neg() as i32) }
}

/// Nanoseconds that a thread of the process has run; 0 when it has ended.
pub fn thread_ns(tid: i32) -> u64 {
    clock_ns(thread_clock(tid))
}

/// The clock of the time that a thread of the process has run (Linux
/// `include/linux/posix-timers_types.h`: the inverted id, and the bits for one thread's scheduled time).
const fn thread_clock(tid: i32) -> libc::clockid_t {
    (!tid << 3) | 6
}
