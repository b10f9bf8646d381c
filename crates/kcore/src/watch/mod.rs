//! A live process at several looks: what changed between them, and what did not.
//!
//! A look reads `/proc` alone and stops nothing. Counters that did not change prove that a thread has not run. A
//! thread that ran may stand where it stood before, and have done any amount of work in between.

mod condition;
mod places;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use kcore_live::{LiveError, Pid, Process, ProcessLook, ThreadLook};

pub use condition::{Condition, Measures, parse_seconds};
pub use places::{Place, PlaceFrame, Places};

use crate::Tid;

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// The process goes on.
    Runs,
    /// It has ended.
    Ended,
    /// It has started another program. What was counted begins anew.
    OtherProgram,
}

/// A thread over all intervals between looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedThread {
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub name: String,
    /// Whether it is proven not to have run in any interval, and was there in all of them.
    pub stood_still: bool,
    /// Time on a processor, within intervals; `None` if the system does not count it.
    pub ran: Option<Duration>,
}

/// Numbers of a process at the first look and at the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Bytes of memory that are present.
    pub resident: [Option<u64>; 2],
    /// Threads.
    pub threads: [u64; 2],
    /// Open file descriptors.
    pub descriptors: [Option<u64>; 2],
}

/// A process that is looked at.
#[derive(Debug)]
pub struct Watch {
    process: Process,
    first: ProcessLook,
    last: ProcessLook,
    last_at: Instant,
    watched: Duration,
    ran: Duration,
    idle: Duration,
    processor: Option<f64>,
    threads: HashMap<i32, Counted>,
    intervals: u64,
}

/// What is known of a thread so far.
#[derive(Clone, Copy, Debug)]
struct Counted {
    intervals: u64,
    has_run: bool,
    nanos: Option<u64>,
}

impl Watch {
    /// Takes the first look.
    ///
    /// # Errors
    /// When there is no such process, or a right is missing.
    pub fn start(pid: Pid) -> Result<Self, LiveError> {
        let process = Process::open(pid)?;
        let first = process.look()?.ok_or(LiveError::Gone(pid))?;
        Ok(Self {
            process,
            last: first.clone(),
            first,
            last_at: Instant::now(),
            watched: Duration::ZERO,
            ran: Duration::ZERO,
            idle: Duration::ZERO,
            processor: None,
            threads: HashMap::new(),
            intervals: 0,
        })
    }

    /// Takes the look that ends an interval.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn look(&mut self) -> Result<Looked, LiveError> {
        let Some(now) = self.process.look()? else { return Ok(Looked::Ended) };
        if now.program != self.last.program {
            *self = Self::start(self.process.pid())?;
            return Ok(Looked::OtherProgram);
        }
        let time = self.last_at.elapsed();
        self.count(&now, time);
        self.last = now;
        self.last_at = Instant::now();
        Ok(Looked::Runs)
    }

    /// Takes the look that begins an interval: what happened since the last one, such as a snapshot, does not count.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn begin_interval(&mut self) -> Result<Looked, LiveError> {
        let Some(now) = self.process.look()? else { return Ok(Looked::Ended) };
        if now.program != self.last.program {
            *self = Self::start(self.process.pid())?;
            return Ok(Looked::OtherProgram);
        }
        self.last = now;
        self.last_at = Instant::now();
        Ok(Looked::Runs)
    }

    fn count(&mut self, now: &ProcessLook, time: Duration) {
        let ran = now.ran.saturating_sub(self.last.ran);
        let before: HashMap<i32, &ThreadLook> =
            self.last.threads.iter().map(|look| (look.tid, look)).collect();
        let mut all_stood = now.threads.len() == before.len();
        for look in &now.threads {
            let old = before.get(&look.tid).filter(|old| old.started == look.started);
            let stood = old.is_some_and(|old| look.stood_still_since(old));
            all_stood &= stood;
            let nanos = old.and_then(|old| Some(look.turns?.0.saturating_sub(old.turns?.0)));
            let new = Counted { intervals: 0, has_run: false, nanos: Some(0) };
            let known = self.threads.entry(look.tid).or_insert(new);
            known.intervals = known.intervals.saturating_add(1);
            known.has_run |= !stood;
            known.nanos = known.nanos.zip(nanos).map(|(sum, more)| sum.saturating_add(more));
        }
        self.idle = if all_stood { self.idle.saturating_add(time) } else { Duration::ZERO };
        self.watched = self.watched.saturating_add(time);
        self.ran = self.ran.saturating_add(ran);
        self.intervals = self.intervals.saturating_add(1);
        let seconds = time.as_secs_f64();
        self.processor = (seconds > 0.0).then(|| ran.as_secs_f64() / seconds * 100.0);
    }

    /// What is compared with conditions.
    pub fn measures(&self) -> Measures {
        Measures {
            idle: self.idle,
            resident: self.last.resident,
            threads: self.last.threads.len() as u64,
            descriptors: self.last.descriptors,
            processor: self.processor,
        }
    }

    /// The threads at the last look.
    pub fn threads(&self) -> Vec<WatchedThread> {
        self.last.threads.iter().filter_map(|look| self.watched_thread(look)).collect()
    }

    fn watched_thread(&self, look: &ThreadLook) -> Option<WatchedThread> {
        let known = self.threads.get(&look.tid);
        let was_there = known.is_some_and(|known| known.intervals == self.intervals);
        Some(WatchedThread {
            tid: Tid::new(u32::try_from(look.tid).ok()?),
            name: String::from_utf8_lossy(&look.name).into_owned(),
            stood_still: was_there && known.is_some_and(|known| !known.has_run),
            ran: known.and_then(|known| known.nanos).map(Duration::from_nanos),
        })
    }

    /// Intervals that were counted.
    pub const fn intervals(&self) -> u64 {
        self.intervals
    }

    /// How long all intervals were together.
    pub const fn watched(&self) -> Duration {
        self.watched
    }

    /// Processor time of the process within them, to a hundredth of a second for each.
    pub const fn ran(&self) -> Duration {
        self.ran
    }

    /// How its numbers changed.
    pub const fn change(&self) -> Change {
        let (first, last) = (&self.first, &self.last);
        Change {
            resident: [first.resident, last.resident],
            threads: [first.threads.len() as u64, last.threads.len() as u64],
            descriptors: [first.descriptors, last.descriptors],
        }
    }
}
