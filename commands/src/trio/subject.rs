//! Which tasks a dcmd is about.

use kcore::{
    Core, TaskId,
    python::{
        Python,
        trio::{self, Trio, TrioTask},
    },
};
use kcore_dcmd::{DcmdError, Dot, Result};

/// The trio of each CPython that runs it.
///
/// # Errors
/// If none does, or it cannot be told; the error says which.
pub fn instances(core: &Core) -> Result<Vec<&Trio>> {
    let found: Vec<&Trio> = core.tasks().runtimes().of().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let is_unknown = core.runtimes().of::<Python>().any(|python| !python.knows_modules(core))
        || core.runtimes().damaged().iter().any(|damage| damage.name == kcore::python::NAME);
    Err(DcmdError::failed(match is_unknown {
        true => {
            "no tasks of trio in the memory that is at hand: Python's modules are not all there"
        }
        false => "no tasks of trio in this process",
    }))
}

/// What stands for a task in a pipe: the thread that runs it, or itself.
pub const fn dot(task: &TrioTask) -> Dot {
    match task.thread {
        Some(thread) => Dot::Thread(thread),
        None => Dot::Task(TaskId { runtime: trio::NAME, number: task.at.get() }),
    }
}
