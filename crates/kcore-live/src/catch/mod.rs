//! Waiting for an event of a process, to look at it at that very moment.
//!
//! All threads are traced from then on, and run. What is waited for is filtered by the kernel where it can be: a failed
//! system call and a function are perf events that send a signal to the thread ([`crate::sys::trap`]); signals and ends
//! stop a traced thread anyway. Where the system refuses events of system calls, each call stops its thread twice.

mod calls;
mod signals;
mod traps;
mod watch;

use kcore_mem::Addr;

use crate::Deadline;

pub use calls::can_filter_calls;
pub(crate) use watch::Watch;

/// An event to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A signal is about to be delivered, whatever the process does on it.
    Signal(i32),
    /// A signal is about to be delivered that ends the process.
    FatalSignal,
    /// A system call of this number fails: with this error number, or with any.
    Call {
        /// The number that the machine has for it.
        number: u64,
        /// `errno`; `None` is any.
        error: Option<i32>,
    },
    /// The function at this address is entered. A machine has four such breakpoints or so.
    Function(Addr),
    /// The process ends with a status other than 0, or a signal is about to end it.
    BadEnd,
    /// The process ends, or a signal is about to end it.
    End,
}

/// The moment at which a process is stopped.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Any of these events.
    pub events: &'a [Event],
    /// Until when it is waited for.
    pub until: Deadline<'a>,
}

/// What happened, to which thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caught {
    /// The thread, as kcore sees its id.
    pub tid: i32,
    /// What happened.
    pub what: Happening,
    /// Whether the thread stands where it went on to, and not where it happened: it had blocked SIGTRAP, by which the
    /// kernel tells of calls and functions.
    pub late: bool,
}

/// What happened to a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Happening {
    /// It is about to take a signal.
    Signal(i32),
    /// A system call has failed, and its thread goes on in its own code next.
    Call {
        /// The number of the call.
        number: u64,
        /// `errno`; `None` of one that is told late, if any was waited for.
        error: Option<i32>,
        /// Its arguments, as far as the machine keeps them in registers; none of one that is told late.
        arguments: Vec<u64>,
    },
    /// It is about to run the first instruction of this function.
    Function(Addr),
    /// It ends the process with a status, or ends with it by a signal that nobody can hold back. Its system call is not
    /// over.
    End {
        /// The exit status.
        status: i32,
        /// The signal; 0 is none.
        signal: i32,
    },
}
