//! Which fibers a dcmd is about.

use std::sync::Arc;

use kcore::{
    Core, TaskId, Tid,
    fiber::{Fiber, Fibers, Kind},
};
use kcore_dcmd::{DcmdError, Dot, Result};

/// All fibers of a process.
///
/// # Errors
/// If it has no Boost.Fiber, or one that cannot be read; the error gives the reason.
pub fn all(core: &Arc<Core>) -> Result<Vec<Fiber>> {
    let found = schedulers(core)?;
    Ok(found.iter().flat_map(|fibers| fibers.all(core.as_ref()).to_vec()).collect())
}

/// The threads of whose fibers some are missing.
///
/// # Errors
/// As [`all`].
pub fn damaged(core: &Arc<Core>) -> Result<Vec<Tid>> {
    let found = schedulers(core)?;
    Ok(found.iter().flat_map(|fibers| fibers.damaged(core.as_ref()).to_vec()).collect())
}

fn schedulers(core: &Core) -> Result<Vec<&Fibers>> {
    let runtimes = core.tasks().runtimes();
    let found: Vec<&Fibers> = runtimes.of().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let damaged = runtimes.damaged().iter().find(|damaged| damaged.name == "fiber");
    Err(DcmdError::failed(match damaged {
        Some(damaged) => damaged.why.to_string(),
        None => "no thread has fibers of Boost.Fiber".to_owned(),
    }))
}

/// What stands for a fiber in a pipe. The main fiber of a thread is that thread.
pub const fn dot(fiber: &Fiber) -> Dot {
    match (fiber.kind, fiber.state.thread()) {
        (Kind::Main, Some(thread)) => Dot::Thread(thread),
        _ => Dot::Task(id(fiber)),
    }
}

/// What names it among tasks.
pub const fn id(fiber: &Fiber) -> TaskId {
    TaskId { runtime: "fiber", number: fiber.at.get() }
}
