//! Indexes that compilers, linkers and debuggers put into files: which units name something, so that
//! not all of them need to be read.
//!
//! Such an index is input like any other. It says which units to scan, and nothing of what stands
//! there: a unit that it does not list is scanned as well, and where it is damaged, or names only
//! what was not meant, all are. What it may hide stands elsewhere under the same name: gdb tells of one
//! class of C++ where several units define it, and of no types in functions.

mod debug_names;
mod gdb_index;

use kcore_parallel::prelude::*;
use rustc_hash::FxHashSet;

use super::canonical::name_hash;
use crate::dwarf::{Files, Which};

/// A unit, as an index tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ListedUnit {
    /// A compilation unit, by where it begins in `.debug_info`.
    Unit(usize),
    /// A type unit, by where it begins in `.debug_types`, or in DWARF 5 in `.debug_info`.
    Types(usize),
}

/// What an index says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing {
    /// The units that it tells of.
    listed: Vec<ListedUnit>,
    /// Those of them that name what was asked for.
    naming: Vec<ListedUnit>,
}

impl ListedUnit {
    fn unit(self, files: &Files) -> (Which, usize) {
        match self {
            Self::Types(start) if files.units(Which::Types).is_some() => (Which::Types, start),
            Self::Unit(start) | Self::Types(start) => (Which::Main, start),
        }
    }
}

/// The units that may name something whose last word has this hash, of `all` that there are: `None`
/// where no index tells, or it saves little.
pub fn units(files: &Files, all: &[(Which, usize)], stem: u32) -> Option<Vec<(Which, usize)>> {
    // Units in other files would have to be told apart by numbers of theirs.
    if files.splits().is_some_and(|splits| splits.count() > 0) {
        return None;
    }
    let listing = listing(files, stem)?;
    let places = |places: &[ListedUnit]| -> FxHashSet<_> {
        places.iter().map(|place| place.unit(files)).collect()
    };
    let (listed, naming) = (places(&listing.listed), places(&listing.naming));
    let real: FxHashSet<_> = all.iter().copied().collect();
    if !listed.is_subset(&real) || !naming.is_subset(&listed) {
        return None;
    }
    let may_name = |unit: &(Which, usize)| naming.contains(unit) || !listed.contains(unit);
    let chosen: Vec<_> = all.iter().copied().filter(may_name).collect();
    let (some, whole) = (bytes_of(files, &chosen), bytes_of(files, all));
    let is_worth_it = some <= whole.saturating_sub(whole / 8);
    is_worth_it.then_some(chosen)
}

fn listing(files: &Files, stem: u32) -> Option<Listing> {
    let whole = |stream: &Option<std::sync::Arc<kcore_elf::SectionStream>>| {
        stream.as_ref().and_then(|stream| stream.whole())
    };
    if let Some(bytes) = whole(&files.lists.gdb_index) {
        return gdb_index::read(&bytes, |names| naming(names, stem));
    }
    let bytes = whole(&files.lists.debug_names)?;
    let strings = &files.main.file.dwarf.debug_str;
    debug_names::read(files.main.file.reader_of(bytes), strings, |names| naming(names, stem))
}

/// The values of the names whose last word has this hash.
fn naming<T: Copy + Send + Sync>(names: &[(&[u8], T)], stem: u32) -> Vec<T> {
    let is_named = |(name, _): &&(&[u8], T)| name_hash(name).stem == stem;
    names.par_iter().with_min_len(1 << 10).filter(is_named).map(|(_, value)| *value).collect()
}

fn bytes_of(files: &Files, units: &[(Which, usize)]) -> usize {
    let size = |(which, start): &(Which, usize)| {
        let next = files.units(*which)?.file.next_unit(*start).ok()?;
        next.checked_sub(*start)
    };
    units.iter().filter_map(size).fold(0, usize::saturating_add)
}
