//! A process that stands still for as long as some work takes.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{
    Deadline, Order, Plan,
    beside::beside,
    copied::{self, copy_stacks},
    gate::Gate,
    instants_of, tids_of,
    tracee::Tracee,
    tracer::Tracer,
    whole,
};
use crate::{
    Caught, LiveError, Moment, SnapThread, Snapshot,
    arena::Arena,
    catch::Watch,
    sys::{clock, signals::PutOff},
};

/// A process that stands still.
#[derive(Debug)]
pub struct StoppedProcess<'a> {
    /// Its threads with their registers, its first thread first, or the one before it that an event happened to.
    pub threads: Vec<SnapThread>,
    /// Until when it may.
    pub until: Deadline<'a>,
    /// Since when it does.
    pub since: Instant,
    /// What was waited for and happened.
    pub caught: Option<Caught>,
}

impl StoppedProcess<'_> {
    /// The ids of threads that did not stop in time.
    pub fn late_threads(&self) -> Vec<i32> {
        let late = self.threads.iter().filter(|thread| thread.registers.is_none());
        late.map(|thread| thread.tid).collect()
    }

    /// Copies what a plan wants of it: a snapshot of this very moment, as often as one is taken.
    pub fn capture(&self, plan: &Plan<'_>) -> Snapshot {
        plan.memory.set_maps(plan.maps);
        let _standing = plan.memory.standing();
        let mut arena = Arena::with_room(0, self.threads.len());
        let standing: Vec<&[u8]> = self.threads.iter().filter_map(general_of).collect();
        let deadline = self.until.within(plan.copy_timeout);
        let what = (plan, &*copied::heaps(plan));
        copy_stacks(&mut arena, what, &standing, plan.stacks.together, deadline);
        arena.copy(plan.memory, plan.memory_too, deadline);
        let mut snapshot = Snapshot::empty(instants_of(plan));
        snapshot.threads = self.threads.clone();
        snapshot.stopped = self.since.elapsed();
        snapshot.clock = clock::of_process(plan.process, self.since);
        snapshot.late = deadline.is_over();
        snapshot.arenas.push(arena);
        snapshot
    }
}

fn general_of(thread: &SnapThread) -> Option<&[u8]> {
    thread.registers.as_ref().map(|registers| registers.general.as_slice())
}

/// Stops the threads, does the work, and lets them go: at the latest when this process ends. The
/// answer is what the work gave, and how long the process stood still. A plan that has an event waits for it before,
/// while the process runs, and stops all threads at that moment.
///
/// # Errors
/// As [`super::capture`]. Of a plan with an event also when the time to wait is over, the process ends or starts another
/// program before, or the system refuses a breakpoint.
pub fn hold<T: Send>(
    plan: &Plan<'_>,
    work: impl FnOnce(&StoppedProcess<'_>) -> T + Send,
) -> Result<(T, Duration), LiveError> {
    match plan.at {
        Some(at) => hold_at(plan, at, work),
        None => hold_now(plan, work),
    }
}

fn hold_now<T: Send>(
    plan: &Plan<'_>,
    work: impl FnOnce(&StoppedProcess<'_>) -> T + Send,
) -> Result<(T, Duration), LiveError> {
    let tids = tids_of(plan)?;
    let said = super::said_of(plan, &tids);
    let order = Order::of(&tids, &said);
    let complete = Gate::new(1);
    // The end of a tracer lets go what it traces, so it is a thread of its own.
    let trace = || {
        let mut tracer = Tracer::new(plan, tids.len(), 0, true);
        tracer.seize(&order.waiting);
        let running = tracer.seize(&order.running);
        let began = Instant::now();
        let until = plan.deadline();
        tracer.stop(..running, until.within(plan.timeout));
        let snapshot = stop(plan, &order, (running, until), &mut tracer);
        complete.pass(began);
        let refused = std::mem::take(&mut tracer.refused);
        let mut snapshot = snapshot.checked(plan, refused)?;
        super::tell_more(plan, &said, &mut snapshot);
        let answer =
            work(&StoppedProcess { threads: snapshot.threads, until, since: began, caught: None });
        tracer.release();
        Ok((answer, began.elapsed()))
    };
    let done = beside(trace, || whole::take_note_of_ends(plan, &complete));
    plan.process.wait_until_free(&tids);
    done.ok().flatten().unwrap_or_else(|| Err(LiveError::Gone(plan.process.pid())))
}

/// Should kcore be killed in the microseconds between an event and its note of it, the process may end by SIGTRAP.
fn hold_at<T: Send>(
    plan: &Plan<'_>,
    at: Moment<'_>,
    work: impl FnOnce(&StoppedProcess<'_>) -> T + Send,
) -> Result<(T, Duration), LiveError> {
    let tids = tids_of(&Plan { threads: None, ..*plan })?;
    let at = Moment { until: at.until.or_once(plan.stop), ..at };
    let caught = AtomicBool::new(false);
    let complete = Gate::new(1);
    let trace = || {
        let mut tracer = Tracer::new(plan, tids.len(), 0, true);
        tracer.seize_for_events(&tids);
        if let Some(refused) = tracer.refused.pop() {
            return Err(plan.process.why("tracing its threads", refused.error));
        }
        let traced = tracer.tids();
        // A key that stops kcore would stop a thread of the process at its next signal. One that ends it ends the wait.
        let _put_off = PutOff::all();
        let mut watch = Watch::begin(plan.process, at, traced)?;
        let waited = watch.wait();
        caught.store(true, Ordering::Release);
        tracer.adopt(watch.tids());
        tracer.stand_already(watch.standing());
        let held = at_event(plan, waited, &mut tracer, &complete);
        let answer = held.map(|held| (work(&held), held.since));
        tracer.take_own_signals();
        tracer.release();
        answer.map(|(answer, since)| (answer, since.elapsed()))
    };
    let note_ends = || {
        wait_for(&caught, &complete);
        whole::take_note_of_ends(plan, &complete);
    };
    let done = beside(trace, note_ends);
    plan.process.wait_until_free(&plan.process.task_ids().unwrap_or_default());
    done.ok().flatten().unwrap_or_else(|| Err(LiveError::Gone(plan.process.pid())))
}

/// Stops the threads that run, from `running` on, those too that are made meanwhile.
fn stop(
    plan: &Plan<'_>,
    order: &Order,
    (running, until): (usize, Deadline<'_>),
    tracer: &mut Tracer<'_>,
) -> Snapshot {
    let deadline = until.within(plan.timeout);
    tracer.stop(running.., deadline);
    if plan.threads.is_none() {
        whole::catch_new(plan.process, tracer, 0, order, deadline);
    }
    let mut snapshot = Snapshot::empty(instants_of(plan));
    snapshot.threads = tracer.tracees.iter().filter_map(Tracee::to_thread).collect();
    snapshot
}

/// Stops all threads after a wait that has ended, also where nothing was caught: each may have signals of kcore's own.
fn at_event<'a>(
    plan: &'a Plan<'_>,
    waited: Result<Caught, LiveError>,
    tracer: &mut Tracer<'_>,
    complete: &Gate,
) -> Result<StoppedProcess<'a>, LiveError> {
    let since = Instant::now();
    let until = plan.deadline();
    tracer.stop(.., until.within(plan.timeout));
    let tids = tracer.tids();
    let said = super::said_of(plan, &tids);
    whole::catch_new(plan.process, tracer, 0, &Order::of(&tids, &said), until.within(plan.timeout));
    complete.pass(since);
    let caught = waited?;
    let mut snapshot = Snapshot::empty(instants_of(plan));
    snapshot.threads = tracer.tracees.iter().filter_map(Tracee::to_thread).collect();
    super::tell_more(plan, &said, &mut snapshot);
    let mut threads = snapshot.threads;
    threads.sort_by_key(|thread| thread.tid != caught.tid);
    if let Some(chosen) = plan.threads {
        threads.retain(|thread| thread.tid == caught.tid || chosen.contains(&thread.tid));
    }
    Ok(StoppedProcess { threads, until, since, caught: Some(caught) })
}

/// Waits until a flag is set, or the gate opens that its setter passes at the latest.
fn wait_for(caught: &AtomicBool, complete: &Gate) {
    const NAP: Duration = Duration::from_millis(1);
    while !caught.load(Ordering::Acquire) && !complete.is_open() {
        thread::sleep(NAP);
    }
}
