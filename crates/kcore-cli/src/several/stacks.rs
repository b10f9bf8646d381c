//! The stacks of several cores, each once, with the cores that have it.

use std::collections::{HashMap, HashSet};

use kcore::{Core, StackGroup};
use kcore_dcmd::{Column, Fields, Record, View, stack::MAX_GROUP_FRAMES};

use super::alike::{Comparable, Likeness};

const CORE_COLUMNS: &[Column] = &[
    Column::right("core", "CORE", 4),
    Column::right("threads", "THREADS", 8),
    Column::right("tasks", "TASKS", 8),
    Column::right("stacks", "STACKS", 7),
    Column::left("file", "FILE", 0),
];

/// A core that was looked at.
pub(super) struct ComparedCore {
    /// By which its stacks refer to it, from 1.
    number: usize,
    file: String,
    threads: usize,
    tasks: usize,
    stacks: usize,
}

impl Record for ComparedCore {
    fn kind(&self) -> &'static str {
        "compared_core"
    }

    fn view(&self) -> View {
        View::Table(CORE_COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("core", self.number as u64)
            .text("file", self.file.as_str())
            .num("threads", self.threads as u64)
            .num("tasks", self.tasks as u64)
            .num("stacks", self.stacks as u64);
    }
}

/// A stack, with the number of threads and tasks that have it in each core.
pub(super) struct ComparedStack {
    pub(super) like: Comparable,
    pub(super) waits_in: Option<String>,
    /// How many threads and tasks of each core have it, by the number of the core.
    pub(super) counts: Vec<(usize, usize)>,
}

impl ComparedStack {
    /// How many threads and tasks of all cores have it.
    pub(super) fn total(&self) -> usize {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// How many threads and tasks of one core have it.
    pub(super) fn count_of(&self, core: usize) -> usize {
        self.counts.iter().find(|(number, _)| *number == core).map_or(0, |(_, count)| *count)
    }

    fn add(&mut self, core: usize, count: usize) {
        match self.counts.last_mut() {
            Some((last, sum)) if *last == core => *sum = sum.saturating_add(count),
            _ => self.counts.push((core, count)),
        }
    }
}

/// The stacks of all cores, each once.
#[derive(Default)]
pub(super) struct Comparison {
    pub(super) cores: Vec<ComparedCore>,
    pub(super) stacks: Vec<ComparedStack>,
    known: HashMap<Likeness, usize>,
}

impl Comparison {
    /// Adds the stacks of one core: those of its threads, and of the tasks that no thread runs.
    pub(super) fn add(&mut self, file: &str, core: &Core) {
        let number = self.cores.len().saturating_add(1);
        let tids = core.tids();
        let groups = core.stacks().groups(&tids, core.tasks().all(), MAX_GROUP_FRAMES);
        let tasks = groups.iter().map(|group| group.tasks.len()).sum();
        let mut seen = HashSet::new();
        for group in &groups {
            seen.insert(self.add_group(number, core, group));
        }
        let file = file.to_owned();
        let (threads, stacks) = (tids.len(), seen.len());
        self.cores.push(ComparedCore { number, file, threads, tasks, stacks });
    }

    /// Adds the threads and tasks of one group, and returns the index of their stack.
    fn add_group(&mut self, number: usize, core: &Core, group: &StackGroup) -> usize {
        let waits_in = group.waits_in.as_deref().map(str::to_owned);
        let like = Comparable::new(core, &group.stack, waits_in.clone());
        let next = self.stacks.len();
        let index = *self.known.entry(like.likeness.clone()).or_insert(next);
        if index == next {
            self.stacks.push(ComparedStack { like, waits_in, counts: Vec::new() });
        }
        if let Some(stack) = self.stacks.get_mut(index) {
            stack.add(number, group.count());
        }
        index
    }
}
