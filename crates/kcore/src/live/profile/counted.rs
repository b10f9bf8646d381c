//! Time on a processor: the kernel takes the samples, while threads run, and none of them is stopped.

use std::{io, thread, time::Duration};

use kcore_live::{Counters, LiveError, PerfSample, Snapshot};
use kcore_profile::Sample;

use super::{
    Method, ProfileChange,
    course::{Course, Next},
    names::Names,
    prepared::{Maps, Prepared},
};
use crate::{ThreadChoice, Tid};

/// How often samples are fetched, and threads are listed anew: one that lives for less is not seen.
const FETCH: Duration = Duration::from_millis(20);
/// The interval between two reads of the mappings.
const REFRESH: Duration = Duration::from_millis(100);

/// What the kernel counts of a process, through all programs that it starts.
pub struct Counting {
    counters: Counters,
    threads: Vec<i32>,
    /// The time of the first sample, by the kernel's clock.
    first: Option<u64>,
    /// How long the process had been on a processor at the beginning, and when it was last looked at.
    ran: Option<(Duration, Duration)>,
}

impl Counting {
    /// Begins to count.
    ///
    /// # Errors
    /// When the kernel does not let this process count.
    pub fn begin(prepared: &Prepared<'_>, course: &Course<'_>) -> io::Result<Self> {
        // Who is not there is told of by the first look.
        let threads = prepared.threads(&course.wanted.live.threads).unwrap_or_default();
        let counters = Counters::begin(&threads, course.interval())?;
        let ran = prepared.process.ran().map(|ran| (ran, ran));
        Ok(Self { counters, threads, first: None, ran })
    }

    /// How samples are taken.
    pub const fn method(&self) -> Method {
        Method::Counters { kernel: self.counters.counts_kernel() }
    }

    /// How long the process was on a processor meanwhile.
    pub fn ran(&self) -> Option<Duration> {
        self.ran.map(|(first, last)| last.saturating_sub(first))
    }

    /// Samples that the kernel had no room for.
    pub const fn lost(&self) -> u64 {
        self.counters.lost
    }
}

/// Takes what the kernel counts while the process runs one program.
pub struct Counted<'a, 'c> {
    prepared: &'a Prepared<'a>,
    course: &'a mut Course<'c>,
    counting: &'a mut Counting,
    maps: Maps,
    names: Names,
}

impl<'a, 'c> Counted<'a, 'c> {
    /// Nothing was fetched yet.
    pub fn new(
        prepared: &'a Prepared<'a>,
        course: &'a mut Course<'c>,
        counting: &'a mut Counting,
    ) -> Self {
        let names = Names::new(course.wanted.native);
        Self { maps: prepared.maps(), prepared, course, counting, names }
    }

    /// Samples until the time is over or the program is.
    ///
    /// # Errors
    /// When none of the chosen threads is there.
    pub fn run(mut self) -> Result<Next, LiveError> {
        let mut is_first = self.course.is_first_program();
        while !self.course.is_over() {
            if let Err(error) = self.refresh() {
                return self.after(error, is_first);
            }
            is_first = false;
            self.course.hand_out();
            thread::sleep(FETCH);
            if !self.fetch() {
                return Ok(Next::LookAgain);
            }
        }
        Ok(Next::Over)
    }

    fn after(&mut self, error: LiveError, is_first: bool) -> Result<Next, LiveError> {
        match error {
            LiveError::NoThread { .. } if is_first => Err(error),
            LiveError::NoThread { .. } => {
                self.course.note(ProfileChange::NoThreads);
                Ok(Next::Over)
            }
            _ => Ok(Next::LookAgain),
        }
    }

    /// Follows threads that are new.
    fn refresh(&mut self) -> Result<(), LiveError> {
        let choice = &self.course.wanted.live.threads;
        let threads = self.prepared.threads(choice)?;
        if self.maps.read.elapsed() > REFRESH {
            self.prepared.refresh(&mut self.maps)?;
        }
        if matches!(choice, ThreadChoice::Tids(_)) {
            let has_ended = |tid: &&i32| !threads.contains(tid);
            let ended = self.counting.threads.iter().filter(has_ended);
            let ended: Vec<Tid> =
                ended.filter_map(|tid| u32::try_from(*tid).ok()).map(Tid::new).collect();
            if !ended.is_empty() {
                self.course.note(ProfileChange::Threads(ended));
            }
        }
        // Of threads that cannot be counted the others are.
        let _ = self.counting.counters.follow(&threads);
        self.counting.threads = threads;
        Ok(())
    }

    /// Takes what came; says whether the process still runs this program. What came is of this one then, and also if
    /// the process has ended meanwhile.
    fn fetch(&mut self) -> bool {
        let mut taken = Vec::new();
        let process = self.prepared.process;
        if let (Some((_, last)), Some(now)) = (&mut self.counting.ran, process.ran()) {
            *last = now.max(*last);
        }
        self.counting.counters.drain(&mut |sample: PerfSample<'_>| {
            let inner = process.inner_id(sample.tid).unwrap_or_default();
            let stat = process.task_stat(sample.tid);
            taken.push((sample.tid, sample.time, Snapshot::of_sample(&sample, inner, stat)));
        });
        let is_current = self.prepared.is_current();
        if !is_current && !self.has_ended() {
            self.course.lose(taken.len() as u64);
            return false;
        }
        for (tid, time, snapshot) in taken {
            if self.add(tid, time, &snapshot).is_none() {
                self.course.lose(1);
            }
        }
        is_current
    }

    fn has_ended(&self) -> bool {
        let process = self.prepared.process;
        process.first_has_ended() && process.count_of_threads().is_none_or(|count| count < 2)
    }

    fn add(&mut self, tid: i32, time: u64, snapshot: &Snapshot) -> Option<()> {
        let core = self.prepared.core(&self.maps, snapshot).ok()?;
        let tid = Tid::new(u32::try_from(tid).ok()?);
        let (thread, stack) = self.names.of_thread(&core, tid, &mut self.course.profile)?;
        let is_doubtful = u64::from(self.names.is_doubtful(stack));
        self.course.cost.doubtful = self.course.cost.doubtful.saturating_add(is_doubtful);
        let first = *self.counting.first.get_or_insert(time);
        let at = Duration::from_nanos(time.saturating_sub(first));
        self.course.add(Sample { at, thread, stack, weight: 1 });
        self.course.cost.rounds = self.course.cost.rounds.saturating_add(1);
        Some(())
    }
}
