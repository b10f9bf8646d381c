//! The index of all units.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    NameIndex, Record,
    records::{ASK_ENTRY, MAX_UNITS, NO_SCOPE, ScopeRecord},
    scan::{Found, FoundScope, KnownNames, Scan, Scanned},
};
use crate::dwarf::{Files, Unit, Which};

/// Units that one thread scans in a row, at least.
const MIN_CHUNK: usize = 4;
/// Chunks for each thread, so that none waits long for the others.
const CHUNKS: usize = 8;

impl NameIndex {
    /// Scans all units. Of types that several units describe alike the first one is kept.
    pub fn scan(files: &Files) -> Self {
        let units = units_of(files);
        let threads = rayon::current_num_threads().saturating_mul(CHUNKS);
        let chunk = units.len().div_ceil(threads.max(1)).max(MIN_CHUNK);
        let numbered: Vec<(u32, (Which, usize))> = (0..).zip(units.iter().copied()).collect();
        let scanned: Vec<Scanned> =
            numbered.par_chunks(chunk).map(|units| scan_units(files, units)).collect();
        let mut merged = Merged::default();
        scanned.into_iter().for_each(|scanned| merged.add(scanned));
        merged.records.par_sort_unstable();
        Self { units, records: merged.records, scopes: merged.scopes }
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
fn scan_units(files: &Files, units: &[(u32, (Which, usize))]) -> Scanned {
    let (mut names, mut seen) = (KnownNames::default(), FxHashSet::default());
    let mut all = Scanned::default();
    for (number, (which, start)) in units {
        let unit = files.units(*which).map(|units| Unit::open(&units.file, *start));
        let Some(Ok(unit)) = unit else { continue };
        let before = all.found.len();
        Scan::names(files, *which, &unit, *number, &mut names, &mut all);
        let new = all.found.split_off(before.min(all.found.len()));
        all.found.extend(new.into_iter().filter(|found| is_new(&mut seen, found)));
    }
    all
}

/// What was found in all units, with scopes numbered throughout.
#[derive(Default)]
struct Merged {
    records: Vec<Record>,
    scopes: Vec<ScopeRecord>,
    numbers: FxHashMap<u64, u32>,
    seen: FxHashSet<u64>,
}

impl Merged {
    fn add(&mut self, scanned: Scanned) {
        // Those around a scope stand before it.
        let mut numbers: Vec<u32> = Vec::with_capacity(scanned.scopes.len());
        for scope in &scanned.scopes {
            let number = self.number(scope, &numbers);
            numbers.push(number);
        }
        for found in scanned.found {
            if is_new(&mut self.seen, &found) {
                let scope = renumbered(&numbers, found.record.scope);
                self.records.push(found.record.in_scope(scope));
            }
        }
    }

    /// The number of a scope, be it that one of the same names was met before.
    fn number(&mut self, scope: &FoundScope, numbers: &[u32]) -> u32 {
        let next = u32::try_from(self.scopes.len()).unwrap_or(NO_SCOPE);
        let number = *self.numbers.entry(scope.hash).or_insert(next);
        if number == next {
            let around = renumbered(numbers, scope.around);
            self.scopes.push(ScopeRecord { around, unit: scope.unit, offset: scope.offset });
        }
        number
    }
}

fn renumbered(numbers: &[u32], number: u32) -> u32 {
    match number {
        NO_SCOPE | ASK_ENTRY => number,
        _ => numbers.get(number as usize).copied().unwrap_or(NO_SCOPE),
    }
}

/// Whether the same was not seen before.
fn is_new(seen: &mut FxHashSet<u64>, found: &Found) -> bool {
    found.identity.is_none_or(|identity| seen.insert(identity))
}
