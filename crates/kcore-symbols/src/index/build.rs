//! The index of all units.

use std::sync::{Mutex, PoisonError};

use kcore_elf::Section;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Kept, NameIndex, Record,
    records::{ASK_ENTRY, MAX_UNITS, NO_SCOPE, ScopeRecord},
    scan::{Found, FoundScope, KnownNames, Scan, Scanned},
    stored::Stored,
};
use crate::dwarf::{Files, Unit, Which};

/// Units that one thread scans in a row, at least.
const MIN_CHUNK: usize = 4;
/// Chunks for each thread, so that none waits long for the others.
const CHUNKS: usize = 8;

impl NameIndex {
    /// The index of all names: the one that was kept, or a new one, which is kept then.
    pub fn open(files: &Files, kept: Option<&Kept>) -> Self {
        let key = kept.and_then(|kept| kept.key(files));
        let Some((kept, key)) = kept.zip(key) else {
            return Self::of_bytes(scan(files, &[]), &[]);
        };
        kept.load(&key).map_or_else(
            || {
                let bytes = scan(files, &key);
                kept.store(&bytes);
                Self::of_bytes(bytes, &key)
            },
            |stored| Self { stored: Some(stored) },
        )
    }

    fn of_bytes(bytes: Vec<u8>, key: &[u8]) -> Self {
        Self { stored: Stored::read(&Section::from(bytes), key) }
    }
}

/// Scans all units. Of types that several units describe alike the first one is kept.
fn scan(files: &Files, key: &[u8]) -> Vec<u8> {
    let units = units_of(files);
    let threads = rayon::current_num_threads().max(1);
    let chunk = units.len().div_ceil(threads.saturating_mul(CHUNKS)).max(MIN_CHUNK);
    let numbered: Vec<(u32, (Which, usize))> = (0..).zip(units.iter().copied()).collect();
    // What a thread knows of names it knows for all its units.
    let names: Vec<Mutex<KnownNames>> = (0..threads).map(|_| Mutex::default()).collect();
    let scanned: Vec<Scanned> = numbered
        .par_chunks(chunk)
        .map(|units| {
            let own = rayon::current_thread_index().and_then(|thread| names.get(thread));
            let mut own = own.map(|own| own.lock().unwrap_or_else(PoisonError::into_inner));
            match own.as_deref_mut() {
                Some(names) => scan_units(files, units, names),
                None => scan_units(files, units, &mut KnownNames::default()),
            }
        })
        .collect();
    let mut merged = Merged::default();
    scanned.into_iter().for_each(|scanned| merged.add(scanned));
    merged.records.par_sort_unstable();
    Stored::write(key, &units, &merged.records, &merged.scopes)
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
fn scan_units(files: &Files, units: &[(u32, (Which, usize))], names: &mut KnownNames) -> Scanned {
    let (mut seen, mut all) = (FxHashSet::default(), Scanned::default());
    for (number, (which, start)) in units {
        let unit = files.units(*which).map(|units| Unit::open(&units.file, *start));
        let Some(Ok(unit)) = unit else { continue };
        let before = all.found.len();
        Scan::names(files, *which, &unit, *number, names, &mut all);
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
