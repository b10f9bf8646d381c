//! Entries of debug information by their names.
//!
//! An index has the hash of each name and where its entry lies; the names themselves stay in the
//! sections. What the index proposes is read and compared before it is an answer.
//!
//! - [`tokens`] and [`spelled`] bring names into one form, [`hash`] makes numbers of them.
//! - [`scan`] reads the names of a unit, [`records`] is what is kept of each.
//! - [`find`] looks up, [`matching`] says whether an entry is meant.

mod find;
mod hash;
mod matching;
mod records;
mod scan;
mod spelled;
mod tokens;

pub use find::{Sought, find};
pub use records::{Record, What};

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::{
    DieId,
    dwarf::{Files, Unit, Which},
};
use records::MAX_UNITS;
use scan::{Found, KnownNames, Scan};

/// Units that one thread scans in a row, at least.
const MIN_CHUNK: usize = 16;
/// Chunks for each thread, so that none waits long for the others.
const CHUNKS: usize = 8;

/// The names of a module's debug information.
pub struct NameIndex {
    units: Vec<(Which, usize)>,
    /// In order of their stems.
    records: Vec<Record>,
}

impl NameIndex {
    /// Scans all units. Of types that several units describe alike the first one is kept.
    pub fn scan(files: &Files) -> Self {
        let units = units_of(files);
        let threads = rayon::current_num_threads().saturating_mul(CHUNKS);
        let chunk = units.len().div_ceil(threads.max(1)).max(MIN_CHUNK);
        let numbered: Vec<(u32, (Which, usize))> = (0..).zip(units.iter().copied()).collect();
        let found: Vec<Vec<Found>> =
            numbered.par_chunks(chunk).map(|units| scan_units(files, units)).collect();
        let mut seen = FxHashSet::default();
        let mut records: Vec<Record> =
            found.into_iter().flatten().filter_map(|found| once(&mut seen, &found)).collect();
        records.par_sort_unstable();
        Self { units, records }
    }

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
        let (which, start) = *self.units.get(usize::try_from(record.unit()).ok()?)?;
        let offset = start.checked_add(usize::try_from(record.offset).ok()?)?;
        Some(DieId { which, offset })
    }
}

fn units_of(files: &Files) -> Vec<(Which, usize)> {
    let mut units = Vec::new();
    for which in files.all() {
        let starts = files.units(which).map(|units| units.starts().0).unwrap_or_default();
        units.extend(starts.into_iter().map(|start| (which, start)));
    }
    units.truncate(MAX_UNITS);
    units
}

/// The names of some units, each identity once.
fn scan_units(files: &Files, units: &[(u32, (Which, usize))]) -> Vec<Found> {
    let (mut names, mut seen, mut all) = (KnownNames::default(), FxHashSet::default(), Vec::new());
    for (number, (which, start)) in units {
        let unit = files.units(*which).map(|units| Unit::open(&units.file, *start));
        let Some(Ok(unit)) = unit else { continue };
        let found = Scan::names(files, *which, &unit, *number, &mut names);
        all.extend(found.into_iter().filter(|found| once(&mut seen, found).is_some()));
    }
    all
}

/// What was found, unless the same was seen before.
fn once(seen: &mut FxHashSet<u64>, found: &Found) -> Option<Record> {
    let is_new = found.identity.is_none_or(|identity| seen.insert(identity));
    is_new.then_some(found.record)
}
