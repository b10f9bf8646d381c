//! A thread that holds a lock or waits for one, be it virtual or not.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::{threads::JavaThread, virtual_threads::VirtualThread};

/// A thread of Java of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockThread {
    /// One of the system.
    Platform(Arc<JavaThread>),
    /// A virtual one.
    Virtual(Arc<VirtualThread>),
}

impl LockThread {
    /// What tells it from all others: its object, or the structure of one without an object.
    pub fn at(&self) -> Addr {
        match self {
            Self::Platform(thread) => thread.object.unwrap_or(thread.at),
            Self::Virtual(thread) => thread.object,
        }
    }

    /// Its number, as `Thread.getId()` returns it.
    pub fn id(&self) -> Option<u64> {
        match self {
            Self::Platform(thread) => thread.facts.id,
            Self::Virtual(thread) => Some(thread.id),
        }
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Platform(thread) => thread.facts.name.as_deref(),
            Self::Virtual(thread) => thread.name.as_deref(),
        }
    }

    /// The thread of the system that it is, or that runs it.
    pub fn tid(&self) -> Option<Tid> {
        match self {
            Self::Platform(thread) => thread.tid,
            Self::Virtual(thread) => thread.thread,
        }
    }

    /// Whether it is virtual.
    pub const fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual(_))
    }
}
