//! A process that stands still for as long as some work takes.

use std::time::{Duration, Instant};

use super::{
    Deadline, Order, Plan, beside::beside, gate::Gate, instants_of, tids_of, tracee::Tracee,
    tracer::Tracer, whole,
};
use crate::{LiveError, SnapThread, Snapshot};

/// A process that stands still.
#[derive(Debug)]
pub struct StoppedProcess<'a> {
    /// Its threads with their registers, its first thread first.
    pub threads: Vec<SnapThread>,
    /// Until when it may.
    pub until: Deadline<'a>,
}

impl StoppedProcess<'_> {
    /// The ids of threads that did not stop in time.
    pub fn late_threads(&self) -> Vec<i32> {
        let late = self.threads.iter().filter(|thread| thread.registers.is_none());
        late.map(|thread| thread.tid).collect()
    }
}

/// Stops the threads, does the work, and lets them go: at the latest when this process ends. The
/// answer is what the work gave, and how long the process stood still.
///
/// # Errors
/// As [`super::capture`].
pub fn hold<T: Send>(
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
        let answer = work(&StoppedProcess { threads: snapshot.threads, until });
        tracer.release();
        Ok((answer, began.elapsed()))
    };
    let done = beside(trace, || whole::take_note_of_ends(plan, &complete));
    plan.process.wait_until_free(&tids);
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
