//! Profiles: while one is taken, each thread is interrupted when it has run for so long, and leaves its stack
//! in a slot. Threads that do not run are left in peace.

mod counts;
mod files;
mod share;
mod ticks;
mod watch;

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant, SystemTime},
};

use kcore::profile::About;

use crate::{
    collector::{Collector, others},
    error::AgentError,
    handler,
    settings::Settings,
    slots,
    sys::{MAX_TIMERS, ThreadTimer},
};

use counts::Counts;
pub use files::write as write_profile;
use share::Spent;
use ticks::Ticks;
pub use ticks::forget;
use watch::Watch;

/// How often slots are emptied.
pub const TURN: Duration = Duration::from_millis(20);
/// How often it is looked for threads that are new.
const LIST: Duration = Duration::from_millis(100);
/// How often it is looked for code that is new.
const REFRESH: Duration = Duration::from_secs(1);

/// A profile that is taken.
pub struct Sampler {
    settings: Settings,
    begun: Instant,
    start: SystemTime,
    listed: Option<Instant>,
    refreshed: Instant,
    watch: Watch,
    /// Behind the timers, so that it ends after them.
    ticks: Ticks,
    /// Why it ended before its time.
    ended: Option<AgentError>,
    counts: Counts,
    /// Samples that came.
    samples: u64,
    spent: Spent,
    /// Threads that got no timer when they were asked last, and the system's error numbers.
    refused: BTreeMap<i32, i32>,
    /// Why functions of languages have no names, where there are some.
    native: Option<String>,
}

impl Sampler {
    /// Begins. `native` is why functions of languages have no names, where there are some.
    ///
    /// # Errors
    /// When the program has taken the signal, or the system does not tell of the process.
    pub fn start(
        settings: Settings,
        native: Option<String>,
        collector: &mut Collector,
    ) -> Result<Self, AgentError> {
        handler::check()?;
        let ticks = Ticks::begin(settings.signal);
        let now = Instant::now();
        let mut sampler = Self {
            settings,
            begun: now,
            start: SystemTime::now(),
            listed: None,
            refreshed: now,
            watch: Watch::default(),
            ticks,
            ended: None,
            counts: Counts::default(),
            samples: 0,
            spent: Spent::begin(),
            refused: BTreeMap::new(),
            native,
        };
        slots::take_dropped();
        collector.open_slots()?;
        sampler.spent = Spent::begin();
        sampler.list();
        Ok(sampler)
    }

    /// Takes the samples that came; says whether the profile goes on.
    pub fn turn(&mut self, collector: &mut Collector) -> bool {
        self.take(collector);
        // Where the program has taken the signal, timers would go on sending it.
        self.ended = self.ticks.check().err();
        if self.ended.is_some() {
            self.watch.end();
            return false;
        }
        if self.listed.is_none_or(|listed| listed.elapsed() >= LIST) {
            self.list();
        }
        if self.refreshed.elapsed() >= REFRESH {
            self.refreshed = Instant::now();
            self.pause(collector);
            self.ended = collector.open_slots().err().map(AgentError::from);
            self.name_threads();
        }
        self.ended.is_none() && self.begun.elapsed() < self.settings.profile_time
    }

    /// Takes no samples until slots are opened again.
    pub fn pause(&mut self, collector: &mut Collector) {
        collector.close_slots();
        self.take(collector);
    }

    /// Stops, and writes what came; says where, and what is to be known of it.
    ///
    /// # Errors
    /// When the system refuses to write.
    pub fn finish(mut self, collector: &mut Collector) -> Result<String, AgentError> {
        self.name_threads();
        self.look();
        self.watch.end();
        let ran = self.spent.ns();
        self.pause(collector);
        let about = About {
            program: program(),
            pid: std::process::id(),
            start: self.start,
            interval: Duration::from_nanos(self.interval_ns().unsigned_abs()),
            on_cpu: true,
            elapsed: self.begun.elapsed(),
        };
        let left_out = self.counts.left_out.saturating_add(slots::take_dropped());
        let missing = self.missing(ran, left_out);
        let profile = collector.profile(about, self.counts.into_stacks())?;
        let written = write_profile(&profile, &self.settings.profile_folder, std::process::id())?;
        let ended = self.ended.map_or_else(String::new, |why| format!(", ended early: {why}"));
        Ok(format!("profile of {} samples{missing}{ended}: {written}", profile.len()))
    }

    /// What is to be known of what the samples do not tell, where threads ran for so many nanoseconds.
    fn missing(&self, ran: u64, left_out: u64) -> String {
        let interval = self.interval_ns().unsigned_abs();
        let stand_for = |samples: u64| samples.saturating_mul(interval);
        let known = stand_for(left_out).saturating_add(self.watch.blocking_ns());
        let kept = self.samples.saturating_sub(self.counts.left_out);
        let share = share::said(stand_for(kept), ran, known);
        let lost = match left_out {
            0 => String::new(),
            left_out => format!(", {left_out} more were left out"),
        };
        share + &lost + &self.watch.said() + &self.refused() + &self.nameless()
    }

    /// Why functions of languages have no names.
    fn nameless(&self) -> String {
        let why = self.native.as_ref();
        why.map_or_else(String::new, |why| format!(", with native frames alone ({why})"))
    }

    /// What is to be known of threads that got no timer.
    fn refused(&self) -> String {
        let Some(number) = self.refused.values().next() else { return String::new() };
        let why = std::io::Error::from_raw_os_error(*number);
        match self.refused.len() {
            1 => format!(", without 1 thread that got no timer ({why})"),
            count => format!(", without {count} threads that got no timer ({why})"),
        }
    }

    fn take(&mut self, collector: &Collector) {
        let Self { counts, samples, watch, .. } = self;
        collector.take_samples(&mut |tid, frames, count| {
            counts.add(tid, frames, count);
            *samples = samples.saturating_add(count);
            watch.sampled(tid);
        });
    }

    fn name_threads(&mut self) {
        self.watch.tids().for_each(|tid| self.counts.name(tid));
    }

    /// Looks for threads that block the signal of the timers; says whether the one for stacks reaches one of them.
    fn look(&mut self) -> bool {
        let interval = self.interval_ns().unsigned_abs();
        self.watch.look(self.ticks.signal(), self.settings.signal, interval)
    }

    /// Nanoseconds that a thread runs from one sample to the next.
    fn interval_ns(&self) -> i64 {
        const SECOND: i64 = 1_000_000_000;
        SECOND.checked_div(self.settings.hertz.into()).unwrap_or(SECOND)
    }

    /// Gives threads that are new a timer, and forgets those that have ended.
    fn list(&mut self) {
        self.listed = Some(Instant::now());
        // Where the system does not tell, for want of files, those that are known are as they were.
        let Ok(now) = others() else { return };
        self.watch.keep(&now);
        if self.look() {
            self.watch = Watch::default();
            self.ticks = Ticks::by(self.settings.signal);
        }
        let interval = self.interval_ns();
        for tid in now {
            self.refused.remove(&tid);
            if self.watch.len() >= MAX_TIMERS || self.watch.has(tid) {
                continue;
            }
            let timer = ThreadTimer::start(tid, self.ticks.signal(), handler::SAMPLE, interval);
            match timer {
                Ok(timer) => {
                    self.watch.add(tid, timer);
                    self.counts.name(tid);
                }
                // It has ended.
                Err(libc::EINVAL | libc::ESRCH) => {}
                Err(number) => {
                    self.refused.insert(tid, number);
                }
            }
        }
    }
}

/// The program's name.
fn program() -> String {
    let path = fs::read_link("/proc/self/exe").unwrap_or_default();
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
