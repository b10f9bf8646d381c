//! The thread that a dcmd is about: what the address before it means.

use kcore::Tid;
use kcore_dcmd::{Cx, DcmdError, Dot, Result};

use crate::stack_start::{known_task, known_thread, thread_of_id};

/// The thread or frame from a pipe, the thread of a typed id; without one the current thread.
///
/// # Errors
/// When there is no such thread.
pub fn thread_of(cx: &Cx<'_>) -> Result<Tid> {
    cx.addr().map_or_else(|| cx.current_thread(), |dot| thread_of_dot(cx, dot))
}

/// The thread that a value of a pipe, or a typed number, means.
///
/// # Errors
/// When there is no such thread.
pub fn thread_of_dot(cx: &Cx<'_>, dot: Dot) -> Result<Tid> {
    match dot {
        Dot::Thread(tid) | Dot::Frame { tid, .. } => known_thread(cx.core(), tid),
        Dot::Task(id) | Dot::TaskFrame { task: id, .. } => {
            known_task(cx.core(), id)?.thread.ok_or_else(|| {
                DcmdError::failed(format!("no thread runs {} {:x}", id.runtime, id.number))
            })
        }
        dot => thread_of_id(cx.core(), dot.number()),
    }
}
