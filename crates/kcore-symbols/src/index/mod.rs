//! Entries of debug information by their names.
//!
//! An index has the hash of each name and where its entry lies; the names themselves stay in the
//! sections. What the index proposes is read and compared before it is an answer.
//!
//! - [`tokens`] and [`spelled`] bring names into one form, [`hash`] makes numbers of them.
//! - [`raw`] and [`shapes`] pass over entries, [`scan`] takes the names of a unit.
//! - [`records`] is what is kept of each name, [`build`] scans all units.
//! - [`find`] looks up, [`matching`] says whether an entry is meant.

mod build;
mod find;
mod hash;
mod matching;
mod raw;
mod records;
mod scan;
mod shapes;
mod spelled;
mod tokens;

pub use find::{Sought, find, named};
pub use records::{Record, What};

use crate::{DieId, dwarf::Which};
use records::ScopeRecord;

/// The names of a module's debug information.
pub struct NameIndex {
    units: Vec<(Which, usize)>,
    /// In order of their stems.
    records: Vec<Record>,
    scopes: Vec<ScopeRecord>,
}

impl NameIndex {
    /// What is known by a stem.
    pub fn with_stem(&self, stem: u32) -> &[Record] {
        let from = self.records.partition_point(|record| record.stem < stem);
        let rest = self.records.get(from..).unwrap_or_default();
        rest.get(..rest.partition_point(|record| record.stem == stem)).unwrap_or_default()
    }

    /// All that is known.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Where the entry of a record lies.
    pub fn place(&self, record: &Record) -> Option<DieId> {
        self.entry(record.unit(), record.offset)
    }

    /// The scope with a number, and the number of the one around it.
    pub fn scope(&self, number: u32) -> Option<(DieId, u32)> {
        let scope = self.scopes.get(usize::try_from(number).ok()?)?;
        Some((self.entry(scope.unit, scope.offset)?, scope.around))
    }

    fn entry(&self, unit: u32, offset: u32) -> Option<DieId> {
        let (which, start) = *self.units.get(usize::try_from(unit).ok()?)?;
        let offset = start.checked_add(usize::try_from(offset).ok()?)?;
        Some(DieId { which, offset })
    }
}
