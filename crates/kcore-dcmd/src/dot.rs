//! Dot: the value that a dcmd starts from, and that a pipe carries.

use kcore::{Addr, TaskId, Tid};

/// A typed value in a pipe, or an address that a user typed.
///
/// It stays typed through a pipeline, so that `::walk thread | ::stack` does what it says, and
/// becomes a number only at its end or on the way into a shell command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Dot {
    /// A number that a user typed, or that an expression gave: an address, a count, an id.
    Number(u64),
    /// An address in the process.
    Addr(Addr),
    /// A thread, by its LWP id.
    Thread(Tid),
    /// A coroutine or green thread, by the number that its runtime gave it.
    Task(TaskId),
    /// A frame: its frame-pointer column, and which frame of which thread it is.
    Frame {
        /// What `$C` prints in its first column.
        fp: Addr,
        /// The thread that the frame belongs to.
        tid: Tid,
        /// Its index among the physical frames, innermost 0.
        index: usize,
    },
    /// A frame of a task that no thread runs.
    TaskFrame {
        /// What `$C` prints in its first column.
        fp: Addr,
        /// The task that the frame belongs to.
        task: TaskId,
        /// Its index among the physical frames, innermost 0.
        index: usize,
    },
}

impl Dot {
    /// The value as a number.
    pub fn number(self) -> u64 {
        match self {
            Self::Number(value) => value,
            Self::Addr(at) | Self::Frame { fp: at, .. } | Self::TaskFrame { fp: at, .. } => {
                at.get()
            }
            Self::Thread(tid) => u64::from(tid.get()),
            Self::Task(task) => task.number,
        }
    }

    /// The value as an address.
    pub fn addr(self) -> Addr {
        Addr::new(self.number())
    }
}

impl Default for Dot {
    fn default() -> Self {
        Self::Number(0)
    }
}
