//! One tracer: a thread of kcore that traces some of the threads of the process.

use std::{
    slice::SliceIndex,
    thread,
    time::{Duration, Instant},
};

use kcore_mem::AddrRange;

use super::{
    Deadline, Plan, after,
    copied::{self, copy_stacks},
    tracee::Tracee,
};
use crate::{
    arena::Arena,
    sys::{priority::Raised, signals::HeldBack},
};

/// Memory that is touched beforehand for the stack of a thread.
const ROOM_OF_STACK: usize = 24 << 10;
/// Times that a thread is looked after before others are: it stops within microseconds where a
/// processor is free.
const EAGER_LOOKS: u32 = 50;
/// How long a tracer sleeps once all have been looked after often.
const NAP: Duration = Duration::from_micros(50);
/// How long threads have to take signals of kcore's own: each is at its next step in its own code.
const OWN_SIGNALS: Duration = Duration::from_secs(1);

/// A thread that could not be traced, and why.
#[derive(Debug)]
pub struct Refused {
    pub tid: i32,
    pub error: std::io::Error,
}

/// What one tracer holds. It lives no longer than the thread that made it, whose end lets go what
/// was not let go before.
#[derive(Debug)]
pub struct Tracer<'a> {
    plan: &'a Plan<'a>,
    pub tracees: Vec<Tracee>,
    pub arena: Arena,
    /// Whether the time was over before all was copied.
    pub late: bool,
    /// Threads that could not be traced.
    pub refused: Vec<Refused>,
    floating: bool,
    /// Where objects may lie to which stacks point.
    heaps: Vec<AddrRange>,
    _signals: HeldBack,
    _priority: Raised,
}

impl<'a> Tracer<'a> {
    /// A tracer for so many threads, and so many bytes besides their stacks. With `floating`,
    /// floating-point registers are read too.
    pub fn new(plan: &'a Plan<'a>, threads: usize, bytes: u64, floating: bool) -> Self {
        let bytes = usize::try_from(bytes).unwrap_or_default();
        let room = threads.saturating_mul(ROOM_OF_STACK).saturating_add(bytes);
        Self {
            plan,
            tracees: Vec::with_capacity(threads),
            arena: Arena::with_room(room, threads.saturating_mul(2)),
            late: false,
            refused: Vec::new(),
            floating,
            heaps: copied::heaps(plan),
            _signals: HeldBack::begin(),
            _priority: Raised::begin(),
        }
    }

    /// Begins to trace threads; they go on running. The answer is which of its tracees is the first of
    /// them.
    pub fn seize(&mut self, tids: &[i32]) -> usize {
        self.seize_by(tids, Tracee::seize)
    }

    /// As [`Tracer::seize`], and they stop at events as well.
    pub fn seize_for_events(&mut self, tids: &[i32]) {
        self.seize_by(tids, Tracee::seize_for_events);
    }

    fn seize_by(&mut self, tids: &[i32], seize: fn(i32, bool) -> std::io::Result<Tracee>) -> usize {
        let first = self.tracees.len();
        for tid in tids {
            match seize(*tid, self.floating) {
                Ok(tracee) => self.tracees.push(tracee),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => self.refused.push(Refused { tid: *tid, error }),
            }
        }
        first
    }

    /// The threads that it traces.
    pub fn tids(&self) -> Vec<i32> {
        self.tracees.iter().map(Tracee::tid).collect()
    }

    /// Takes over what became of threads while events were waited for: these are traced now, and no others.
    pub fn adopt(&mut self, tids: &[i32]) {
        self.tracees.retain(|tracee| tids.contains(&tracee.tid()));
        let known = self.tids();
        let new = tids.iter().filter(|tid| !known.contains(tid));
        self.tracees.extend(new.map(|tid| Tracee::adopt(*tid, self.floating)));
    }

    /// Takes these threads as ones that stand still: note was taken of their stops.
    pub fn stand_already(&mut self, tids: &[i32]) {
        let standing = self.tracees.iter_mut().filter(|tracee| tids.contains(&tracee.tid()));
        standing.for_each(Tracee::stands_already);
    }

    /// Lets threads take the signals of kcore's own that wait for them.
    pub fn take_own_signals(&mut self) {
        let until = after(OWN_SIGNALS);
        self.tracees.iter_mut().for_each(|tracee| tracee.take_own_signals(until));
    }

    /// Stops some of the threads, and reads their registers. All are asked before the first is waited for.
    pub fn stop(
        &mut self,
        which: impl SliceIndex<[Tracee], Output = [Tracee]>,
        deadline: Deadline<'_>,
    ) {
        let tracees = self.tracees.get_mut(which).unwrap_or_default();
        let now = Instant::now();
        tracees.iter_mut().for_each(|tracee| tracee.interrupt(now));
        tracees.iter_mut().for_each(look_often);
        wait_for_all(tracees, deadline);
        tracees.iter_mut().for_each(Tracee::give_up);
    }

    /// Copies the used part of the stacks of threads from `first` on, and `more`. Only what one stack
    /// has beyond its first part counts against `together`.
    pub fn copy(
        &mut self,
        first: usize,
        more: &[AddrRange],
        together: u64,
        deadline: Deadline<'_>,
    ) {
        let tracees = self.tracees.get(first..).unwrap_or_default();
        let standing = tracees.iter().filter(|tracee| tracee.stands());
        let standing: Vec<&[u8]> = standing.map(Tracee::general).collect();
        let what = (self.plan, self.heaps.as_slice());
        copy_stacks(&mut self.arena, what, &standing, together, deadline);
        self.arena.copy(self.plan.memory, more, deadline);
        self.late |= deadline.is_over();
    }

    /// How many threads of the process it holds.
    pub fn held(&self) -> usize {
        self.tracees.iter().filter(|tracee| tracee.is_held()).count()
    }

    /// Lets all threads go, those first that were stopped last.
    pub fn release(&mut self) {
        self.tracees.iter_mut().rev().for_each(Tracee::release);
        let now = Instant::now();
        self.tracees.iter_mut().for_each(|tracee| tracee.note_stop(now));
    }
}

/// Looks after one thread for as long as most take to reach their stop.
fn look_often(tracee: &mut Tracee) {
    for _ in 0..EAGER_LOOKS {
        if tracee.look() {
            return;
        }
        thread::yield_now();
    }
}

/// Looks after all of them by turns: one may not stop before another one, which has ended, was taken
/// note of, as it is when a thread starts another program.
fn wait_for_all(tracees: &mut [Tracee], deadline: Deadline<'_>) {
    let mut looks: u32 = 0;
    while tracees.iter_mut().filter_map(|tracee| (!tracee.look()).then_some(())).count() > 0 {
        looks = looks.saturating_add(1);
        if looks < EAGER_LOOKS {
            thread::yield_now();
        } else if deadline.is_over() {
            return;
        } else {
            tracees.iter_mut().for_each(Tracee::insist);
            thread::sleep(NAP);
        }
    }
}
