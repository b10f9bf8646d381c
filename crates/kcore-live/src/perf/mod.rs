//! Samples that the kernel takes of threads while they run, without stopping them (perf_event_open(2)).

mod record;

use std::{collections::HashMap, io, time::Duration};

pub use record::PerfSample;

use crate::{
    freeze::REGISTERS,
    sys::perf::{Counter, Wish},
};

/// Bytes of a stack that the kernel copies: below 64 KiB, and a multiple of 8.
const STACK: u32 = 32 << 10;
/// Threads that are counted, at most: each has a buffer of half a megabyte.
const MAX_THREADS: usize = 256;

const LOST: u32 = 2;
const SAMPLE: u32 = 9;

/// Counters of threads.
#[derive(Debug)]
pub struct Counters {
    counters: HashMap<i32, Counter>,
    wish: Wish,
    /// Samples for which there was no room.
    pub lost: u64,
}

impl Counters {
    /// Begins to count threads, with a sample each time that one of them was on a processor for so long.
    ///
    /// # Errors
    /// When the kernel does not let this process count, or there are too many threads.
    pub fn begin(tids: &[i32], period: Duration) -> io::Result<Self> {
        let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
        let wish = Wish { period, registers: REGISTERS.mask, stack: STACK, kernel: true };
        let mut counters = Self { counters: HashMap::new(), wish, lost: 0 };
        match counters.follow(tids) {
            // Who may not see the kernel may see the program itself.
            Err(error) if is_refused(&error) => {
                counters.wish.kernel = false;
                counters.follow(tids)?;
            }
            begun => begun?,
        }
        Ok(counters)
    }

    /// Whether time that threads spend in the kernel counts.
    pub const fn counts_kernel(&self) -> bool {
        self.wish.kernel
    }

    /// Counts these threads from now on, and no others.
    ///
    /// # Errors
    /// As [`Counters::begin`].
    pub fn follow(&mut self, tids: &[i32]) -> io::Result<()> {
        self.counters.retain(|tid, _| tids.contains(tid));
        if tids.len() > MAX_THREADS {
            return Err(io::Error::other(format!("more than {MAX_THREADS} threads")));
        }
        for tid in tids {
            if self.counters.contains_key(tid) {
                continue;
            }
            match Counter::open(*tid, &self.wish) {
                Ok(counter) => drop(self.counters.insert(*tid, counter)),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Calls `take` with each sample that has come.
    pub fn drain(&mut self, take: &mut dyn FnMut(PerfSample<'_>)) {
        let mut lost: u64 = 0;
        for counter in self.counters.values_mut() {
            counter.drain(&mut |kind, record| match kind {
                SAMPLE => match PerfSample::parse(record) {
                    Some(sample) => take(sample),
                    None => lost = lost.saturating_add(1),
                },
                LOST => lost = lost.saturating_add(count_of(record)),
                _ => {}
            });
        }
        self.lost = self.lost.saturating_add(lost);
    }
}

/// How many samples a record says to be lost: id, number.
fn count_of(record: &[u8]) -> u64 {
    let number = record.get(8..).and_then(|rest| rest.first_chunk());
    number.map_or(1, |number| u64::from_ne_bytes(*number))
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}
