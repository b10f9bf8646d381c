//! Time on a processor: the kernel takes the samples, while threads run, and none of them is stopped.

use std::{
    io,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use kcore_live::{Counters, PerfSample, Process, Snapshot};
use kcore_profile::{Profile, Sample};

use super::{
    Method, ProfileCost, ProfileOptions, ProfileProgress,
    names::Names,
    prepared::{Maps, Prepared},
};
use crate::Tid;

/// How often samples are fetched, and threads and mappings are listed anew.
const FETCH: Duration = Duration::from_millis(20);
const REFRESH: Duration = Duration::from_millis(100);

/// Takes what the kernel counts.
pub struct Counted<'a> {
    prepared: &'a Prepared<'a>,
    wanted: &'a ProfileOptions,
    counters: Counters,
    profile: Profile,
    cost: ProfileCost,
    maps: Maps,
    names: Names,
    /// The time of the first sample, by the kernel's clock.
    first: Option<u64>,
}

impl<'a> Counted<'a> {
    /// Begins to count.
    ///
    /// # Errors
    /// When the kernel does not let this process count.
    pub fn begin(
        prepared: &'a Prepared<'a>,
        wanted: &'a ProfileOptions,
        interval: Duration,
    ) -> io::Result<impl FnOnce(Profile) -> Self> {
        let tids = threads(prepared.process, wanted).unwrap_or_default();
        let counters = Counters::begin(&tids, interval)?;
        let kernel = counters.counts_kernel();
        let method = Method::Counters { kernel };
        Ok(move |profile| Self {
            prepared,
            wanted,
            counters,
            profile,
            cost: ProfileCost { method, ..ProfileCost::default() },
            maps: prepared.maps(),
            names: Names::default(),
            first: None,
        })
    }

    /// Samples until the time is over, somebody ends it, or the process does.
    pub fn run(mut self, progress: &ProfileProgress) -> (Profile, ProfileCost) {
        let start = Instant::now();
        let mut refreshed = start;
        let mut is_there = true;
        while is_there
            && start.elapsed() < self.wanted.duration
            && !progress.stop.load(Ordering::Relaxed)
        {
            thread::sleep(FETCH);
            self.fetch();
            progress.samples.store(self.cost.rounds, Ordering::Relaxed);
            if refreshed.elapsed() > REFRESH {
                refreshed = Instant::now();
                is_there = self.refresh().is_some();
            }
        }
        self.cost.elapsed = start.elapsed();
        self.cost.lost = self.cost.lost.saturating_add(self.counters.lost);
        self.profile.about.elapsed = self.cost.elapsed;
        (self.profile, self.cost)
    }

    /// Follows threads that are new; `None` when the process has ended.
    fn refresh(&mut self) -> Option<()> {
        let tids = threads(self.prepared.process, self.wanted)?;
        self.prepared.refresh(&mut self.maps).ok()?;
        if tids.is_empty() {
            return None;
        }
        // Of threads that cannot be counted the others are.
        let _ = self.counters.follow(&tids);
        Some(())
    }

    fn fetch(&mut self) {
        let mut taken = Vec::new();
        let process = self.prepared.process;
        self.counters.drain(&mut |sample: PerfSample<'_>| {
            let inner = process.inner_id(sample.tid).unwrap_or_default();
            let stat = process.task_stat(sample.tid);
            taken.push((sample.tid, sample.time, Snapshot::of_sample(&sample, inner, stat)));
        });
        for (tid, time, snapshot) in taken {
            if self.add(tid, time, &snapshot).is_none() {
                self.cost.lost = self.cost.lost.saturating_add(1);
            }
        }
    }

    fn add(&mut self, tid: i32, time: u64, snapshot: &Snapshot) -> Option<()> {
        let core = self.prepared.core(&self.maps, snapshot).ok()?;
        let tid = Tid::new(u32::try_from(tid).ok()?);
        let (thread, stack) = self.names.of_thread(&core, tid, &mut self.profile)?;
        let first = *self.first.get_or_insert(time);
        let at = Duration::from_nanos(time.saturating_sub(first));
        self.profile.add(Sample { at, thread, stack });
        self.cost.rounds = self.cost.rounds.saturating_add(1);
        Some(())
    }
}

/// The threads that are counted; `None` when the process has ended.
fn threads(process: &Process, wanted: &ProfileOptions) -> Option<Vec<i32>> {
    match wanted.live.threads.ids(process).ok()? {
        Some(chosen) => Some(chosen),
        None => process.task_ids().ok(),
    }
}
