//! The name of a thread.

use std::fmt;

/// A thread by its LWP id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tid(u32);

impl Tid {
    /// The thread with this LWP id.
    pub const fn new(id: u32) -> Self {
        Self(id)
    }

    /// The LWP id.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
