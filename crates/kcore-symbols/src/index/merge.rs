//! What was found in parts of the units, brought together.
//!
//! Names are dealt by the first bits of their stems, so that all threads can merge and sort at once,
//! and each of them works on as much as a processor has at hand.

use kcore_parallel::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Record,
    records::{ASK_ENTRY, NO_SCOPE, ScopeRecord},
    scan::{FoundScope, NameEntry},
};

/// Heaps that names are dealt to.
const HEAPS: usize = 1 << HEAP_BITS;
const HEAP_BITS: u32 = 6;

/// What was found in some units.
pub struct Dealt {
    /// The names, in the order in which they stand there, by the first bits of their stems.
    heaps: Vec<Vec<NameEntry>>,
    /// The scopes that they lie in.
    pub scopes: Vec<FoundScope>,
    /// The numbers that these have among all.
    numbers: Vec<u32>,
}

impl Default for Dealt {
    fn default() -> Self {
        let heaps = (0..HEAPS).map(|_| Vec::new()).collect();
        Self { heaps, scopes: Vec::new(), numbers: Vec::new() }
    }
}

impl Dealt {
    /// Adds a name.
    pub fn add(&mut self, found: NameEntry) {
        let heap = found.record.stem >> (u32::BITS - HEAP_BITS);
        if let Some(heap) = self.heaps.get_mut(heap as usize) {
            heap.push(found);
        }
    }
}

/// The scopes of all units, those of the same names once.
#[derive(Default)]
pub struct Scopes {
    /// The scopes by their numbers.
    pub records: Vec<ScopeRecord>,
    numbers: FxHashMap<u64, u32>,
}

impl Scopes {
    /// Numbers the scopes throughout.
    pub fn number(all: &mut [Dealt]) -> Self {
        let mut scopes = Self::default();
        for dealt in all {
            for scope in std::mem::take(&mut dealt.scopes) {
                // Those around a scope stand before it.
                let number = scopes.number_of(&scope, &dealt.numbers);
                dealt.numbers.push(number);
            }
        }
        scopes
    }

    /// The number of a scope, be it that one of the same names was met before.
    fn number_of(&mut self, scope: &FoundScope, numbers: &[u32]) -> u32 {
        let next = u32::try_from(self.records.len()).unwrap_or(NO_SCOPE);
        let number = *self.numbers.entry(scope.hash).or_insert(next);
        if number == next {
            let around = renumbered(numbers, scope.around);
            self.records.push(ScopeRecord { around, unit: scope.unit, offset: scope.offset });
        }
        number
    }
}

/// All names in order, in the order of their heaps; each identity where it was met first.
pub fn merged(all: &[Dealt]) -> Vec<Vec<Record>> {
    (0..HEAPS).into_par_iter().with_max_len(1).map(|heap| merged_heap(all, heap)).collect()
}

fn merged_heap(all: &[Dealt], heap: usize) -> Vec<Record> {
    let parts = || all.iter().filter_map(|dealt| Some((dealt, dealt.heaps.get(heap)?)));
    let most = parts().fold(0_usize, |sum, (_, part)| sum.saturating_add(part.len()));
    let mut seen = FxHashSet::with_capacity_and_hasher(most, rustc_hash::FxBuildHasher);
    let mut records = Vec::with_capacity(most);
    for (dealt, part) in parts() {
        let new = part.iter().filter(|found| found.is_new(&mut seen));
        records.extend(new.map(|found| {
            let scope = renumbered(&dealt.numbers, found.record.scope);
            found.record.in_scope(scope)
        }));
    }
    records.sort_unstable_by_key(Record::order);
    records
}

fn renumbered(numbers: &[u32], number: u32) -> u32 {
    match number {
        NO_SCOPE | ASK_ENTRY => number,
        _ => numbers.get(number as usize).copied().unwrap_or(NO_SCOPE),
    }
}
