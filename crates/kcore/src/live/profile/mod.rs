//! Profiles of a live process: its stacks, many times a second.
//!
//! What stacks need of files, symbols and runtimes is prepared once. Each sample then stops those threads
//! alone that have run since the last one: the others still have the stack that they had.

mod cost;
mod counted;
mod names;
mod pace;
mod prepared;
mod sampler;

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime},
};

use kcore_live::{LiveError, Pid, Process};
use kcore_profile::{About, Profile};

pub use cost::{Method, ProfileCost};
pub(super) use names::frame_of;

use counted::Counted;
use pace::Pace;
use prepared::Prepared;
use sampler::Sampler;

use super::{LiveOptions, MAX_PROGRAMS};
use crate::{Core, OpenError, OpenOptions};

/// Which threads are sampled, how often, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileOptions {
    /// Which threads, and how they are stopped.
    pub live: LiveOptions,
    /// Samples a second.
    pub frequency: u32,
    /// How long it lasts.
    pub duration: Duration,
    /// Only threads in these states count, by the letters of `/proc`; `None` is all of them.
    pub states: Option<String>,
    /// Only time on a processor counts. Where the kernel allows it, it takes the samples, and no thread is
    /// stopped; else those count that run when they are stopped.
    pub on_cpu: bool,
}

/// How far a profile is, for whoever watches.
#[derive(Debug, Default)]
pub struct ProfileProgress {
    /// Samples of threads that were taken.
    pub samples: AtomicU64,
    /// Set when all is prepared and sampling begins.
    pub begun: AtomicBool,
    /// Set to end it early.
    pub stop: AtomicBool,
}

impl Core {
    /// Samples the stacks of a live process, which runs on. It ends early, with what there is by then, when
    /// the process ends.
    ///
    /// # Errors
    /// When there is no such process, or a right is missing.
    pub fn profile_process(
        pid: Pid,
        wanted: &ProfileOptions,
        options: &OpenOptions,
        progress: &ProfileProgress,
    ) -> Result<(Profile, ProfileCost), OpenError> {
        let mut tries: usize = 1;
        loop {
            let process = Process::open(pid)?;
            match Prepared::of(&process, &wanted.live, options) {
                Err(OpenError::Live(LiveError::Gone(_))) if tries < MAX_PROGRAMS => {
                    tries = tries.saturating_add(1);
                }
                Err(error) => return Err(error),
                Ok(prepared) => return sample(&prepared, wanted, progress),
            }
        }
    }
}

fn sample(
    prepared: &Prepared<'_>,
    wanted: &ProfileOptions,
    progress: &ProfileProgress,
) -> Result<(Profile, ProfileCost), OpenError> {
    let pace = Pace::new(Instant::now(), wanted.frequency);
    let about = About {
        program: String::from_utf8_lossy(&prepared.process.stat().name).into_owned(),
        pid: u32::try_from(prepared.process.pid().get()).unwrap_or_default(),
        start: SystemTime::now(),
        interval: pace.interval(),
        on_cpu: wanted.on_cpu,
        elapsed: Duration::ZERO,
    };
    let profile = Profile::new(about);
    let counted = wanted.on_cpu.then(|| Counted::begin(prepared, wanted, pace.interval()));
    let method = match counted {
        None => Method::Stops,
        Some(Err(error)) => Method::StopsInstead(error.to_string()),
        Some(Ok(begun)) => {
            progress.begun.store(true, Ordering::Relaxed);
            return Ok(begun(profile).run(progress));
        }
    };
    let mut sampler = Sampler::new(prepared, wanted, profile);
    sampler.cost.method = method;
    by_stops(sampler, wanted, progress, pace)
}

fn by_stops(
    mut sampler: Sampler<'_>,
    wanted: &ProfileOptions,
    progress: &ProfileProgress,
    mut pace: Pace,
) -> Result<(Profile, ProfileCost), OpenError> {
    let start = Instant::now();
    progress.begun.store(true, Ordering::Relaxed);
    while start.elapsed() < wanted.duration && !progress.stop.load(Ordering::Relaxed) {
        match sampler.take(start.elapsed()) {
            // It has ended: what there is counts.
            Err(LiveError::Gone(_) | LiveError::NoProcess(_)) if sampler.has_samples() => break,
            taken => taken?,
        }
        progress.samples.store(sampler.count(), Ordering::Relaxed);
        sampler.cost.missed = sampler.cost.missed.saturating_add(pace.wait(&progress.stop));
    }
    Ok(sampler.finish(start.elapsed()))
}
