//! A live process at several looks: what changed between them, and what did not.
//!
//! A look reads `/proc` alone and stops nothing. Counters that did not change prove that a thread has not run. A
//! thread that ran may stand where it stood before, and have done any amount of work in between.

mod common_stacks;
mod condition;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use kcore_live::{LiveError, Pid, Process, ProcessLook, ThreadLook};

pub use common_stacks::{CommonFrame, CommonStack, CommonStacks};
pub use condition::{Condition, Measures, parse_seconds};

use crate::Tid;

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// The process goes on.
    Runs,
    /// It has ended.
    Ended,
    /// It has started another program. What was counted is of the one before: see [`Watch::begin_anew`].
    OtherProgram,
}

/// A thread over all intervals between looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedThread {
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub name: String,
    /// Whether it was there in all intervals.
    pub is_old: bool,
    /// Whether it is proven not to have run in any interval, and was there in all of them.
    pub stood_still: bool,
    /// For how long, up to the last look, it is proven not to have run, within intervals.
    pub still_for: Duration,
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
    still: Duration,
    nanos: Option<u64>,
}

impl Counted {
    const NEW: Self = Self { intervals: 0, has_run: false, still: Duration::ZERO, nanos: Some(0) };

    /// Adds an interval of this length, with its time on a processor in nanoseconds.
    fn add(&mut self, stood: bool, time: Duration, nanos: Option<u64>) {
        self.intervals = self.intervals.saturating_add(1);
        self.has_run |= !stood;
        self.still = if stood { self.still.saturating_add(time) } else { Duration::ZERO };
        self.nanos = self.nanos.zip(nanos).map(|(sum, more)| sum.saturating_add(more));
    }
}

impl Watch {
    /// Takes the first look.
    ///
    /// # Errors
    /// When there is no such process, or a right is missing.
    pub fn start(pid: Pid) -> Result<Self, LiveError> {
        let process = Process::open(pid)?;
        let first = process.look()?.ok_or(LiveError::Gone(pid))?;
        Ok(Self::of(process, first))
    }

    fn of(process: Process, first: ProcessLook) -> Self {
        Self {
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
        }
    }

    /// Takes the look that ends an interval.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn look(&mut self) -> Result<Looked, LiveError> {
        self.look_then(|watch, now| {
            let time = watch.last_at.elapsed();
            watch.count(now, time);
        })
    }

    /// Takes the look that begins an interval: what happened since the last one, such as a snapshot, does not count.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn begin_interval(&mut self) -> Result<Looked, LiveError> {
        self.look_then(|_, _| {})
    }

    fn look_then(
        &mut self,
        then: impl FnOnce(&mut Self, &ProcessLook),
    ) -> Result<Looked, LiveError> {
        let Some(now) = self.process.look()? else { return Ok(Looked::Ended) };
        if now.program != self.last.program {
            return Ok(Looked::OtherProgram);
        }
        then(self, &now);
        self.last = now;
        self.last_at = Instant::now();
        Ok(Looked::Runs)
    }

    /// Forgets what was counted, and watches the program that the process runs now.
    ///
    /// # Errors
    /// When there is no such process any more, or a right is missing.
    pub fn begin_anew(&mut self) -> Result<(), LiveError> {
        *self = Self::start(self.process.pid())?;
        Ok(())
    }

    /// Whether the system counts how often threads run. Where it does not, nothing proves that one did not run.
    pub fn counts_turns(&self) -> bool {
        self.last.threads.iter().any(|look| look.turns.is_some())
    }

    /// Whether no thread that did not run so far was found running, or stopped by a tracer, at the last look. One that a snapshot
    /// stopped soon goes back to what it waited in.
    pub fn is_settled(&self) -> bool {
        let is_off = |look: &ThreadLook| !matches!(look.state, 'R' | 't');
        let has_run = |look: &ThreadLook| self.threads.get(&look.tid).is_some_and(|it| it.has_run);
        self.last.threads.iter().all(|look| is_off(look) || has_run(look))
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
            let known = self.threads.entry(look.tid).or_insert(Counted::NEW);
            // A thread that came meanwhile may have the id of one that ended.
            match old {
                Some(_) => known.add(stood, time, nanos),
                None => *known = Counted { has_run: true, ..Counted::NEW },
            }
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
        let known = self.threads.get(&look.tid).copied().unwrap_or(Counted::NEW);
        let is_old = known.intervals == self.intervals;
        Some(WatchedThread {
            tid: Tid::new(u32::try_from(look.tid).ok()?),
            name: String::from_utf8_lossy(&look.name).into_owned(),
            is_old,
            stood_still: is_old && self.intervals > 0 && !known.has_run,
            still_for: known.still,
            ran: known.nanos.map(Duration::from_nanos),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(tid: i32, started: u64, turns: (u64, u64)) -> ThreadLook {
        ThreadLook { tid, name: b"a".to_vec(), state: 'S', started, turns: Some(turns) }
    }

    fn look(threads: Vec<ThreadLook>) -> ProcessLook {
        let program = Vec::new();
        let (ran, resident, descriptors) = (Duration::ZERO, None, None);
        ProcessLook { threads, ran, resident, descriptors, program }
    }

    /// What is known of threads after looks a second apart each.
    fn watched(looks: Vec<ProcessLook>) -> (Watch, Vec<WatchedThread>) {
        let mut looks = looks.into_iter();
        let mut watch = Watch::of(Process::own().unwrap(), looks.next().unwrap());
        for now in looks {
            watch.count(&now, Duration::from_secs(1));
            watch.last = now;
        }
        let threads = watch.threads();
        (watch, threads)
    }

    #[test]
    fn a_thread_stands_still_as_long_as_its_counts_are_equal() {
        let (still, runs) = (thread(1, 5, (10, 2)), |turns| thread(2, 5, (turns * 100, turns)));
        let at = |turns| look(vec![still.clone(), runs(turns)]);
        let (watch, threads) = watched(vec![at(1), at(2), at(2), at(2)]);
        let seen = |thread: &WatchedThread| (thread.stood_still, thread.still_for.as_secs());
        assert_eq!(threads.iter().map(seen).collect::<Vec<_>>(), [(true, 3), (false, 2)]);
        assert_eq!(threads[1].ran, Some(Duration::from_nanos(100)));
        assert_eq!(watch.measures().idle, Duration::from_secs(2));
    }

    #[test]
    fn a_thread_under_the_id_of_another_one_is_a_new_one() {
        let at = |started| look(vec![thread(1, started, (10, 2))]);
        let (watch, threads) = watched(vec![at(5), at(6), at(6)]);
        assert!(!threads[0].is_old && !threads[0].stood_still, "{threads:?}");
        assert_eq!(threads[0].still_for, Duration::from_secs(1));
        assert_eq!(watch.measures().idle, Duration::from_secs(1));
    }

    #[test]
    fn nothing_is_known_before_an_interval_is_over() {
        let (watch, threads) = watched(vec![look(vec![thread(1, 5, (10, 2))])]);
        assert!(watch.counts_turns() && watch.is_settled());
        assert!(!threads[0].stood_still && threads[0].still_for.is_zero());
    }
}
