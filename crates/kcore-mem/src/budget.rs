//! The budget of a command: how much memory, work and time it may use.
//!
//! A core and its files can claim anything, and a few of their bytes can stand for any number of values,
//! frames or names. Everything that reads them charges one shared [`Budget`]. When it is exhausted, the rest
//! of the answer is left out, and the budget records what was left out, so that the user is told.

mod allowance;
mod built;
mod cut;
mod watch;

pub use allowance::Allowance;
pub use built::Built;
pub use cut::Cut;
pub use watch::{Watch, sorted_within};

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Inflated bytes of compressed sections. They stay in memory, so they are counted for as long as the
    /// core is open.
    Inflated,
    /// Values read from objects.
    Values,
    /// Bytes of the target's text in values.
    Text,
    /// Links that were followed, and bytes of tables that were looked at.
    Steps,
    /// Frames of stacks.
    Frames,
    /// Entries of debug information that were read to find variables and calls.
    Entries,
}

/// How many kinds of [`Resource`] there are.
const RESOURCES: usize = 6;
/// What a command begins with anew.
const OF_COMMANDS: [Resource; 5] =
    [Resource::Values, Resource::Text, Resource::Steps, Resource::Frames, Resource::Entries];

/// Why a command has to end before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The user pressed ctrl-C.
    Interrupted,
    /// Its time, which is this, is over.
    OutOfTime(Duration),
}

/// What the current command may still use. Clones share one budget, and threads may use it at once.
#[derive(Clone)]
pub struct Budget(Arc<State>);

struct State {
    allowance: Allowance,
    spent: [AtomicU64; RESOURCES],
    /// Compressed bytes of all sections opened so far; the inflation limit grows with them.
    packed: AtomicU64,
    interrupt: Arc<AtomicBool>,
    begun: Mutex<Instant>,
    /// How many commands have begun.
    commands: AtomicU64,
    /// Whether `halt` reported that the time is over.
    is_late: AtomicBool,
    cuts: Mutex<Cuts>,
}

/// What was left out of answers.
#[derive(Default)]
struct Cuts {
    /// Not reported yet.
    new: Vec<Cut>,
    /// Missing from all later answers as well.
    standing: Vec<Cut>,
}

/// Cuts that are remembered one by one.
const MAX_CUTS: usize = 64;

impl Budget {
    /// A budget of which nothing is used yet.
    pub fn new(allowance: Allowance) -> Self {
        Self(Arc::new(State {
            allowance,
            spent: Default::default(),
            packed: AtomicU64::new(0),
            interrupt: Arc::default(),
            begun: Mutex::new(Instant::now()),
            commands: AtomicU64::new(0),
            is_late: AtomicBool::new(false),
            cuts: Mutex::default(),
        }))
    }

    /// The limits.
    pub fn allowance(&self) -> &Allowance {
        &self.0.allowance
    }

    /// Begins a command: resets all counters except that of inflated bytes, and starts its time. The
    /// interrupt flag is kept, because ctrl-C ends all commands of a line.
    pub fn begin(&self) {
        for resource in OF_COMMANDS {
            self.spent(resource).store(0, Ordering::Relaxed);
        }
        self.0.commands.fetch_add(1, Ordering::Relaxed);
        *lock(&self.0.begun) = Instant::now();
        self.0.is_late.store(false, Ordering::SeqCst);
    }

    /// The number of the command, for what is remembered as long as it runs.
    pub fn command(&self) -> u64 {
        self.0.commands.load(Ordering::Relaxed)
    }

    /// Charges an amount. Returns false, and charges nothing, if the limit would be exceeded.
    pub fn spend(&self, resource: Resource, amount: u64) -> bool {
        let limit = self.limit(resource);
        let take = |spent: u64| spent.checked_add(amount).filter(|spent| *spent <= limit);
        let spent = self.spent(resource);
        let is_there = spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if !is_there && resource != Resource::Inflated {
            self.cut(Cut::of(resource, limit));
        }
        is_there
    }

    /// How much is left.
    pub fn left(&self, resource: Resource) -> u64 {
        self.limit(resource).saturating_sub(self.spent(resource).load(Ordering::Relaxed))
    }

    /// The limit. That of inflated bytes grows with the compressed bytes found, so a small file cannot
    /// claim much.
    pub fn limit(&self, resource: Resource) -> u64 {
        self.0.allowance.of(resource, self.0.packed.load(Ordering::Relaxed))
    }

    /// Records that a compressed section of so many bytes was opened.
    pub fn add_packed(&self, bytes: u64) {
        let add = |packed: u64| Some(packed.saturating_add(bytes));
        let _ = self.0.packed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Records what was left out; the same cut is recorded once.
    pub fn cut(&self, cut: Cut) {
        let mut cuts = lock(&self.0.cuts);
        if cuts.standing.contains(&cut) || cuts.new.contains(&cut) {
            return;
        }
        if cut.stays() && cuts.standing.len() < MAX_CUTS {
            cuts.standing.push(cut.clone());
        }
        if cuts.new.len() < MAX_CUTS {
            cuts.new.push(cut);
        }
    }

    /// The cuts since the last call.
    pub fn take_cuts(&self) -> Vec<Cut> {
        std::mem::take(&mut lock(&self.0.cuts).new)
    }

    /// The cuts that all later answers share: sections that were not inflated.
    pub fn standing_cuts(&self) -> Vec<Cut> {
        lock(&self.0.cuts).standing.clone()
    }

    /// The flag that ctrl-C sets.
    pub fn interrupt(&self) -> &Arc<AtomicBool> {
        &self.0.interrupt
    }

    /// Whether the command must end now, and why.
    pub fn halt(&self) -> Option<Halt> {
        if self.0.interrupt.load(Ordering::SeqCst) {
            return Some(Halt::Interrupted);
        }
        let time = self.0.allowance.time?;
        let is_over = self.is_late() || lock(&self.0.begun).elapsed() >= time;
        is_over.then(|| {
            self.0.is_late.store(true, Ordering::SeqCst);
            Halt::OutOfTime(time)
        })
    }

    /// Whether `halt` reported that the time is over: the caller may have left something out.
    pub fn is_late(&self) -> bool {
        self.0.is_late.load(Ordering::SeqCst)
    }

    /// Whether the user pressed ctrl-C, or `halt` reported that the time is over. Does not look at the time.
    pub fn is_halted(&self) -> bool {
        self.is_late() || self.0.interrupt.load(Ordering::SeqCst)
    }

    fn spent(&self, resource: Resource) -> &AtomicU64 {
        let [inflated, values, text, steps, frames, entries] = &self.0.spent;
        match resource {
            Resource::Inflated => inflated,
            Resource::Values => values,
            Resource::Text => text,
            Resource::Steps => steps,
            Resource::Frames => frames,
            Resource::Entries => entries,
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Allowance::default())
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("allowance", &self.0.allowance).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Budget {
        Budget::new(Allowance { values: 10, ..Allowance::of_memory(64 << 20) })
    }

    #[test]
    fn what_is_not_there_is_not_taken_and_is_remembered_once() {
        let budget = small();
        assert!(budget.spend(Resource::Values, 7));
        assert!(!budget.spend(Resource::Values, 4) && !budget.spend(Resource::Values, u64::MAX));
        assert_eq!(budget.left(Resource::Values), 3);
        assert!(budget.clone().spend(Resource::Values, 3));
        let cuts = budget.take_cuts();
        assert_eq!(cuts, [Cut::of(Resource::Values, 10)]);
        assert!(cuts[0].to_string().contains("--max-memory"), "{}", cuts[0]);
        assert!(budget.take_cuts().is_empty());
    }

    #[test]
    fn a_command_begins_with_all_but_what_stays_in_memory() {
        let budget = small();
        assert!(budget.spend(Resource::Values, 10) && budget.spend(Resource::Inflated, 100));
        let left = budget.left(Resource::Inflated);
        budget.begin();
        assert_eq!((budget.left(Resource::Values), budget.left(Resource::Inflated)), (10, left));
    }

    #[test]
    fn what_may_be_inflated_grows_with_what_is_compressed_and_has_an_end() {
        let budget = small();
        let alone = budget.limit(Resource::Inflated);
        assert!(alone < 8 << 20, "{alone}");
        budget.add_packed(1 << 10);
        let more = budget.limit(Resource::Inflated) - alone;
        assert!((8 << 10..1 << 20).contains(&more), "{more}");
        budget.add_packed(u64::MAX);
        assert_eq!(budget.limit(Resource::Inflated), 32 << 20);
    }

    #[test]
    fn ctrl_c_and_the_end_of_its_time_end_a_command() {
        let hurried = Allowance { time: Some(Duration::ZERO), ..Allowance::default() };
        let budget = Budget::new(hurried);
        assert!(!budget.is_late());
        assert_eq!(budget.halt(), Some(Halt::OutOfTime(Duration::ZERO)));
        assert!(budget.is_late());
        budget.begin();
        assert!(!budget.is_late());
        let budget = Budget::default();
        assert_eq!(budget.halt(), None);
        budget.interrupt().store(true, Ordering::SeqCst);
        assert_eq!(budget.halt(), Some(Halt::Interrupted));
    }
}
