//! The collector: asks every thread of the process for its stack, and takes what comes.

mod round;
mod tasks;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use kcore::{Core, OpenError, OpenOptions, OwnProcess, OwnThread, in_place::Tables};

use crate::slots::Slots;

pub use tasks::Missing;

/// What belongs to collections of one process, from one to the next.
pub struct Collector {
    own: OwnProcess,
    tables: Option<Box<Tables>>,
    /// Threads that were asked and never answered: their signal may wait still.
    owing: BTreeSet<i32>,
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
        Ok(Self { own: OwnProcess::open()?, tables: None, owing: BTreeSet::new() })
    }

    /// Asks all threads but this one, and waits for so long at most for those that do not answer.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn collect(&mut self, signal: i32, timeout: Duration) -> Result<Collection, OpenError> {
        let begun = Instant::now();
        self.prepare()?;
        let prepared = begun.elapsed();
        let Some(tables) = self.tables.as_deref_mut() else { return Ok(Collection::default()) };
        let slots = Slots::get(self.own.target());
        let mut collection =
            round::run(&round::Plan { signal, timeout, slots, tables }, &mut self.owing);
        collection.prepared = prepared;
        if slots.are_quiet() {
            let frames = collection.threads.iter().flat_map(|thread| &thread.frames);
            tables.learn(frames.map(|frame| frame.pc));
        }
        Ok(collection)
    }

    /// A core of the threads that answered.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn core(&self, threads: Vec<OwnThread>) -> Result<Core, OpenError> {
        self.own.core(threads, &OpenOptions::default())
    }

    /// Copies the tables of what was mapped since.
    fn prepare(&mut self) -> Result<(), OpenError> {
        let Some(machine) = self.own.machine() else { return Ok(()) };
        let Some(tables) = self.own.changed_tables(machine)? else { return Ok(()) };
        let old = self.tables.replace(Box::new(tables));
        if Slots::known().is_some_and(|slots| !slots.are_quiet()) {
            // A handler that is late still reads them.
            std::mem::forget(old);
        }
        Ok(())
    }
}
