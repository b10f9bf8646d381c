//! What is copied of stacks that belong to no thread: they are found out beforehand, while the process runs,
//! so that those of all are of the instant at which it stands still.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};
use kcore_parallel::prelude::*;
use kcore_runtimes::TaskStart;

use crate::{Core, MAX_FRAMES, Task};

/// Pages that are read to learn which tasks there are, at most: those of a hundred thousand.
pub const MAX_PAGES: usize = 1 << 18;
/// Bytes of one stack, and of all together, that are copied.
const EACH: u64 = 256 << 10;
const TOGETHER: u64 = 64 << 20;
/// Bytes below the stack pointer with which a stack was left that are copied as well: where registers were
/// saved, and where a task that ran meanwhile is likely to wait the next time.
const BELOW: u64 = 512;

/// Whether a process has stacks that belong to no thread.
pub fn has_some(core: &Core) -> bool {
    !core.tasks().runtimes().is_empty() || core.runtimes().keep_stacks()
}

/// What is needed of the tasks of a process that runs, by what it took to list them: `read` are the pages that
/// this took, of which those of stacks are cut to the parts that are in use.
pub fn wanted(core: &Core, read: impl FnOnce() -> Vec<AddrRange>) -> Vec<AddrRange> {
    name_kept(core);
    core.runtimes().survey(core);
    let mut used: Vec<AddrRange> =
        core.tasks().all().iter().filter_map(|task| in_use(core, task)).collect();
    let mut stacks: Vec<AddrRange> =
        core.tasks().all().iter().filter_map(|task| task.stack).collect();
    stacks.sort_unstable();
    let mut left = TOGETHER;
    used.retain(|range| {
        let fits = range.len() <= left;
        left = left.saturating_sub(range.len());
        fits
    });
    used.extend(read().into_iter().flat_map(|range| outside(range, &stacks)));
    used
}

/// The part of a task's stack that is in use, if it does not run. Where it has not run yet, that is what it
/// is to begin with.
fn in_use(core: &Core, task: &Task) -> Option<AddrRange> {
    if let TaskStart::Moved { moved, .. } = &task.start {
        return Some(AddrRange::with_len(moved.at, moved.home.len().min(EACH)));
    }
    let stack = task.stack?;
    let at = match &task.start {
        // Its runtime told what of its stack is in use.
        TaskStart::Kept => stack.start.get(),
        TaskStart::Running | TaskStart::Moved { .. } | TaskStart::Language(_) => return None,
        TaskStart::Suspended { regs, .. } => regs.get(core.machine()?.stack_pointer())?,
        TaskStart::Unknown(_) => stack.end.get(),
    };
    let start = Addr::new(at.saturating_sub(BELOW)).max(stack.start);
    let end = stack.end.min(start.saturating_add(EACH));
    (start < end).then(|| AddrRange::new(start, end))
}

/// The parts of a range that lie outside of stacks, which are in their order and do not overlap.
fn outside(range: AddrRange, stacks: &[AddrRange]) -> Vec<AddrRange> {
    let first = stacks.partition_point(|stack| stack.end <= range.start);
    let mut parts = Vec::new();
    let mut next = range.start;
    for stack in stacks.get(first..).unwrap_or_default() {
        if stack.start >= range.end {
            break;
        }
        if next < stack.start {
            parts.push(AddrRange::new(next, stack.start));
        }
        next = next.max(stack.end);
    }
    if next < range.end {
        parts.push(AddrRange::new(next, range.end));
    }
    parts
}

/// Names the frames of tasks whose stacks their runtime reads: it needs tables of functions for that, which lie elsewhere.
fn name_kept(core: &Core) {
    let is_kept = |task: &&Arc<Task>| task.stack.is_some() && matches!(task.start, TaskStart::Kept);
    core.tasks().all().par_iter().filter(is_kept).for_each(|task| drop(core.kept_frames(task)));
}

/// Walks the stacks of all tasks that do not run, for what they need, and has runtimes follow those that do.
pub fn walk(core: &Core) {
    let _ = core.tasks().runtimes().follow_running(core);
    core.runtimes().survey(core);
    name_kept(core);
    let waiting =
        core.tasks().all().par_iter().filter(|task| !matches!(task.start, TaskStart::Running));
    waiting.for_each_init(
        || core.stacks().walker(),
        |walker, task| {
            if let Some(walker) = walker {
                drop(core.stacks().of_task_with(walker, task, MAX_FRAMES));
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> AddrRange {
        AddrRange::new(Addr::new(start), Addr::new(end))
    }

    #[test]
    fn what_lies_beside_stacks_is_left() {
        let stacks = [range(10, 20), range(30, 40)];
        assert_eq!(outside(range(0, 50), &stacks), [range(0, 10), range(20, 30), range(40, 50)]);
        assert_eq!(outside(range(12, 18), &stacks), []);
        assert_eq!(outside(range(15, 35), &stacks), [range(20, 30)]);
        assert_eq!(outside(range(40, 45), &stacks), [range(40, 45)]);
    }
}
