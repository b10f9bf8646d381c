//! Which coroutines a dcmd is about.

use kcore::{
    Core, TaskId,
    coroutine::{self, Coroutine, CoroutineState, Coroutines},
};
use kcore_dcmd::{DcmdError, Dot, Result};

/// The coroutines of the process.
///
/// # Errors
/// If no module has any; the error says what cannot be told of modules without symbols.
pub fn found(core: &Core) -> Result<&Coroutines> {
    core.tasks().runtimes().of().next().ok_or_else(|| DcmdError::failed(NONE))
}

const NONE: &str = "no symbols of C++20 coroutines in this process: in a module whose symbols were stripped, \
    coroutines cannot be told from other memory";

/// What stands for a coroutine in a pipe: the thread that runs it, the chain that it is the end of, or its frame.
pub fn dot(one: &Coroutine) -> Dot {
    match one.thread {
        Some(thread) => Dot::Thread(thread),
        None if one.is_leaf && one.state != CoroutineState::Done => {
            Dot::Task(TaskId { runtime: coroutine::NAME, number: one.at.get() })
        }
        None => Dot::Addr(one.at),
    }
}
