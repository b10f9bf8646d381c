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

/// Yields typed values, each of which can feed a dcmd. Every walk is bounded.
pub trait Walker: Sync {
    /// What it is called and steps over.
    fn spec(&self) -> WalkerSpec;

    /// Calls `visit` with each element, and stops when it answers an error.
    ///
    /// # Errors
    /// What `visit` answers, or that the walk cannot start.
    fn walk(
        &self,
        cx: &Cx<'_>,
        from: Option<Dot>,
        visit: &mut dyn FnMut(Dot) -> Result<()>,
    ) -> Result<()>;
}
