//! Which bthreads a dcmd is about.

use std::sync::Arc;

use kcore::{
    Core, Task, TaskId,
    bthread::{Bthread, Bthreads, State},
};
use kcore_dcmd::{Cx, DcmdError, Dot, Result};

/// All bthreads of a process.
///
/// # Errors
/// If it has no bRPC, or one that cannot be read; the error gives the reason.
pub fn all(core: &Arc<Core>) -> Result<Vec<Bthread>> {
    let found = schedulers(core)?;
    Ok(found.iter().flat_map(|bthreads| bthreads.all(core.as_ref()).to_vec()).collect())
}

/// What workers left to run a bthread.
///
/// # Errors
/// As [`all`].
pub fn workers(core: &Arc<Core>) -> Result<Vec<Bthread>> {
    let found = schedulers(core)?;
    Ok(found.iter().flat_map(|bthreads| bthreads.workers(core.as_ref()).to_vec()).collect())
}

fn schedulers(core: &Core) -> Result<Vec<&Bthreads>> {
    let runtimes = core.tasks().runtimes();
    let found: Vec<&Bthreads> = runtimes.of().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let damaged = runtimes.damaged().iter().find(|damaged| damaged.name == "bthread");
    Err(DcmdError::failed(match damaged {
        Some(damaged) => damaged.why.to_string(),
        None => "no module holds bthreads".to_owned(),
    }))
}

/// The bthread that the address before a dcmd means: an id, or the address of its `TaskMeta`.
///
/// # Errors
/// When there is none.
pub fn of_dot(cx: &Cx<'_>) -> Result<Bthread> {
    let Some(dot) = cx.addr() else {
        return Err(DcmdError::usage("::bthread needs the id of a bthread before it"));
    };
    let wanted = dot.number();
    let is_wanted = |bthread: &Bthread| match dot {
        Dot::Thread(tid) => {
            matches!(bthread.state, State::Running(runner) if runner.thread == tid)
        }
        _ => bthread.id == wanted || bthread.meta.get() == wanted,
    };
    let core = cx.core();
    let found = all(core)?.into_iter().chain(workers(core)?).find(is_wanted);
    found.ok_or_else(|| DcmdError::failed(format!("no bthread {wanted:x}")))
}

/// The task that a bthread is among those of all runtimes.
pub fn task<'a>(core: &'a Core, bthread: &Bthread) -> Option<&'a Arc<Task>> {
    core.tasks().by_id(id(bthread))
}

/// What names it in a pipe.
pub const fn id(bthread: &Bthread) -> TaskId {
    TaskId { runtime: "bthread", number: bthread.id }
}
