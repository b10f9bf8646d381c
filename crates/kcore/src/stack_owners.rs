//! Whose the frames of long stacks are.
//!
//! Any number of threads and tasks may be led into one long stack, by their frame pointers or by what a core says
//! that they saved, and all of its frames would be each one's. So it is remembered where the long stacks of a command lie.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use crate::{TaskId, Tid};

/// Frames of others that a stack may have in any case.
const MAX_SHARED: u64 = 64;
/// How far the CFAs of one run lie apart: no other stack lies between them that has more than 128 frames.
const MAX_GAP: u64 = 1 << 10;

/// Whose a stack is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// A thread's.
    Thread(Tid),
    /// That of a task which does not run.
    Task(TaskId),
}

/// Where the long stacks of a command lie.
#[derive(Debug, Default)]
pub struct StackOwners(Mutex<OwnedRuns>);

#[derive(Debug, Default)]
struct OwnedRuns {
    /// The number of the command.
    command: u64,
    /// By their lowest CFA.
    runs: BTreeMap<Addr, Run>,
    of_each: FxHashMap<Owner, Counts>,
    of_all: Counts,
    have_cut: bool,
}

/// CFAs from the first to the last one, both included.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: Addr,
    last: Addr,
    owner: Owner,
}

/// Frames that are a stack's own, and those that are of others.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    own: u64,
    shared: u64,
}

/// Addresses from the first to the last one, both included, and who has all of them.
#[derive(Clone, Copy)]
struct Stretch {
    first: Addr,
    last: Addr,
    owner: Option<Owner>,
}

/// A long stack while it is walked.
pub struct LongStack<'a> {
    owners: &'a StackOwners,
    owner: Owner,
    command: u64,
    /// What all others have.
    others: Counts,
    counts: Counts,
    runs: Vec<Run>,
    /// Where the walk is.
    stretch: Option<Stretch>,
}

impl StackOwners {
    /// Begins a stack in the command with this number. What former commands walked is forgotten.
    pub fn begin(&self, owner: Owner, command: u64) -> LongStack<'_> {
        let places = self.places(command);
        let others = places.of_all.less(places.of_each.get(&owner).copied().unwrap_or_default());
        drop(places);
        let (counts, runs) = (Counts::default(), Vec::new());
        LongStack { owners: self, owner, command, others, counts, runs, stretch: None }
    }

    /// Whether some stack is not whole, since it goes on as those of others.
    pub fn have_cut(&self) -> bool {
        self.lock().have_cut
    }

    fn places(&self, command: u64) -> MutexGuard<'_, OwnedRuns> {
        let mut places = self.lock();
        if places.command != command {
            *places = OwnedRuns { command, ..OwnedRuns::default() };
        }
        places
    }

    fn lock(&self) -> MutexGuard<'_, OwnedRuns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LongStack<'_> {
    /// Whether the walk may go on behind the frame with this CFA. All stacks together may have as many
    /// frames of others as there are, and each some in any case.
    pub fn may_go_on(&mut self, cfa: Addr) -> bool {
        if self.is_of_other(cfa) {
            self.counts.shared = self.counts.shared.saturating_add(1);
            let all = self.others.and(self.counts);
            return self.counts.shared <= MAX_SHARED || all.shared <= all.own;
        }
        self.counts.own = self.counts.own.saturating_add(1);
        match self.runs.last_mut() {
            Some(run) if run.last <= cfa && cfa.get() - run.last.get() <= MAX_GAP => run.last = cfa,
            _ => self.runs.push(Run { first: cfa, last: cfa, owner: self.owner }),
        }
        true
    }

    /// Remembers where it lies.
    pub fn end(self, is_cut: bool) {
        let mut places = self.owners.places(self.command);
        places.have_cut |= is_cut;
        places.count(self.owner, self.counts);
        for run in self.runs {
            places.add(run);
        }
    }

    fn is_of_other(&mut self, cfa: Addr) -> bool {
        let stretch = match self.stretch {
            Some(stretch) if (stretch.first..=stretch.last).contains(&cfa) => stretch,
            _ => self.owners.places(self.command).around(cfa),
        };
        self.stretch = Some(stretch);
        stretch.owner.is_some_and(|owner| owner != self.owner)
    }
}

impl OwnedRuns {
    fn around(&self, at: Addr) -> Stretch {
        let below = self.runs.range(..=at).next_back().map(|(_, run)| *run);
        if let Some(run) = below.filter(|run| at <= run.last) {
            return Stretch { first: run.first, last: run.last, owner: Some(run.owner) };
        }
        let first = below.map_or(Addr::new(0), |run| run.last.saturating_add(1));
        let above = self.runs.range(at..).next();
        let last = above.map_or(u64::MAX, |(first, _)| first.get().saturating_sub(1));
        Stretch { first, last: Addr::new(last), owner: None }
    }

    /// Adds a run. With those that it overlaps it becomes one, which is the lowest one's.
    fn add(&mut self, mut run: Run) {
        while let Some((_, below)) = self.runs.range(..=run.last).next_back()
            && below.last >= run.first
        {
            let below = *below;
            self.runs.remove(&below.first);
            run = Run {
                first: run.first.min(below.first),
                last: run.last.max(below.last),
                owner: below.owner,
            };
        }
        self.runs.insert(run.first, run);
    }

    /// Who is walked again counts once.
    fn count(&mut self, owner: Owner, counts: Counts) {
        let known = self.of_each.entry(owner).or_default();
        let more =
            Counts { own: known.own.max(counts.own), shared: known.shared.max(counts.shared) };
        self.of_all = self.of_all.less(*known).and(more);
        *known = more;
    }
}

impl Counts {
    const fn and(self, other: Self) -> Self {
        let own = self.own.saturating_add(other.own);
        Self { own, shared: self.shared.saturating_add(other.shared) }
    }

    const fn less(self, other: Self) -> Self {
        let own = self.own.saturating_sub(other.own);
        Self { own, shared: self.shared.saturating_sub(other.shared) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(number: u32) -> Owner {
        Owner::Thread(Tid::new(number))
    }

    /// How many of the frames whose CFAs these are a walk comes to.
    fn walk(
        owners: &StackOwners,
        owner: Owner,
        command: u64,
        cfas: impl Iterator<Item = u64>,
    ) -> u64 {
        let mut stack = owners.begin(owner, command);
        let (mut count, mut is_cut) = (0, false);
        for cfa in cfas {
            count += 1;
            is_cut = !stack.may_go_on(Addr::new(cfa));
            if is_cut {
                break;
            }
        }
        stack.end(is_cut);
        count
    }

    fn frames(at: u64, count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |number| at + number * 16)
    }

    #[test]
    fn many_stacks_that_go_on_as_one_have_its_frames_once_more_in_all() {
        let owners = StackOwners::default();
        let walked = (0..1000).map(|tid| walk(&owners, thread(tid), 0, frames(0x1000, 1000)));
        let walked: Vec<u64> = walked.collect();
        assert_eq!(walked[..2], [1000, 1000], "two are whole, whatever code did");
        assert!(walked[2..].iter().all(|count| *count == 65), "{walked:?}");
        assert!(owners.have_cut());
    }

    #[test]
    fn stacks_of_their_own_are_whole() {
        let owners = StackOwners::default();
        for tid in 0..1000 {
            let at = u64::from(tid) * 0x1_0000;
            assert_eq!(walk(&owners, thread(tid), 0, frames(at, 4096)), 4096);
        }
        assert_eq!(walk(&owners, thread(5000), 0, frames(1 << 40, 1_000_000)), 1_000_000);
        assert_eq!(owners.lock().runs.len(), 1001);
        assert!(!owners.have_cut());
    }

    #[test]
    fn a_stack_between_the_far_frames_of_another_is_its_own() {
        let owners = StackOwners::default();
        walk(&owners, thread(1), 0, (0..1000).map(|number| number * 0x1_0000));
        let between = walk(&owners, thread(2), 0, frames(0x5_0010, 4000));
        assert_eq!((between, owners.have_cut()), (4000, false));
    }

    #[test]
    fn who_is_walked_again_is_whole_and_counts_once() {
        let owners = StackOwners::default();
        let cfas = || frames(0x1000, 1000);
        for _ in 0..100 {
            assert_eq!(walk(&owners, thread(1), 0, cfas()), 1000);
            assert_eq!(walk(&owners, thread(2), 0, cfas()), 1000);
        }
        assert_eq!(walk(&owners, thread(3), 0, cfas()), 65);
        assert_eq!(walk(&owners, thread(3), 1, cfas()), 1000, "the next command begins anew");
    }
}
