//! What lasts from the beginning of a profile to its end, through all programs that the process may start.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant, SystemTime},
};

use kcore_live::{LiveError, Process};
use kcore_profile::{About, Profile, Sample};

use super::{
    ProfileChange, ProfileCost, ProfileOptions, ProfileProgress,
    budget::Budget,
    pace::{Pace, Waited},
    window::HandedOut,
};

/// How the sampling of one program came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The time is over, or there is nothing left to sample.
    Over,
    /// The process has to be looked at anew: it has ended, has started another program, or its memory has to be
    /// found by another thread.
    LookAgain,
}

/// A profile that is taken.
pub struct Course<'a> {
    pub wanted: &'a ProfileOptions,
    pub progress: &'a ProfileProgress,
    pub profile: Profile,
    pub cost: ProfileCost,
    pace: Pace,
    budget: Budget,
    /// When the process was started: another one may have its id later.
    started: u64,
    /// Whether its first thread was there when it was looked at last.
    has_first: bool,
    /// How often a program was looked at.
    programs: u64,
    handed_out: HandedOut,
}

impl<'a> Course<'a> {
    /// Begins now.
    pub fn begin(
        process: &Process,
        wanted: &'a ProfileOptions,
        progress: &'a ProfileProgress,
    ) -> Self {
        let pace = Pace::new(Instant::now(), wanted.frequency, wanted.duration);
        let about = About {
            program: name_of(process),
            pid: u32::try_from(process.pid().get()).unwrap_or_default(),
            start: SystemTime::now(),
            interval: pace.interval(),
            on_cpu: wanted.on_cpu,
            elapsed: Duration::ZERO,
        };
        progress.begun.store(true, Ordering::Relaxed);
        Self {
            wanted,
            progress,
            profile: Profile::new(about),
            cost: ProfileCost { allowed: wanted.held, ..ProfileCost::default() },
            pace,
            budget: Budget::new(wanted.held),
            started: process.stat().started,
            has_first: !process.first_has_ended(),
            programs: 0,
            handed_out: HandedOut::default(),
        }
    }

    /// From the beginning until now.
    pub fn elapsed(&self) -> Duration {
        self.pace.elapsed()
    }

    /// The time between two samples.
    pub const fn interval(&self) -> Duration {
        self.pace.interval()
    }

    /// Whether the time is over, or somebody ended it.
    pub fn is_over(&self) -> bool {
        self.pace.is_over() || self.is_stopped()
    }

    /// Whether somebody ended it.
    pub fn is_stopped(&self) -> bool {
        self.progress.stop.load(Ordering::Relaxed)
    }

    /// Whether it is the process that was there at the beginning.
    pub fn is_same(&self, process: &Process) -> bool {
        process.stat().started == self.started
    }

    /// Notes what has changed since the process was looked at before.
    pub fn look_at(&mut self, process: &Process, is_same_program: bool) {
        let has_first = !process.first_has_ended();
        if self.programs > 0 && !is_same_program {
            self.note(ProfileChange::Program(name_of(process)));
        } else if self.has_first && !has_first {
            self.note(ProfileChange::FirstThread);
        }
        self.cost.program = name_of(process);
        self.has_first = has_first;
        self.programs = self.programs.saturating_add(1);
    }

    /// Whether no other program was looked at before.
    pub const fn is_first_program(&self) -> bool {
        self.programs == 1
    }

    /// Notes a change.
    pub fn note(&mut self, change: ProfileChange) {
        self.cost.note(self.elapsed(), change);
    }

    /// Notes why the process cannot be looked at any more.
    pub fn note_end(&mut self, error: &LiveError) {
        self.note(match error {
            LiveError::NoProcess(_)
            | LiveError::Zombie(_)
            | LiveError::Gone(_)
            | LiveError::IsThread { .. } => ProfileChange::Ended,
            other => ProfileChange::Lost(other.to_string()),
        });
    }

    /// Counts a sample.
    pub fn add(&mut self, sample: Sample) {
        self.cost.samples = self.cost.samples.saturating_add(1);
        self.profile.add(sample);
        self.progress.samples.store(self.cost.samples, Ordering::Relaxed);
    }

    /// Counts samples that were lost.
    pub fn lose(&mut self, count: u64) {
        self.cost.lost = self.cost.lost.saturating_add(count);
    }

    /// Notes that samples were taken that stand for so many intervals.
    pub fn cover(&mut self, intervals: u32) {
        let time = self.interval().saturating_mul(intervals);
        self.cost.covered = self.cost.covered.saturating_add(time);
    }

    /// How many intervals are over that no round stands for, since the last one.
    pub fn untaken(&self) -> u32 {
        self.pace.untaken()
    }

    /// Hands out what was counted, if somebody watches and it is time.
    pub fn hand_out(&mut self) {
        let (now, interval) = (self.elapsed(), self.interval());
        let Some(windows) = &self.progress.windows else { return };
        if now.saturating_sub(self.handed_out.at()) >= windows.every {
            let counted = self.profile.take_functions();
            windows.hand_out(self.handed_out.next(now, interval, &self.cost, counted));
        }
    }

    /// Waits for the next round, after one that held the process for so long.
    pub fn wait(&mut self, held: Duration) -> u32 {
        self.hand_out();
        self.budget.note(self.elapsed(), held);
        let Waited { missed, spared, weight } =
            self.pace.wait(self.budget.affords(), &self.progress.stop);
        self.cost.missed = self.cost.missed.saturating_add(missed);
        self.cost.spared = self.cost.spared.saturating_add(spared);
        weight
    }

    /// The profile, and what it cost.
    pub fn finish(mut self) -> (Profile, ProfileCost) {
        self.cost.elapsed = self.elapsed();
        self.profile.about.elapsed = self.cost.elapsed;
        (self.profile, self.cost)
    }
}

fn name_of(process: &Process) -> String {
    String::from_utf8_lossy(&process.stat().name).into_owned()
}
