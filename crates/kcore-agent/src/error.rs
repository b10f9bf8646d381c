//! Why the agent cannot do what it is asked.

use std::{io, time::Duration};

use crate::requests::Refused;

/// Why the agent cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// It was not installed.
    #[error("the agent is not installed")]
    NotInstalled,
    /// It was installed before.
    #[error("the agent is installed already")]
    Installed,
    /// A setting has a value that it may not have.
    #[error("{name} is {value}, and has to be {wanted}")]
    Setting {
        /// The variable that sets it.
        name: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
    /// The program has said what is to be done on the signal: that is left as it is.
    #[error("signal {0} is handled by the program")]
    SignalInUse(i32),
    /// Every thread blocks the signal, and would never answer: the program waits for it, most often (sigwaitinfo(2),
    /// signalfd(2)).
    #[error("signal {0} is blocked by every thread of the program")]
    SignalBlocked(i32),
    /// The system refuses what the agent needs.
    #[error("{what}: {error}")]
    System {
        /// What it refuses.
        what: &'static str,
        /// What it says.
        error: io::Error,
    },
    /// A request ended in the middle, for want of memory most often. What the thread had in hand then is not known to
    /// be whole, so nothing is served any more in this process.
    #[error("the agent had to stop in the middle of a request")]
    GivenUp,
    /// The agent's thread did not answer for so long: it waits for a lock of the allocator that a thread holds which
    /// hangs, for example, or has very much to name.
    #[error("no answer came for {} s", .0.as_secs_f64())]
    Late(Duration),
    /// The process could not be looked at.
    #[error(transparent)]
    Look(#[from] kcore::OpenError),
    /// The thread that collects stacks failed.
    #[error("the stacks could not be collected")]
    Failed,
}

impl AgentError {
    /// What the system refuses, by its error number.
    pub(crate) fn system(what: &'static str, number: i32) -> Self {
        Self::System { what, error: io::Error::from_raw_os_error(number) }
    }
}

impl From<Refused> for AgentError {
    fn from(why: Refused) -> Self {
        match why {
            Refused::GivenUp => Self::GivenUp,
            Refused::System(number) => Self::system("letting the agent's thread run", number),
        }
    }
}
