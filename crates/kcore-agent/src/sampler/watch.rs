//! The threads that have a timer, and those of them that run and leave no sample, since they block its signal.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use crate::{
    collector::SignalMasks,
    report::with_name,
    sys::{ThreadTimer, thread_ns},
};

/// Nanoseconds that a thread runs, at least, before it is looked why it left no sample: more than a tick of any
/// kernel, since a timer only runs out at one.
const LEAST: u64 = 20_000_000;
/// Threads that are named, at most.
const NAMED: usize = 8;

/// Threads that have a timer.
#[derive(Default)]
pub struct Watch {
    threads: BTreeMap<i32, Watched>,
    /// Those that blocked the signal when they were looked at last, also if they have ended since.
    blocking: BTreeMap<i32, Blocking>,
}

struct Watched {
    /// It ends when this is dropped.
    _timer: ThreadTimer,
    /// Nanoseconds that the thread had run when it got the timer, or left its last sample.
    seen: u64,
}

struct Blocking {
    name: String,
    /// Nanoseconds that it ran without a sample.
    ran: u64,
}

impl Watch {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Whether a thread has a timer.
    pub fn has(&self, tid: i32) -> bool {
        self.threads.contains_key(&tid)
    }

    /// The ids of the threads.
    pub fn tids(&self) -> impl Iterator<Item = i32> {
        self.threads.keys().copied()
    }

    /// Adds a thread that got a timer.
    pub fn add(&mut self, tid: i32, timer: ThreadTimer) {
        self.threads.insert(tid, Watched { _timer: timer, seen: thread_ns(tid) });
    }

    /// Forgets the timers of threads that have ended.
    pub fn keep(&mut self, now: &BTreeSet<i32>) {
        self.threads.retain(|tid, _| now.contains(tid));
    }

    /// Ends all timers.
    pub fn end(&mut self) {
        self.threads.clear();
    }

    /// Notes that a thread left a sample.
    pub fn sampled(&mut self, tid: i32) {
        if let Some(watched) = self.threads.get_mut(&tid) {
            watched.seen = thread_ns(tid);
            self.blocking.remove(&tid);
        }
    }

    /// Looks which threads ran for twice the interval and left no sample, and block `signal`; says whether one of them
    /// does not block `other`.
    pub fn look(&mut self, signal: i32, other: i32, interval_ns: u64) -> bool {
        let most = interval_ns.saturating_mul(2).max(LEAST);
        let mut is_open_to_other = false;
        for (tid, watched) in &self.threads {
            let ran = thread_ns(*tid).saturating_sub(watched.seen);
            let told = if ran < most { None } else { SignalMasks::of(*tid) };
            let Some(told) = told.filter(|told| told.blocks(signal)) else { continue };
            is_open_to_other |= !told.blocks(other);
            let name = with_name(tid.unsigned_abs());
            self.blocking.insert(*tid, Blocking { name, ran });
        }
        is_open_to_other
    }

    /// Nanoseconds that threads ran which block the signal.
    pub fn blocking_ns(&self) -> u64 {
        self.blocking.values().map(|blocking| blocking.ran).fold(0, u64::saturating_add)
    }

    /// What is to be known of threads that block the signal.
    pub fn said(&self) -> String {
        let count = self.blocking.len();
        let names = self.blocking.values().map(|blocking| blocking.name.as_str());
        let names: Vec<&str> = names.take(NAMED).collect();
        let mut said = match count {
            0 => return String::new(),
            1 => ", without 1 thread that blocks the signal: ".to_owned(),
            _ => format!(", without {count} threads that block the signal: "),
        };
        said += &names.join(", ");
        if count > NAMED {
            let _ = write!(said, " and {} more", count.saturating_sub(NAMED));
        }
        said
    }
}
