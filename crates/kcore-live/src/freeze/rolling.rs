//! Thread by thread: each is stopped by itself, for as long as its own copy takes.

use std::time::Instant;

use super::{
    Deadline, Plan,
    beside::beside,
    tracer::{Refused, Tracer},
};
use crate::{Instants, LiveError, SnapThread, Snapshot, arena::Arena, sys::clock};

/// What came of a run over threads.
#[derive(Default)]
struct Round {
    threads: Vec<SnapThread>,
    arena: Arena,
    /// How many threads were looked at.
    done: usize,
    late: bool,
    refused: Vec<Refused>,
}

/// Copies the threads one after another, and then what is wanted besides stacks.
///
/// # Errors
/// When none of the threads could be stopped.
pub fn capture(plan: &Plan<'_>, tids: &[i32]) -> Result<Snapshot, LiveError> {
    let mut snapshot = Snapshot::empty(Instants::Each);
    let mut refused = Vec::new();
    let mut left = tids;
    while !left.is_empty() && !plan.deadline().is_stopped() {
        // A thread that does not stop is let go by the end of its tracer: it has one of its own.
        let round = beside(|| trace(plan, left), || ()).ok().flatten().unwrap_or_default();
        left = left.get(round.done.max(1)..).unwrap_or_default();
        snapshot.threads.extend(round.threads);
        snapshot.arenas.push(round.arena);
        snapshot.late |= round.late;
        refused.extend(round.refused);
    }
    snapshot.arenas.push(beside_stacks(plan));
    let times = snapshot.threads.iter().map(|thread| thread.stopped);
    snapshot.stopped = times.max().unwrap_or_default();
    snapshot.clock = clock::of_process(plan.process, Instant::now());
    snapshot.checked(plan, refused)
}

/// Looks at threads until one does not stop.
fn trace(plan: &Plan<'_>, tids: &[i32]) -> Round {
    let floating = tids.len() <= plan.floating_up_to;
    let mut tracer = Tracer::new(plan, tids.len(), 0, floating);
    let mut done: usize = 0;
    for tid in tids {
        done = done.saturating_add(1);
        let first = tracer.seize(&[*tid]);
        let until = plan.deadline();
        tracer.stop(first.., until.within(plan.timeout));
        tracer.copy(first, &[], plan.stacks.together, until.within(plan.copy_timeout));
        let Some(tracee) = tracer.tracees.get_mut(first) else { continue };
        tracee.release();
        tracee.note_stop(Instant::now());
        if tracee.is_late() || until.is_stopped() {
            break;
        }
    }
    let Tracer { tracees, arena, late, refused, .. } = tracer;
    let threads = tracees.into_iter().filter_map(super::tracee::Tracee::into_thread).collect();
    Round { threads, arena, done, late, refused }
}

/// There is no common instant: what belongs to no thread is read while all of them run.
fn beside_stacks(plan: &Plan<'_>) -> Arena {
    let mut arena = Arena::default();
    let until = Deadline::after(plan.copy_timeout, plan.stop);
    arena.copy(plan.memory, plan.memory_too, until);
    arena
}
