//! Why a process cannot be looked at.

use std::{io, time::Duration};

use kcore_mem::Addr;

use crate::Pid;

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// There is no such process.
    #[error("no process has the id {0}")]
    NoProcess(Pid),
    /// The id is that of a thread which is not the first of its process.
    #[error("{tid} is a thread of process {process}: give {process}/{tid}")]
    IsThread {
        /// What was asked for.
        tid: Pid,
        /// The process that it belongs to.
        process: Pid,
    },
    /// The process has ended, and its parent did not take note yet.
    #[error("process {0} has ended (a zombie): it has neither threads nor memory")]
    Zombie(Pid),
    /// It is a thread of the kernel.
    #[error("process {0} is a thread of the kernel: it has no memory of its own")]
    Kernel(Pid),
    /// Another process traces it.
    #[error("process {pid} is traced already, by process {tracer}{}", named(.name))]
    Traced {
        /// The process.
        pid: Pid,
        /// Who traces it.
        tracer: Pid,
        /// The name of the program that traces it.
        name: Option<String>,
    },
    /// The process is kcore itself.
    #[error("process {0} is kcore itself, which cannot stop itself")]
    Itself(Pid),
    /// A right is missing.
    #[error("process {pid} may not be traced: {missing}")]
    NotPermitted {
        /// The process.
        pid: Pid,
        /// What is missing, in words.
        missing: String,
    },
    /// It is a process of another machine than kcore was built for.
    #[error("process {pid} runs {found} code, and this kcore traces {own} processes alone")]
    OtherMachine {
        /// The process.
        pid: Pid,
        /// What its program says.
        found: String,
        /// What this kcore was built for.
        own: &'static str,
    },
    /// None of the threads that were asked for is there.
    #[error("process {pid} has no thread {wanted}")]
    NoThread {
        /// The process.
        pid: Pid,
        /// What was asked for, in words.
        wanted: String,
    },
    /// The process ended, or became another program, while it was looked at.
    #[error("process {0} ended, or started another program, while it was copied")]
    Gone(Pid),
    /// The process ended while an event was waited for.
    #[error("process {0} ended, and none of the events came before")]
    Ended(Pid),
    /// The process started another program while an event was waited for.
    #[error("process {0} started another program, and none of the events came before")]
    OtherProgram(Pid),
    /// The time was over before an event came.
    #[error("process {pid}: none of the events came in time")]
    NotCaught {
        /// The process.
        pid: Pid,
    },
    /// No thread stopped in time.
    #[error("process {pid} did not stop within {} ms: it was let go", limit.as_millis())]
    NotStopped {
        /// The process.
        pid: Pid,
        /// How long was waited.
        limit: Duration,
    },
    /// Threads of kcore lost each other while they copied.
    #[error("process {0} was not copied at one instant, since kcore itself was held up: try again")]
    Torn(Pid),
    /// Memory was there a moment ago, and is not any more.
    #[error("process {pid}: memory at {at} was gone before it was copied")]
    Lost {
        /// The process.
        pid: Pid,
        /// The first address that is gone.
        at: Addr,
    },
    /// What was copied could not be written.
    #[error(transparent)]
    Write(io::Error),
    /// Somebody ended it.
    #[error("stopped before all was copied")]
    Stopped,
    /// Something of the system failed.
    #[error("process {pid}: {what}: {error}")]
    System {
        /// The process.
        pid: Pid,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
}

fn named(name: &Option<String>) -> String {
    name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default()
}
