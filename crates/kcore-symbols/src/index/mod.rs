//! Entries of debug information by their names.
//!
//! An index has the hash of each name and where its entry lies; the names themselves stay in the
//! sections. What the index proposes is read and compared before it is an answer.
//!
//! - [`tokens`] and [`spelled`] bring names into one form, [`number`] the words for numbers;
//!   [`hash`] makes numbers of names, [`canonical`] without bringing them into that form.
//! - [`raw`] and [`shapes`] pass over entries, [`scan`] takes the names of a unit,
//!   of which [`known`] remembers some.
//! - [`records`] is what is kept of each name, [`build`] scans all units, [`merge`] brings
//!   together what was found.
//! - [`stored`] is the index as bytes, [`kept`] says where those of big modules are kept.
//! - [`listed`] reads indexes that others made, so that fewer units need to be scanned.
//! - [`find`] looks up, [`matching`] says whether an entry is meant.

mod build;
mod canonical;
mod find;
mod hash;
mod kept;
mod known;
mod listed;
mod matching;
mod merge;
mod number;
mod raw;
mod records;
mod scan;
mod shapes;
mod spelled;
mod stored;
mod tokens;

pub use canonical::name_hash;
pub use find::{IndexQuery, find, find_exact, named};
pub use kept::{IndexCache, IndexFile};
pub use matching::Fit;
pub use records::{Record, What};
pub use shapes::is_type;

use crate::DieId;
use stored::Stored;

/// The names of a module's debug information.
pub struct NameIndex {
    /// `None` of what could not be made, which knows nothing.
    stored: Option<Stored>,
}

impl NameIndex {
    /// What is known by a stem.
    pub fn with_stem(&self, stem: u32) -> impl Iterator<Item = Record> {
        let first = self.first_of(stem);
        self.from(first).take_while(move |record| record.stem == stem)
    }

    /// All that is known.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        self.from(0)
    }

    fn from(&self, first: usize) -> impl Iterator<Item = Record> {
        let stored = self.stored.iter();
        stored.flat_map(move |stored| {
            (first..stored.records()).filter_map(|number| stored.record(number))
        })
    }

    /// The number of the first record whose stem is not less.
    fn first_of(&self, stem: u32) -> usize {
        let Some(stored) = &self.stored else { return 0 };
        let (mut low, mut high) = (0, stored.records());
        while low < high {
            let middle = low.midpoint(high);
            if stored.record(middle).is_some_and(|record| record.stem < stem) {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        low
    }

    /// Where the entry of a record lies.
    pub fn place(&self, record: &Record) -> Option<DieId> {
        self.entry(record.unit(), record.offset)
    }

    /// The scope with a number, and the number of the one around it.
    pub fn scope(&self, number: u32) -> Option<(DieId, u32)> {
        let scope = self.stored.as_ref()?.scope(number)?;
        Some((self.entry(scope.unit, scope.offset)?, scope.around))
    }

    fn entry(&self, unit: u32, offset: u32) -> Option<DieId> {
        let (which, start) = self.stored.as_ref()?.unit(unit)?;
        let offset = start.checked_add(usize::try_from(offset).ok()?)?;
        Some(DieId { which, offset })
    }
}
