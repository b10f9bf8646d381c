//! The collector: asks every thread of the process for its stack, and takes what comes.

mod round;
mod tasks;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use kcore::{
    Core, CountedStack, End, Frame, OpenError, OpenOptions, OwnProcess, OwnThread,
    in_place::Tables,
    profile::{About, Profile},
};

use crate::{slots::Slots, window};

pub use tasks::{Missing, SignalMasks, all_block, is_blocked_but_not, others};

/// Times that threads are asked again, at most.
const MAX_TRIES: usize = 3;

/// What belongs to collections of one process, from one to the next.
pub struct Collector {
    own: OwnProcess,
    tables: Option<Box<Tables>>,
    /// Tables of before, which a handler that is late may read still.
    #[expect(clippy::vec_box, reason = "handlers know them by address")]
    retired: Vec<Box<Tables>>,
    /// Threads that were asked and never answered: their signal may wait still.
    owing: BTreeSet<i32>,
    /// Whether samples are taken.
    samples: bool,
}

/// What one collection brought.
#[derive(Default)]
pub struct Collection {
    /// The threads that answered.
    pub threads: Vec<OwnThread>,
    /// Those that did not, and why.
    pub missing: Vec<(i32, Missing)>,
    /// Threads that had ended before they were to answer.
    pub ended: usize,
    /// What was spent on tables, before the first thread was asked.
    pub prepared: Duration,
    /// From the first question to the last answer.
    pub took: Duration,
    /// Of each thread: from question to answer, and how much of that its handler ran.
    pub times: Vec<(Duration, Duration)>,
}

impl Collector {
    /// For this process.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn new() -> Result<Self, OpenError> {
        Ok(Self {
            own: OwnProcess::open()?,
            tables: None,
            retired: Vec::new(),
            owing: BTreeSet::new(),
            samples: false,
        })
    }

    /// Asks all threads but this one, and waits for so long at most for those that do not answer.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn collect(&mut self, signal: i32, timeout: Duration) -> Result<Collection, OpenError> {
        let begun = Instant::now();
        self.prepare()?;
        let prepared = begun.elapsed();
        let mut collection = self.round(signal, timeout, None);
        collection.prepared = prepared;
        self.ask_again(signal, timeout, &mut collection)?;
        let is_quiet = self.is_quiet();
        if let Some(tables) = self.tables.as_deref_mut().filter(|_| is_quiet) {
            let frames = collection.threads.iter().flat_map(|thread| &thread.frames);
            tables.learn(frames.map(|frame| frame.pc));
        }
        Ok(collection)
    }

    /// Asks threads again whose stacks ended in code that nobody knew: it was mapped after the tables were
    /// made. So too those that may not read memory as others do.
    fn ask_again(
        &mut self,
        signal: i32,
        timeout: Duration,
        collection: &mut Collection,
    ) -> Result<(), OpenError> {
        let is_lost = |thread: &OwnThread| {
            matches!(
                thread.end,
                End::NotCode(_) | End::WildPc(_) | End::NoRule(_) | End::NoRegisters
            )
        };
        let is_blind = |thread: &OwnThread| matches!(thread.end, End::NoRegisters);
        for _ in 0..MAX_TRIES {
            let lost = collection.threads.iter().filter(|thread| is_lost(thread));
            let lost: BTreeSet<i32> = lost.map(|thread| thread.tid.get().cast_signed()).collect();
            let blind = collection.threads.iter().any(is_blind);
            let is_new = (blind && window::read_by_file()) | self.prepare()?;
            if lost.is_empty() || !is_new {
                break;
            }
            let again = self.round(signal, timeout, Some(&lost));
            let answered: BTreeSet<_> = again.threads.iter().map(|thread| thread.tid).collect();
            collection.threads.retain(|thread| !answered.contains(&thread.tid));
            collection.threads.extend(again.threads);
            collection.times.extend(again.times);
            collection.took = collection.took.saturating_add(again.took);
        }
        Ok(())
    }

    /// Asks all threads, or only these.
    fn round(
        &mut self,
        signal: i32,
        timeout: Duration,
        only: Option<&BTreeSet<i32>>,
    ) -> Collection {
        let Some(tables) = self.tables.as_deref() else { return Collection::default() };
        let slots = Slots::get(self.own.target());
        let plan = round::Plan { signal, timeout, slots, tables, only };
        round::run(&plan, &mut self.owing)
    }

    fn is_quiet(&self) -> bool {
        Slots::known().is_none_or(Slots::are_quiet)
    }

    /// A core of the threads that answered.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn core(&self, threads: Vec<OwnThread>) -> Result<Core, OpenError> {
        self.own.core(threads, &OpenOptions::default())
    }

    /// Whether a language runs in the process whose functions cannot be told from machine code.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn runs_language(&self) -> Result<bool, OpenError> {
        let core = self.core(Vec::new())?;
        Ok(core.runtimes().needing_their_instant().next().is_some())
    }

    /// Lets handlers of samples work, by the tables of what is mapped now.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn open_slots(&mut self) -> Result<(), OpenError> {
        self.prepare()?;
        self.samples = true;
        if let Some(tables) = &self.tables {
            Slots::get(self.own.target()).open(tables);
        }
        Ok(())
    }

    /// Lets no more handlers of samples begin.
    pub fn close_slots(&mut self) {
        self.samples = false;
        let Some(slots) = Slots::known() else { return };
        slots.close();
    }

    /// Gives `take` the samples that came: thread, frames, and how many it stands for.
    pub fn take_samples(&self, take: &mut dyn FnMut(i32, &[Frame], u64)) {
        let Some(slots) = Slots::known() else { return };
        let tables = self.tables.as_deref().filter(|_| self.samples);
        slots.take_samples(tables, &mut |answer, frames| take(answer.tid, frames, answer.count));
    }

    /// Names stacks that were counted.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn profile(&self, about: About, stacks: Vec<CountedStack>) -> Result<Profile, OpenError> {
        self.own.profile(about, stacks)
    }

    /// Copies the tables of what was mapped since; says whether there was anything.
    fn prepare(&mut self) -> Result<bool, OpenError> {
        window::choose_way();
        self.drop_retired();
        let Some(machine) = self.own.machine() else { return Ok(false) };
        let Some(tables) = self.own.changed_tables(machine)? else { return Ok(false) };
        self.retired.extend(self.tables.replace(Box::new(tables)));
        self.drop_retired();
        Ok(true)
    }

    fn drop_retired(&mut self) {
        if self.is_quiet() {
            self.retired.clear();
        }
    }
}
