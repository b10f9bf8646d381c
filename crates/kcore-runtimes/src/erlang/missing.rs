//! Why something of Erlang's memory cannot be shown: it was left out of the core, or it is damaged.

use std::sync::{Mutex, PoisonError};

use kcore_mem::{Addr, AddrRange, AddressSpace, Fault, Origin, Region, Target};

/// What stands in place of a term that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Missing {
    /// Its memory was not copied when the snapshot was taken.
    NotCopied,
    /// Its memory is not in the core.
    NotDumped,
    /// It is damaged.
    Unreadable,
}

impl Missing {
    /// As people are shown it.
    pub const fn shown(self) -> &'static str {
        match self {
            Self::NotCopied => "<not copied>",
            Self::NotDumped => "<not dumped>",
            Self::Unreadable => "<unreadable>",
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotCopied => "not_copied",
            Self::NotDumped => "not_dumped",
            Self::Unreadable => "unreadable",
        }
    }
}

impl From<Option<Fault>> for Missing {
    fn from(fault: Option<Fault>) -> Self {
        match fault {
            Some(Fault::NotCopied(_)) => Self::NotCopied,
            Some(Fault::NotDumped(_) | Fault::Truncated(_)) => Self::NotDumped,
            _ => Self::Unreadable,
        }
    }
}

/// Memory that remembers what stopped the last read that failed: readers of terms answer with nothing, and who prints them
/// wants the reason.
pub struct Noting<'a> {
    space: &'a dyn AddressSpace,
    last: Mutex<Option<Fault>>,
}

impl<'a> Noting<'a> {
    /// Memory of which nothing was read yet.
    pub fn new(space: &'a dyn AddressSpace) -> Self {
        Self { space, last: Mutex::new(None) }
    }

    /// Forgets failures.
    pub fn forget(&self) {
        self.take();
    }

    /// Why something is missing, by the last read since failures were forgotten.
    pub fn missing(&self) -> Missing {
        self.take().into()
    }

    fn take(&self) -> Option<Fault> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, fault: Fault) -> Fault {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
        fault
    }
}

impl AddressSpace for Noting<'_> {
    fn target(&self) -> Target {
        self.space.target()
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        self.space.slice(at).map_err(|fault| self.note(fault))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.space.origin(at)
    }

    fn regions(&self) -> Vec<Region> {
        self.space.regions()
    }

    fn first_data(&self, range: AddrRange) -> Option<AddrRange> {
        self.space.first_data(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_told_from_what_is_damaged() {
        let at = Addr::new(16);
        let of = |fault| Missing::from(Some(fault)).shown();
        assert_eq!(of(Fault::NotCopied(at)), "<not copied>");
        assert_eq!(of(Fault::NotDumped(at)), "<not dumped>");
        assert_eq!(of(Fault::Truncated(at)), "<not dumped>");
        assert_eq!(of(Fault::Unmapped(at)), "<unreadable>");
        assert_eq!(Missing::from(None), Missing::Unreadable);
    }
}
