//! What waits in a reactor: operations on file descriptors, timers and handlers that a loop of events goes on with.
//!
//! [`Reactors::find`] looks for reactors by the tables of virtual functions that their objects begin with, in all memory that
//! may be written, and only when it is asked to. What lies in them is read by the types of debug information: without,
//! a reactor is known and what waits in it is not. Asio's with epoll (`asio/detail/epoll_reactor.hpp`) is read.

mod asio;
mod members;
mod operation;

use std::{fmt, sync::Arc};

use kcore_mem::{Addr, Budget};

pub use asio::{AsioLayout, TimerLayout, read};
pub use operation::Operation;

use crate::{Host, tokio::Deadline};

/// What an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReactorEvent {
    /// A file descriptor becomes readable: `accept` and `receive` wait for that.
    Read,
    /// That a file descriptor can be written: connect, send.
    Write,
    /// That something exceptional happens to a file descriptor.
    Except,
    /// A time.
    Timer,
    /// Nothing: it is called when a thread runs the loop.
    Posted,
}

impl ReactorEvent {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Except => "except",
            Self::Timer => "timer",
            Self::Posted => "posted",
        }
    }
}

/// An operation that waits in a reactor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReactorWait {
    /// The library: `asio`, `boost::asio`.
    pub library: &'static str,
    /// Where the reactor lies.
    pub reactor: Addr,
    /// Where the operation lies.
    pub at: Addr,
    /// What it waits for.
    pub event: ReactorEvent,
    /// The file descriptor.
    pub fd: Option<i32>,
    /// The time, by the monotonic clock.
    pub deadline: Option<Deadline>,
    /// The function that is called then.
    pub function: Option<Arc<str>>,
    /// What kind of operation it is, by its type: `reactive_socket_accept_op`.
    pub operation: Option<Arc<str>>,
    /// The promise of the outermost coroutine that goes on then.
    pub promise: Option<Addr>,
}

impl fmt::Display for ReactorWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.fd, self.deadline) {
            (Some(fd), _) => write!(f, "fd {fd} {}", self.event.as_str()),
            (None, Some(deadline)) => write!(f, "timer {deadline}"),
            (None, None) => f.write_str(self.event.as_str()),
        }
    }
}

/// The reactors of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reactors {
    /// Where they lie.
    pub found: Vec<Addr>,
    /// What waits in them, by file descriptors and then by time.
    pub waits: Vec<ReactorWait>,
    /// What is not known of them, and why.
    pub unknown: Vec<Arc<str>>,
}

impl Reactors {
    /// Looks for reactors in all memory, and for what waits in them.
    pub fn find(host: &dyn Host) -> Self {
        let unlimited = Budget::default();
        let budget = host.budget().unwrap_or(&unlimited);
        let mut found = Self::default();
        asio::find(host, budget, &mut found);
        found.waits.sort_by_key(|wait| {
            (wait.reactor, wait.fd.is_none(), wait.fd, wait.event, wait.deadline, wait.at)
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_in_words() {
        let wait = |event, fd, deadline| ReactorWait {
            library: "asio",
            reactor: Addr::new(16),
            at: Addr::new(32),
            event,
            fd,
            deadline,
            function: None,
            operation: None,
            promise: None,
        };
        let deadline = Deadline { seconds: 61, nanos: 5_000_000 };
        assert_eq!(wait(ReactorEvent::Read, Some(7), None).to_string(), "fd 7 read");
        assert_eq!(wait(ReactorEvent::Timer, None, Some(deadline)).to_string(), "timer 61.005");
        assert_eq!(wait(ReactorEvent::Posted, None, None).to_string(), "posted");
    }
}
