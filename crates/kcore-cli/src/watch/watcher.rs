//! Looks at a process, one after the other, until there is an end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use kcore::watch::{CommonStacks, Condition, Looked, Measures, Watch};
use kcore::{Core, LiveError, LiveFacts, LiveProcess, OpenError, OpenOptions, ThreadChoice};

use super::{WatchArgs, args::WantedCondition};
use crate::live::LiveTarget;
use crate::{ends, folders};

/// How often it is looked whether somebody wants an end.
const TICK: Duration = Duration::from_millis(20);
/// How often it is looked whether threads are back in what they waited in before a stop, at most.
const SETTLING: u32 = 25;

/// How watching ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// All looks were taken.
    Watched,
    /// A condition holds.
    Held(WantedCondition, Measures),
    /// The process ended.
    Ended,
    /// It started another program.
    OtherProgram,
    /// No condition held in time.
    TimeOver,
    /// Somebody ended it.
    Stopped,
    /// The process cannot be looked at any more, with the reason.
    Lost(String),
}

impl From<LiveError> for Outcome {
    fn from(error: LiveError) -> Self {
        Self::Lost(error.to_string())
    }
}

/// A process that is watched, and what was seen so far.
pub(super) struct Watcher<'a> {
    args: &'a WatchArgs,
    pub(super) target: LiveTarget,
    pub(super) files: OpenOptions,
    stop: Arc<AtomicBool>,
    pub(super) watch: Watch,
    pub(super) places: CommonStacks,
    /// Snapshots that were taken.
    pub(super) snapshots: u64,
    /// The longest stop for one.
    pub(super) stopped: Option<Duration>,
}

impl<'a> Watcher<'a> {
    /// Takes the first look.
    ///
    /// # Errors
    /// When the process cannot be looked at, or the system does not tell what is waited for.
    pub(super) fn start(args: &'a WatchArgs) -> Result<Self> {
        let target = args.live.named(&args.process)?;
        if target.options.threads != ThreadChoice::All {
            bail!("{}: all threads are watched: give the id of a process alone", args.process);
        }
        let watch = Watch::start(target.pid)?;
        let is_idle = |wanted: &WantedCondition| matches!(wanted.condition, Condition::Idle(_));
        if args.until.iter().any(is_idle) && !watch.counts_turns() {
            bail!("idle: this system does not count how often threads run (/proc/PID/schedstat)");
        }
        let stop = Arc::default();
        ends::set(&stop)?;
        let files = OpenOptions { cache_dir: folders::cache(), ..args.files.options()? };
        let (places, stopped) = (CommonStacks::default(), None);
        Ok(Self { args, target, files, stop, watch, places, snapshots: 0, stopped })
    }

    /// Watches until there is an end.
    pub(super) fn run(&mut self) -> Outcome {
        let ended = if self.args.until.is_empty() { self.take_looks() } else { self.wait() };
        ended.err().unwrap_or(Outcome::Watched)
    }

    fn take_looks(&mut self) -> Result<(), Outcome> {
        self.add_snapshot()?;
        for _ in 0..self.args.intervals {
            self.settle()?;
            self.sleep(self.args.interval);
            went_on(self.watch.look()?)?;
            if self.is_stopped() {
                return Err(Outcome::Stopped);
            }
            self.add_snapshot()?;
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Outcome> {
        let begun = Instant::now();
        loop {
            self.check()?;
            let left = self.args.within.map(|limit| limit.saturating_sub(begun.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Outcome::TimeOver);
            }
            self.sleep(left.map_or(self.args.interval, |left| self.args.interval.min(left)));
            match self.watch.look()? {
                Looked::OtherProgram => {
                    super::say(
                        "the process started another program: from now on that one is watched",
                    );
                    self.watch.begin_anew()?;
                }
                looked => went_on(looked)?,
            }
        }
    }

    /// Ends the wait when a condition holds, or somebody wants that.
    fn check(&self) -> Result<(), Outcome> {
        let now = self.watch.measures();
        if let Some(wanted) = self.args.until.iter().find(|wanted| wanted.condition.holds(&now)) {
            return Err(Outcome::Held(wanted.clone(), now));
        }
        if self.is_stopped() { Err(Outcome::Stopped) } else { Ok(()) }
    }

    /// Adds a snapshot to what is known of places, and begins an interval.
    ///
    /// # Errors
    /// How watching ended.
    pub(super) fn add_snapshot(&mut self) -> Result<(), Outcome> {
        let core = self.snapshot()?;
        self.places.add(&core);
        Ok(())
    }

    /// Takes a snapshot of the program that was watched so far.
    ///
    /// # Errors
    /// How watching ended.
    pub(super) fn snapshot(&mut self) -> Result<Core, Outcome> {
        let taken = LiveProcess::of(self.target.pid).snapshot(&self.target.options, &self.files);
        // The process may have ended, or started another program, before it was stopped.
        went_on(self.watch.begin_interval()?)?;
        let core = taken.map_err(|error| self.why(&error))?;
        self.snapshots = self.snapshots.saturating_add(1);
        self.stopped =
            self.stopped.max(core.snapshot().facts().and_then(|facts| longest_stop(&facts)));
        Ok(core)
    }

    /// Why there is no snapshot. The system may take some time to end a process.
    fn why(&mut self, error: &OpenError) -> Outcome {
        let is_gone = matches!(error, OpenError::Live(LiveError::Gone(_) | LiveError::Zombie(_)));
        for _ in 0..if is_gone { SETTLING } else { 0 } {
            thread::sleep(TICK);
            if let Ok(Err(ended)) = self.watch.begin_interval().map(went_on) {
                return ended;
            }
        }
        Outcome::Lost(error.to_string())
    }

    /// Gives threads that were stopped time to go back to what they waited in.
    fn settle(&mut self) -> Result<(), Outcome> {
        for _ in 0..SETTLING {
            thread::sleep(TICK);
            went_on(self.watch.begin_interval()?)?;
            if self.watch.is_settled() || self.is_stopped() {
                break;
            }
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn sleep(&self, time: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < time && !self.is_stopped() {
            thread::sleep(TICK.min(time.saturating_sub(begun.elapsed())));
        }
    }
}

/// The longest of the stops of a snapshot.
fn longest_stop(facts: &LiveFacts) -> Option<Duration> {
    facts.before.iter().copied().chain([facts.stopped]).max()
}

const fn went_on(looked: Looked) -> Result<(), Outcome> {
    match looked {
        Looked::Runs => Ok(()),
        Looked::Ended => Err(Outcome::Ended),
        Looked::OtherProgram => Err(Outcome::OtherProgram),
    }
}
