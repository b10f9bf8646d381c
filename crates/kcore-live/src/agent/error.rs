//! Why a process does not show its stacks itself.

use std::{io, time::Duration};

use crate::Pid;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// There is no such process, or it has ended.
    #[error("no process has the id {0}")]
    NoProcess(Pid),
    /// It does not have the agent, as its mappings show.
    #[error(
        "process {0} does not have kcore's agent in it (LD_PRELOAD=libkcore_agent.so when it is started), and would be \
         ended by its signal: it was not sent"
    )]
    NoAgent(Pid),
    /// Its mappings may not be read, and it does not handle the signal.
    #[error(
        "process {pid} does not handle signal {signal}, and would be ended by it: it was not sent (if its agent has \
         another signal: --signal N)"
    )]
    NotHandled {
        /// The process.
        pid: Pid,
        /// The signal.
        signal: i32,
    },
    /// Its mappings may not be read, so that it cannot be seen whose handler it has.
    #[error(
        "process {pid} handles signal {signal}, but its mappings may not be read, so whether that is kcore's agent \
         cannot be seen: if it is, ask with --unseen"
    )]
    Unseen {
        /// The process.
        pid: Pid,
        /// The signal.
        signal: i32,
    },
    /// It has the agent, whose signal is not handled any more.
    #[error(
        "process {pid} has kcore's agent, but the program has made signal {signal} what it was before, and would be \
         ended by it: it was not sent"
    )]
    Taken {
        /// The process.
        pid: Pid,
        /// The signal.
        signal: i32,
    },
    /// All of its threads block the signal.
    #[error("process {pid} blocks signal {signal} in all of its threads: none would answer")]
    Blocked {
        /// The process.
        pid: Pid,
        /// The signal.
        signal: i32,
    },
    /// A right is missing.
    #[error(
        "process {0} may not be sent a signal: that takes its user, or CAP_KILL (run as its user, or as root)"
    )]
    NotPermitted(Pid),
    /// The agent did not connect in time.
    #[error(
        "process {pid} did not answer within {} s (--timeout): its agent may be held up, or in another network \
         namespace (ask from within its container)", limit.as_secs_f64()
    )]
    NoAnswer {
        /// The process.
        pid: Pid,
        /// How long was waited.
        limit: Duration,
    },
    /// The agent connected, and said nothing.
    #[error(
        "process {0} refused to answer: its agent answers root and the user that the process runs as, and tells others \
         nothing"
    )]
    Refused(Pid),
    /// The answer ended before its end.
    #[error("process {pid} broke its answer off after {read} of {whole} bytes")]
    Cut {
        /// The process.
        pid: Pid,
        /// Bytes that came.
        read: u64,
        /// Bytes that were to come.
        whole: u64,
    },
    /// What came is not an answer of an agent that this kcore knows.
    #[error(
        "process {0} answered in a form that this kcore does not know: its agent is of another version"
    )]
    Unknown(Pid),
    /// The agent says why it has no stacks.
    #[error("process {pid}: {reason}")]
    Failed {
        /// The process.
        pid: Pid,
        /// What the agent says.
        reason: String,
    },
    /// The answer could not be written.
    #[error(transparent)]
    Write(io::Error),
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
