//! Counts the entries of debug information that are read for one answer.

use std::cell::Cell;

use gimli::Error;
use kcore_mem::{Budget, Resource};

use crate::dwarf::Result;

/// Entries that are charged at once: to charge each would take as long as to read it.
const AT_ONCE: u64 = 256;

/// Bytes of text and expressions that count as one entry.
const BYTES_OF_ENTRY: usize = 512;

/// The error that says that no more may be read. No reader that has a meter fails with it for another reason; bounds
/// of ranges, which know no meter, use the same one.
pub const EXHAUSTED: Error = Error::TooManyIterations;

/// The error that says that the command has to end. gimli fails with it only where it writes.
pub const HALTED: Error = Error::Io;

/// Charges entries to a budget.
pub struct Meter {
    budget: Option<Budget>,
    due: Cell<u64>,
}

impl Meter {
    /// Charges this budget.
    pub const fn new(budget: Budget) -> Self {
        Self { budget: Some(budget), due: Cell::new(0) }
    }

    /// Charges nobody: for entries each of which is read once.
    pub const fn free() -> Self {
        Self { budget: None, due: Cell::new(0) }
    }

    /// Counts entries.
    ///
    /// # Errors
    /// When no more may be read, or the command has to end.
    pub fn count(&self, entries: u64) -> Result<()> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let due = self.due.get().saturating_add(entries);
        self.due.set(due);
        if due < AT_ONCE {
            return Ok(());
        }
        self.due.set(0);
        if budget.halt().is_some() {
            return Err(HALTED);
        }
        if budget.spend(Resource::Entries, due) { Ok(()) } else { Err(EXHAUSTED) }
    }

    /// Counts bytes that many entries may share.
    ///
    /// # Errors
    /// As [`Meter::count`].
    pub fn count_bytes(&self, bytes: usize) -> Result<()> {
        self.count((bytes / BYTES_OF_ENTRY) as u64)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            let due = self.due.get().min(budget.left(Resource::Entries));
            budget.spend(Resource::Entries, due);
        }
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Allowance;

    use super::*;

    #[test]
    fn what_was_read_is_charged_and_no_more_than_is_allowed_is_read() {
        let allowance = Allowance { entries: 1000, ..Allowance::default() };
        let budget = Budget::new(allowance);
        let read = |entries: u64| {
            let meter = Meter::new(budget.clone());
            (0..entries).try_for_each(|_| meter.count(1))
        };
        assert!(read(10).is_ok());
        assert_eq!(budget.left(Resource::Entries), 990);
        assert!(read(5000).is_err());
        assert_eq!(budget.take_cuts().len(), 1);
        assert!((0..5000).try_for_each(|_| Meter::free().count(1)).is_ok());
    }
}
