//! The timers by which bthreads sleep.

use kcore_mem::AddressSpace;

use super::pool::Pool;

/// Bytes of a `bthread::TimerThread::Task` of `src/bthread/timer_thread.cpp`, and its `task_id` and `version`: the same
/// in the releases 0.9 to 1.17 and in the state of 2026-08.
const SIZE: u64 = 64;
const ID: u64 = 32;
const VERSION: u64 = 40;

/// Whether the timer of an id has gone off, or was taken back: the bthread that slept by it is ready then, or about
/// to be, until it runs and forgets the id. `None` where that cannot be told.
pub fn is_over(space: &dyn AddressSpace, timers: &Pool, id: u64) -> Option<bool> {
    let timer = timers.item(space, id & u64::from(u32::MAX), SIZE)?;
    let own = space.read_word(timer.at.checked_add(ID)?).ok()?;
    // Another timer has come in its place, or it is none.
    let is_in_slot = own & u64::from(u32::MAX) == timer.slot;
    let version = space.read_uint(timer.at.checked_add(VERSION)?, 4).ok()?;
    is_in_slot.then_some(own != id || version != id >> 32)
}
