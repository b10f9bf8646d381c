//! Walkers: named iterators over what a process holds.

use crate::{AddrUse, Cx, Dot, Result};

/// What a walker is called and steps over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalkerSpec {
    /// Its name.
    pub name: &'static str,
    /// One line: lower case, no period.
    pub summary: &'static str,
    /// Whether it starts from an address.
    pub addr: AddrUse,
}

/// What is done with each element of a walk.
pub type Visit<'v> = dyn FnMut(&mut Cx<'_>, Dot) -> Result<()> + 'v;

/// Yields typed values, each of which can feed a dcmd. Every walk is bounded.
pub trait Walker: Sync {
    /// What it is called and steps over.
    fn spec(&self) -> WalkerSpec;

    /// Calls `visit` with each element, as soon as it is found, and stops when it answers an error.
    ///
    /// # Errors
    /// What `visit` answers, or that the walk cannot start.
    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()>;
}
