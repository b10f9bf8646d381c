//! The `frame` walker.

use std::sync::Arc;

use kcore::{Core, MAX_FRAMES, Task, TaskId, TaskStart};
use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use crate::{
    stack_start::{known_task, thread_of_id},
    thread_operand::thread_of_dot,
};

/// Steps over the frames of a thread, innermost first.
pub struct Frame;

impl Walker for Frame {
    fn spec(&self) -> WalkerSpec {
        WalkerSpec {
            name: "frame",
            summary: "walk the frames of a thread, or the callers of a frame",
            addr: AddrUse::Optional,
        }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core();
        let from = from.map(|dot| task_of_number(core, dot).unwrap_or(dot));
        if let Some((task, skipped)) = suspended(core, from)? {
            let stack = core.stacks().of_task(task, MAX_FRAMES);
            let frames = stack.frames.iter().enumerate().skip(skipped);
            let is_kept = matches!(task.start, TaskStart::Kept | TaskStart::Language(_));
            let whose = format!("{} {}", task.runtime, task.shown_id());
            let task = TaskId::of(task);
            if is_kept && stack.frames.is_empty() {
                return cx.note(&format!("frames of {whose} are on no machine stack: {SHOWN}"));
            }
            return frames
                .filter_map(|(index, frame)| Some((index, frame.frame_pointer?)))
                .try_for_each(|(index, fp)| visit(cx, Dot::TaskFrame { fp, task, index }));
        }
        // From a frame the walk goes on with its caller.
        let (tid, skipped) = match from {
            None => (cx.current_thread()?, 0),
            Some(Dot::Frame { tid, index, .. }) => (tid, index.saturating_add(1)),
            Some(dot) => (thread_of_dot(cx, dot)?, 0),
        };
        let stack = core.stacks().of_thread(tid, MAX_FRAMES);
        stack.frames.iter().enumerate().skip(skipped).try_for_each(|(index, frame)| {
            match frame.frame_pointer {
                Some(fp) => visit(cx, Dot::Frame { fp, tid, index }),
                None => Ok(()),
            }
        })
    }
}

const SHOWN: &str = "::stack shows them, ::locals does not read their variables";

/// The task that a typed number means, if it is no thread's id.
fn task_of_number(core: &Core, dot: Dot) -> Option<Dot> {
    let Dot::Number(number) = dot else { return None };
    let is_thread = thread_of_id(core, number).is_ok();
    let task = if is_thread { None } else { core.tasks().numbered(number) };
    task.map(|task| Dot::Task(TaskId::of(task)))
}

/// The task that no thread runs whose frames are meant, and how many of them are passed over.
fn suspended(core: &Core, from: Option<Dot>) -> Result<Option<(&Arc<Task>, usize)>> {
    let (id, skipped) = match from {
        Some(Dot::Task(id)) => (id, 0),
        Some(Dot::TaskFrame { task, index, .. }) => (task, index.saturating_add(1)),
        _ => return Ok(None),
    };
    let task = known_task(core, id)?;
    Ok(task.thread.is_none().then_some((task, skipped)))
}
