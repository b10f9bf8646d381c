//! Taking samples: which threads are stopped, and what stack each of the others still has.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    time::{Duration, Instant},
};

use kcore_live::{LiveError, Piece, SnapThread, Snapshot, Standing, Turns};
use kcore_mem::AddrRange;
use kcore_profile::{Sample, StackId, ThreadId};

use super::{
    ProfileChange,
    course::{Course, Next},
    names::Names,
    prepared::{Maps, Prepared},
};
use crate::{Core, OpenError, ThreadChoice, Tid};

/// How old the list of mappings may be.
const MAPS_AGE: Duration = Duration::from_millis(250);
/// How old the list of threads may be.
const THREADS_AGE: Duration = Duration::from_millis(100);

/// What is known of a thread since it was last stopped.
struct Last {
    thread: ThreadId,
    stack: StackId,
    state: Option<char>,
    content: Content,
}

/// What tells one stack from another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Content {
    /// Where the thread stood.
    at: Standing,
    /// Its general registers, as a number.
    registers: u64,
    /// The bytes of its stack, as a number, and how many there are.
    bytes: u64,
    len: u64,
}

/// Takes samples of one program.
pub struct Sampler<'a, 'c> {
    prepared: &'a Prepared<'a>,
    course: &'a mut Course<'c>,
    maps: Maps,
    threads: Vec<i32>,
    listed: Instant,
    /// How many threads the system counted then.
    listed_count: Option<u64>,
    turns: Turns,
    last: HashMap<i32, Last>,
    names: Names,
    hasher: RandomState,
    /// How long threads were held by the round that is taken.
    held: Duration,
    /// How many intervals it stands for.
    weight: u32,
}

impl<'a, 'c> Sampler<'a, 'c> {
    /// Nothing is sampled yet.
    pub fn new(prepared: &'a Prepared<'a>, course: &'a mut Course<'c>) -> Self {
        Self {
            maps: prepared.maps(),
            names: Names::new(course.wanted.native),
            prepared,
            course,
            threads: Vec::new(),
            listed: Instant::now(),
            listed_count: None,
            turns: Turns::default(),
            last: HashMap::new(),
            hasher: RandomState::new(),
            held: Duration::ZERO,
            weight: 1,
        }
    }

    /// Samples until the time is over or the program is.
    ///
    /// # Errors
    /// Where not even the first sample of the profile can be taken.
    pub fn run(mut self) -> Result<Next, LiveError> {
        while !self.course.is_over() {
            self.held = Duration::ZERO;
            let at = self.course.elapsed();
            if let Err(error) = self.take_whole(at)
                && let Some(next) = self.after(error, at)?
            {
                return Ok(next);
            }
            self.weight = self.course.wait(self.held);
        }
        self.look_last()
    }

    /// Looks once more when the time is over: what happened since the last round is told as well.
    fn look_last(&mut self) -> Result<Next, LiveError> {
        self.listed_count = None;
        let now = self.course.elapsed();
        match self.prepared.refresh(&mut self.maps).and_then(|()| self.refresh()) {
            Err(error) => Ok(self.after(error, now)?.unwrap_or(Next::Over)),
            Ok(()) => {
                self.count_rest(now);
                Ok(Next::Over)
            }
        }
    }

    /// Counts the time since the last round, if every thread is still as it was then: no other state is known
    /// without a stop, for which there is no time left.
    fn count_rest(&mut self, at: Duration) {
        self.weight = self.course.untaken();
        let threads = self.threads.clone();
        if self.weight > 0 && threads.iter().all(|tid| self.is_as_it_was(*tid)) {
            threads.into_iter().for_each(|tid| self.again(tid, at));
            self.course.cover(self.weight);
        }
    }

    /// What is to be done after a round that failed, and began at this time; `None`: the next one.
    fn after(&mut self, error: LiveError, began: Duration) -> Result<Option<Next>, LiveError> {
        match error {
            // Threads that ended while they were to be stopped look like a program that did.
            LiveError::Gone(_) if self.prepared.is_current() => Ok(None),
            LiveError::Gone(_) | LiveError::NoProcess(_) => Ok(Some(Next::LookAgain)),
            LiveError::NoThread { .. } if self.course.cost.rounds > 0 => {
                self.course.note(ProfileChange::NoThreads);
                Ok(Some(Next::Over))
            }
            error if self.course.cost.samples == 0 => Err(error),
            // Another debugger has it, for example, and may let it go.
            error => {
                // How long threads stood still in it is not known: no longer than it took.
                self.held = self.course.elapsed().saturating_sub(began);
                self.course.lose(self.threads.len() as u64);
                self.course.note(ProfileChange::Refused(error.to_string()));
                Ok(None)
            }
        }
    }

    /// Takes a sample of each thread, and notes what time they stand for unless some were lost.
    fn take_whole(&mut self, at: Duration) -> Result<(), LiveError> {
        let lost = self.course.cost.lost;
        self.take(at)?;
        if self.course.cost.lost == lost && !self.course.is_stopped() {
            self.course.cover(self.weight);
        }
        Ok(())
    }

    /// Takes a sample of each thread.
    fn take(&mut self, at: Duration) -> Result<(), LiveError> {
        self.refresh()?;
        let threads = std::mem::take(&mut self.threads);
        let (rest, run): (Vec<i32>, Vec<i32>) =
            threads.iter().partition(|tid| self.is_as_it_was(**tid));
        self.threads = threads;
        let cost = &mut self.course.cost;
        cost.rounds = cost.rounds.saturating_add(1);
        cost.unstopped = cost.unstopped.saturating_add(rest.len() as u64);
        for tid in rest {
            self.again(tid, at);
        }
        if run.is_empty() { Ok(()) } else { self.stop(&run, at) }
    }

    /// Whether a thread has the stack that it had, as far as can be told without stopping it.
    fn is_as_it_was(&mut self, tid: i32) -> bool {
        let process = self.prepared.process;
        let has_run = self.turns.has_run(process, tid);
        let Some(last) = self.last.get(&tid) else { return false };
        // What a thread does that runs is not counted before its turn ends.
        if matches!(last.state, None | Some('R')) {
            return false;
        }
        // It has had a turn for having been stopped, if for nothing else.
        !has_run || (self.waits_as_before(tid, last.content) && !self.turns.has_run(process, tid))
    }

    /// Whether a thread waits where it did, on a stack that holds what it held.
    fn waits_as_before(&self, tid: i32, content: Content) -> bool {
        let is_there = || self.prepared.process.waits_at(tid) == Some(content.at);
        let same_bytes = || {
            let bytes = self.prepared.read(AddrRange::with_len(content.at.sp, content.len));
            bytes.is_some_and(|bytes| self.hasher.hash_one(&bytes[..]) == content.bytes)
        };
        is_there() && same_bytes()
    }

    /// Lists threads and mappings anew, when they may have changed.
    fn refresh(&mut self) -> Result<(), LiveError> {
        if self.maps.read.elapsed() > MAPS_AGE {
            self.prepared.refresh(&mut self.maps)?;
        }
        let count = self.prepared.process.count_of_threads();
        let is_known = count.is_some() && count == self.listed_count;
        if !self.threads.is_empty() && is_known && self.listed.elapsed() < THREADS_AGE {
            return Ok(());
        }
        let choice = &self.course.wanted.live.threads;
        let before = std::mem::replace(&mut self.threads, self.prepared.threads(choice)?);
        (self.listed, self.listed_count) = (Instant::now(), count);
        if matches!(choice, ThreadChoice::Tids(_)) {
            self.note_ended(&before);
        }
        self.turns.keep(&self.threads);
        self.last.retain(|tid, _| self.threads.contains(tid));
        Ok(())
    }

    /// Notes those of the threads that are not there any more.
    fn note_ended(&mut self, before: &[i32]) {
        let has_ended = |tid: &&i32| !self.threads.contains(tid);
        let ended = before.iter().filter(has_ended).filter_map(|tid| u32::try_from(*tid).ok());
        let ended: Vec<Tid> = ended.map(Tid::new).collect();
        if !ended.is_empty() {
            self.course.note(ProfileChange::Threads(ended));
        }
    }

    fn stop(&mut self, tids: &[i32], at: Duration) -> Result<(), LiveError> {
        let before = self.waited_alone(tids);
        let taken = self.prepared.capture(&self.maps, tids, &self.course.progress.stop);
        let queued = self.waited_alone(tids).zip(before);
        let queued = queued.map_or(Duration::ZERO, |(now, before)| now.saturating_sub(before));
        // What was not copied by then is missing: it is no sample.
        if self.course.is_stopped() {
            taken.iter().for_each(|snapshot| self.note_stop(snapshot, queued));
            return Ok(());
        }
        let snapshot = match taken {
            // They may have ended meanwhile, and the process not.
            Err(LiveError::NoThread { .. }) => return self.all_gone(tids.len()),
            // It waits where nothing stops it, as for the child of a vfork, and may do so for a while alone.
            Err(ref error @ LiveError::NotStopped { limit, .. }) => {
                self.held = limit;
                self.course.lose(tids.len() as u64);
                self.course.note(ProfileChange::Refused(error.to_string()));
                return Ok(());
            }
            taken => taken?,
        };
        self.note_stop(&snapshot, queued);
        self.count_all(&snapshot, at);
        Ok(())
    }

    /// How long a thread that is stopped alone has waited for a processor: on its way to the stop it waits as it would
    /// without, and nobody waits for it.
    fn waited_alone(&mut self, tids: &[i32]) -> Option<Duration> {
        match tids {
            [alone] => self.turns.waited(self.prepared.process, *alone),
            _ => None,
        }
    }

    /// Notes what a stop cost. A thread that was stopped alone had to wait for a processor as long as `queued` to reach
    /// it.
    fn note_stop(&mut self, snapshot: &Snapshot, queued: Duration) {
        self.held = self.held_by(snapshot).saturating_sub(queued);
        let cost = &mut self.course.cost;
        cost.stops = cost.stops.saturating_add(1);
        cost.stopped = cost.stopped.saturating_add(snapshot.threads.len() as u64);
        cost.held = cost.held.saturating_add(self.held);
        cost.longest = cost.longest.max(snapshot.stopped.saturating_sub(queued));
    }

    /// How long threads stood still: together, or one after the other.
    fn held_by(&self, snapshot: &Snapshot) -> Duration {
        match self.course.wanted.live.rolling {
            true => snapshot.threads.iter().map(|thread| thread.stopped).sum(),
            false => snapshot.stopped,
        }
    }

    fn all_gone(&mut self, count: usize) -> Result<(), LiveError> {
        self.course.lose(count as u64);
        self.listed_count = None;
        self.prepared.process.task_ids().map(drop)
    }

    /// Counts the threads of a snapshot; only of those whose stack has changed is it walked.
    fn count_all(&mut self, snapshot: &Snapshot, at: Duration) {
        let stacks = Stacks::of(snapshot);
        let mut core = None;
        for thread in &snapshot.threads {
            let content = self.content(&stacks, thread);
            let last = self.last.get(&thread.tid).map(|last| last.content);
            if content.is_none() || last != content {
                let made = core.get_or_insert_with(|| self.prepared.core(&self.maps, snapshot));
                self.walk(made, thread, content);
            }
            self.note_state(thread);
            self.again(thread.tid, at);
        }
    }

    fn content(&self, stacks: &Stacks<'_>, thread: &SnapThread) -> Option<Content> {
        let general = &thread.registers.as_ref()?.general[..];
        let at = Standing::of_registers(general)?;
        let bytes = stacks.from(at)?;
        Some(Content {
            at,
            registers: self.hasher.hash_one(general),
            bytes: self.hasher.hash_one(bytes),
            len: bytes.len() as u64,
        })
    }

    fn walk(
        &mut self,
        core: &Result<Core, OpenError>,
        thread: &SnapThread,
        content: Option<Content>,
    ) {
        self.last.remove(&thread.tid);
        let Some(content) = content else { return };
        let (Ok(core), Ok(tid)) = (core, u32::try_from(thread.tid)) else { return };
        if let Some((id, stack)) =
            self.names.of_thread(core, Tid::new(tid), &mut self.course.profile)
        {
            self.last.insert(thread.tid, Last { thread: id, stack, state: None, content });
        }
    }

    fn note_state(&mut self, thread: &SnapThread) {
        if let Some(last) = self.last.get_mut(&thread.tid) {
            last.state = thread.stat.as_ref().map(|stat| stat.state);
        }
    }

    /// Counts a thread with the stack that is known of it.
    fn again(&mut self, tid: i32, at: Duration) {
        let Some(last) = self.last.get(&tid) else { return self.course.lose(1) };
        let states = match self.course.wanted.on_cpu {
            true => Some("R"),
            false => self.course.wanted.states.as_deref(),
        };
        let counts = match (states, last.state) {
            (Some(states), Some(state)) => states.contains(state),
            (states, _) => states.is_none(),
        };
        if counts {
            let (thread, stack, weight) = (last.thread, last.stack, self.weight);
            let is_doubtful = u64::from(self.names.is_doubtful(stack));
            self.course.cost.doubtful = self.course.cost.doubtful.saturating_add(is_doubtful);
            self.course.add(Sample { at, thread, stack, weight });
        }
    }
}

/// The memory of a snapshot.
struct Stacks<'a>(Vec<Piece<'a>>);

impl<'a> Stacks<'a> {
    fn of(snapshot: &'a Snapshot) -> Self {
        Self(snapshot.pieces().collect())
    }

    /// The bytes from a stack pointer on: a page of the same stack may have been copied as well, since
    /// something points to it.
    fn from(&self, at: Standing) -> Option<&'a [u8]> {
        let from = |piece: &Piece<'a>| {
            let offset = usize::try_from(at.sp.offset_from(piece.start)?).ok()?;
            piece.bytes.get(offset..)
        };
        self.0.iter().filter_map(from).max_by_key(|bytes| bytes.len())
    }
}
