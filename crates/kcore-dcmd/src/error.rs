//! Why a dcmd failed, or was stopped.

use std::time::Duration;

use kcore::{Addr, Fault, Halt};

/// What a dcmd answers.
pub type Result<T, E = DcmdError> = std::result::Result<T, E>;

/// Why a dcmd ended before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DcmdError {
    /// It was called wrongly: the shell shows its usage and ends the pipeline.
    #[error("{0}")]
    Usage(String),
    /// It could not do what was asked; the pipeline goes on with its next element.
    #[error("{message}")]
    Failed {
        /// One line, lower case, with the value.
        message: String,
        /// The address that it is about.
        address: Option<Addr>,
    },
    /// The user pressed ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The command reached its time limit; what it showed is a partial answer.
    #[error("out of time after {} s: the answer is partial (--max-time)", .0.as_secs_f64())]
    OutOfTime(Duration),
    /// Nobody reads what it emits any more: a closed pipe, a satisfied `::head`. Not an error.
    #[error("output is closed")]
    Closed,
    /// The user has seen enough of what the command shows, and wants the next one. Not an error.
    #[error("enough was shown")]
    Enough,
    /// The user has seen enough of what the whole line shows. Not an error.
    #[error("the line was abandoned")]
    Abandoned,
    /// What it ran as text failed, and said so: the pipeline ends, and nothing more is said.
    #[error("failed to evaluate command")]
    Aborted,
    /// `$<`: the macro that runs ends here.
    #[error("end of macro")]
    EndOfMacro,
    /// `::quit`: the session ends.
    #[error("quit")]
    Quit,
}

impl DcmdError {
    /// A failure that is about no address.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), address: None }
    }

    /// A failure about `address`.
    pub fn at(address: Addr, message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), address: Some(address) }
    }

    /// A wrong call.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }
}

impl From<Halt> for DcmdError {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Interrupted => Self::Interrupted,
            Halt::OutOfTime(time) => Self::OutOfTime(time),
        }
    }
}

impl From<Fault> for DcmdError {
    fn from(fault: Fault) -> Self {
        Self::at(
            fault.addr(),
            format!("failed to read from address {:x}: {}", fault.addr(), fault.reason()),
        )
    }
}
