//! All threads at one instant.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{
    Deadline, Order, Plan, Refused, after,
    beside::{beside, spawn},
    gate::Gate,
    instants_of,
    tracee::Tracee,
    tracer::Tracer,
};
use crate::{
    LiveError, Process, SnapThread, Snapshot,
    arena::Arena,
    sys::{clock, ptrace},
};

/// Threads from whose number on a second tracer is worth its beginning and the waiting for it.
const WORTH_TWO: usize = 32;
/// How much longer than threads a tracer waits for another one.
const GRACE: Duration = Duration::from_millis(500);

/// The gates that tracers pass together.
struct Gates {
    /// All threads are traced.
    seized: Gate,
    /// All threads that waited stand still.
    waiting: Gate,
    /// All threads stand still.
    stopped: Gate,
    /// So do those that were made meanwhile.
    complete: Gate,
    /// All is copied.
    copied: Gate,
    /// How many threads are held by all tracers together, once all stand still.
    held: AtomicUsize,
}

impl Gates {
    fn new(tracers: usize) -> Self {
        let gate = || Gate::new(tracers);
        Self {
            seized: gate(),
            waiting: gate(),
            stopped: gate(),
            complete: gate(),
            copied: gate(),
            held: AtomicUsize::new(0),
        }
    }
}

/// The other tracer must not wait at these gates for this one, for which it is over.
fn leave(gates: &[&Gate]) -> bool {
    gates.iter().for_each(|gate| gate.leave());
    false
}

/// When a tracer waits for another one no longer, that has so much time to do something.
fn lost(until: Deadline<'_>, time: Duration) -> Instant {
    let at = until.within(time).at();
    at.checked_add(GRACE).unwrap_or(at)
}

/// What one tracer did.
struct Share {
    threads: Vec<SnapThread>,
    arena: Arena,
    began: Instant,
    ended: Instant,
    late: bool,
    /// Whether another tracer was not waited for any longer.
    alone: bool,
    refused: Vec<Refused>,
}

/// Copies the process as it is at one instant.
///
/// # Errors
/// When none of the threads could be stopped.
pub fn capture(plan: &Plan<'_>, order: &Order) -> Result<Snapshot, LiveError> {
    let shares = match tracers_for(order.len()) {
        2 => by_two(plan, order),
        _ => None,
    };
    join(plan, shares.unwrap_or_else(|| Vec::from_iter(by_one(plan, order))))
}

/// What a tracer copies of all threads.
fn by_one(plan: &Plan<'_>, order: &Order) -> Option<Share> {
    let gates = Gates::new(1);
    let own = order.share(0, 1);
    let work = || trace(plan, order, &own, true, 1, &gates);
    beside(work, || take_note_of_ends(plan, &gates.complete)).ok().flatten()
}

/// What two tracers copy that share the threads; `None` where a second one cannot be made.
fn by_two(plan: &Plan<'_>, order: &Order) -> Option<Vec<Share>> {
    let gates = Gates::new(2);
    let [first, second] = [0, 1].map(|index| order.share(index, 2));
    thread::scope(|scope| {
        let other = spawn(scope, || trace(plan, order, &second, false, 2, &gates))?;
        let work = || trace(plan, order, &first, true, 2, &gates);
        let own = beside(work, || take_note_of_ends(plan, &gates.complete));
        Some(own.ok().flatten().into_iter().chain(other.join()).collect())
    })
}

/// A thread that starts another program waits until all others have ended, and the system until a
/// tracer has taken note of their ends; meanwhile it lets nobody trace another thread. So a tracer that
/// is held up there cannot do what it is held up for: this thread does.
pub fn take_note_of_ends(plan: &Plan<'_>, complete: &Gate) {
    const FIRST: Duration = Duration::from_millis(20);
    const THEN: Duration = Duration::from_millis(5);
    let start = Instant::now();
    let until = after(plan.timeout.saturating_add(plan.timeout).saturating_add(GRACE));
    while !complete.is_open() && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
        if start.elapsed() > FIRST && !complete.is_open() {
            let listed = plan.process.task_ids().unwrap_or_default();
            listed.into_iter().for_each(ptrace::take_note_of_end);
            thread::sleep(THEN);
        }
    }
}

fn tracers_for(threads: usize) -> usize {
    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if threads >= WORTH_TWO && processors > 1 { 2 } else { 1 }
}

/// What one tracer does. The first of them catches the threads that are made meanwhile, and copies what
/// is wanted besides stacks.
fn trace(
    plan: &Plan<'_>,
    all: &Order,
    own: &Order,
    is_first: bool,
    tracers: usize,
    gates: &Gates,
) -> Share {
    let more = if is_first { plan.memory_too } else { &[] };
    let bytes = more.iter().map(|range| range.len()).fold(0, u64::saturating_add);
    let mut tracer = Tracer::new(plan, own.len(), bytes, all.len() <= plan.floating_up_to);
    tracer.seize(&own.waiting);
    let running = tracer.seize(&own.running);
    gates.seized.pass(after(plan.timeout));
    let began = Instant::now();
    let until = plan.deadline();
    let stands = stop_waiting(plan, (running, until), &mut tracer, gates)
        && stop_running(plan, all, (is_first, running, until), &mut tracer, gates);
    if stands {
        let together = plan.stacks.together.checked_div(tracers as u64).unwrap_or_default();
        tracer.copy(0, more, together, until.within(plan.copy_timeout));
    }
    let lost = lost(until, plan.copy_timeout);
    let alone = if stands { !gates.copied.pass(lost) } else { true };
    tracer.release();
    let ended = Instant::now();
    let Tracer { tracees, arena, late, refused, .. } = tracer;
    let threads = tracees.into_iter().filter_map(Tracee::into_thread).collect();
    Share { threads, arena, began, ended, late, alone, refused }
}

/// Stops the threads of this tracer that wait, those before `running`, and waits until the other one has
/// stopped its own. Says whether that came.
fn stop_waiting(
    plan: &Plan<'_>,
    (running, until): (usize, Deadline<'_>),
    tracer: &mut Tracer<'_>,
    gates: &Gates,
) -> bool {
    let lost = lost(until, plan.timeout);
    tracer.stop(..running, until.within(plan.timeout));
    gates.waiting.pass(lost) || leave(&[&gates.stopped, &gates.complete, &gates.copied])
}

/// Stops the threads of this tracer that run, and waits until the other one has stopped its own. Says
/// whether all of them stand still then, but those that are late.
fn stop_running(
    plan: &Plan<'_>,
    all: &Order,
    (is_first, running, until): (bool, usize, Deadline<'_>),
    tracer: &mut Tracer<'_>,
    gates: &Gates,
) -> bool {
    let deadline = until.within(plan.timeout);
    let lost = lost(until, plan.timeout);
    tracer.stop(running.., deadline);
    gates.held.fetch_add(tracer.held(), Ordering::AcqRel);
    if !gates.stopped.pass(lost) {
        return leave(&[&gates.complete, &gates.copied]);
    }
    if is_first && plan.threads.is_none() {
        let others = gates.held.load(Ordering::Acquire).saturating_sub(tracer.held());
        catch_new(plan.process, tracer, others, all, deadline);
    }
    gates.complete.pass(lost) || leave(&[&gates.copied])
}

/// Stops threads that were made after the list was. Once the system counts as many threads as are held,
/// there are no others. Where it counts more, one of them may be a thread that has ended and that nobody
/// has taken note of: so two lists without anything new are enough, too, since only a thread that runs
/// makes another one.
pub fn catch_new(
    process: &Process,
    tracer: &mut Tracer<'_>,
    others: usize,
    known: &Order,
    deadline: Deadline<'_>,
) {
    let mut known: HashSet<i32> = known.all().collect();
    let mut quiet: u32 = 0;
    while quiet < 2 && !deadline.is_over() {
        if process.count_of_threads() == Some(tracer.held().saturating_add(others) as u64) {
            return;
        }
        let Ok(listed) = process.task_ids() else { return };
        let new: Vec<i32> = listed.into_iter().filter(|tid| known.insert(*tid)).collect();
        quiet = if new.is_empty() { quiet.saturating_add(1) } else { 0 };
        let first = tracer.seize(&new);
        tracer.stop(first.., deadline);
    }
}

fn join(plan: &Plan<'_>, shares: Vec<Share>) -> Result<Snapshot, LiveError> {
    if shares.iter().any(|share| share.alone) {
        return Err(LiveError::Torn(plan.process.pid()));
    }
    let began = shares.iter().map(|share| share.began).min();
    let ended = shares.iter().map(|share| share.ended).max();
    let stopped = began.zip(ended).map(|(began, ended)| ended.duration_since(began));
    let mut snapshot = Snapshot::empty(instants_of(plan));
    snapshot.stopped = stopped.unwrap_or_default();
    snapshot.clock = began.and_then(|began| clock::of_process(plan.process, began));
    let mut refused = Vec::new();
    for share in shares {
        snapshot.threads.extend(share.threads);
        snapshot.arenas.push(share.arena);
        snapshot.late |= share.late;
        refused.extend(share.refused);
    }
    snapshot.checked(plan, refused)
}
