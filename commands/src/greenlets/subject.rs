//! Which greenlets a dcmd is about.

use kcore::{
    Core, TaskId, TaskStart,
    python::greenlet::{self, Greenlet, GreenletState, Greenlets},
};
use kcore_dcmd::{DcmdError, Dot, Result};

/// The greenlets of each CPython.
///
/// # Errors
/// If the process has none, or none that can be read; the error gives the reason.
pub fn instances(core: &Core) -> Result<Vec<&Greenlets>> {
    let runtimes = core.tasks().runtimes();
    let found: Vec<&Greenlets> = runtimes.of().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let damaged = runtimes.damaged().iter().find(|damaged| damaged.name == greenlet::NAME);
    Err(DcmdError::failed(match damaged {
        Some(damaged) => damaged.why.to_string(),
        None => "no greenlets in this process".to_owned(),
    }))
}

/// What stands for a greenlet in a pipe. What a thread runs on its own stack is that thread.
pub fn dot(core: &Core, greenlet: &Greenlet) -> Dot {
    let task = core.tasks().by_id(id(greenlet));
    let is_main = greenlet.is_main && greenlet.state == GreenletState::Running;
    let runs = is_main || task.is_some_and(|task| matches!(task.start, TaskStart::Running));
    match greenlet.thread.filter(|_| runs) {
        Some(thread) => Dot::Thread(thread),
        None if task.is_some() => Dot::Task(id(greenlet)),
        None => Dot::Addr(greenlet.at),
    }
}

/// What names it among tasks.
pub const fn id(greenlet: &Greenlet) -> TaskId {
    TaskId { runtime: greenlet::NAME, number: greenlet.at.get() }
}
