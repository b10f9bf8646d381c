//! Which tasks a dcmd is about.

use kcore::{
    Core, TaskId,
    tokio::{self, Tokio, TokioTask},
};
use kcore_dcmd::{DcmdError, Dot, Result};

/// The tokio of each module that has one.
///
/// # Errors
/// If the process has none, or none that can be read; the error gives the reason.
pub fn instances(core: &Core) -> Result<Vec<&Tokio>> {
    let runtimes = core.tasks().runtimes();
    let found: Vec<&Tokio> = runtimes.of().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let damaged = runtimes.damaged().iter().find(|damaged| damaged.name == tokio::NAME);
    Err(DcmdError::failed(match damaged {
        Some(damaged) => damaged.why.to_string(),
        None => "no tasks of tokio in this process".to_owned(),
    }))
}

/// What stands for a task in a pipe: the thread that runs it, or itself.
pub fn dot(task: &TokioTask) -> Dot {
    match task.thread {
        Some(thread) => Dot::Thread(thread),
        None => Dot::Task(TaskId { runtime: tokio::NAME, number: task.id }),
    }
}
