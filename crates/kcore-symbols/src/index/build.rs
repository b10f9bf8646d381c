//! The index of all units.

use std::sync::{Mutex, PoisonError};

use kcore_elf::Section;
use kcore_parallel::prelude::*;
use rustc_hash::FxHashSet;

use super::{
    IndexFile, NameIndex, Record,
    known::KnownNames,
    listed,
    merge::{Dealt, Scopes, merged},
    records::MAX_UNITS,
    scan::{Scan, Scanned},
    stored::Stored,
};
use crate::dwarf::{Files, Unit, Which};

/// Chunks of units for each thread, so that none waits long for the others.
const CHUNKS: usize = 16;

impl NameIndex {
    /// The index of all names: the one that was kept, or a new one, which is kept then. When the command has to end, it
    /// is empty, and not kept.
    pub fn open(files: &Files, kept: Option<&IndexFile>) -> Self {
        let key = kept.and_then(|kept| kept.key(files));
        let Some((kept, key)) = kept.zip(key) else {
            let bytes = scan(files, &units_of(files), &[]);
            return bytes.map_or_else(Self::nothing, |bytes| Self::of_bytes(bytes, &[]));
        };
        if let Some(stored) = kept.load(&key) {
            return Self { stored: Some(stored) };
        }
        let Some(bytes) = scan(files, &units_of(files), &key) else { return Self::nothing() };
        kept.store(&bytes);
        Self::of_bytes(bytes, &key)
    }

    /// The index that was kept, if there is one.
    pub fn load(files: &Files, kept: Option<&IndexFile>) -> Option<Self> {
        let (kept, key) = kept.zip(kept.and_then(|kept| kept.key(files)))?;
        Some(Self { stored: Some(kept.load(&key)?) })
    }

    /// The index of those units alone that an index in the file says name something with this stem;
    /// `None` without such an index, or where it is of little use.
    pub fn of_listed(files: &Files, stem: u32) -> Option<Self> {
        let units = listed::units(files, &units_of(files), stem)?;
        Some(Self::of_bytes(scan(files, &units, &[])?, &[]))
    }

    const fn nothing() -> Self {
        Self { stored: None }
    }

    fn of_bytes(bytes: Vec<u8>, key: &[u8]) -> Self {
        Self { stored: Stored::read(&Section::from(bytes), key) }
    }
}

/// Scans units. Of types that several units describe alike the first one is kept. `None` when the command has to end.
fn scan(files: &Files, units: &[(Which, usize)], key: &[u8]) -> Option<Vec<u8>> {
    let threads = kcore_parallel::workers();
    let chunk = units.len().div_ceil(threads.saturating_mul(CHUNKS)).max(1);
    let numbered: Vec<(u32, (Which, usize))> = (0..).zip(units.iter().copied()).collect();
    // What a thread knows of names it knows for all its units.
    let names: Vec<Mutex<KnownNames>> = (0..threads).map(|_| Mutex::default()).collect();
    let mut dealt: Vec<Dealt> = numbered
        .par_chunks(chunk)
        // Threads take chunks one by one, so that the last ones are shared.
        .with_max_len(1)
        .map(|units| {
            let own = kcore_parallel::worker().and_then(|thread| names.get(thread));
            let mut own = own.map(|own| own.lock().unwrap_or_else(PoisonError::into_inner));
            match own.as_deref_mut() {
                Some(names) => scan_units(files, units, names),
                None => scan_units(files, units, &mut KnownNames::default()),
            }
        })
        .collect();
    let budget = &files.main.file.budget;
    let goes_on = || budget.halt().is_none().then_some(());
    goes_on()?;
    let scopes = Scopes::number(&mut dealt);
    goes_on()?;
    let records: Vec<Vec<Record>> = merged(&dealt);
    goes_on()?;
    Some(Stored::write(key, units, &records, &scopes.records))
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
fn scan_units(files: &Files, units: &[(u32, (Which, usize))], names: &mut KnownNames) -> Dealt {
    let (mut seen, mut all, mut dealt) =
        (FxHashSet::default(), Scanned::default(), Dealt::default());
    for (number, (which, start)) in units {
        if files.main.file.budget.halt().is_some() {
            break;
        }
        let unit = files.units(*which).map(|units| Unit::open(&units.file, *start));
        let Some(Ok(unit)) = unit else { continue };
        Scan::names(files, *which, &unit, *number, names, &mut all);
        for found in all.found.drain(..) {
            if found.is_new(&mut seen) {
                dealt.add(found);
            }
        }
    }
    dealt.scopes = all.scopes;
    dealt
}
