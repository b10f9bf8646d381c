//! Hash tables that are the contents of `Map`, `Set` and their weak kin.

use crate::v8::{Heap, Tagged, heap::Object};

/// Entries that are looked at, at most.
const MAX_ENTRIES: u64 = 1 << 20;

/// The entries of a table, and how many it says that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries {
    /// How many it has.
    pub size: u64,
    /// Keys and values; those of sets have their key for value.
    pub entries: Vec<(Tagged, Tagged)>,
}

impl Heap<'_> {
    /// The entries of a `Map` (`has_values`) or `Set`, at most `most`. `src/objects/ordered-hash-table.h`:
    /// count, count of deleted ones, buckets, the first of each bucket, and the entries in the order of
    /// insertion, each with the next of its bucket.
    pub fn ordered_entries(&self, holder: Object, has_values: bool, most: u64) -> Option<Entries> {
        let table = self.field(holder.at, 24)?;
        let number = |index| u64::try_from(self.element(table, index)?.smi()?).ok();
        let (size, deleted, buckets) = (number(0)?, number(1)?, number(2)?);
        let first = buckets.checked_add(3)?;
        let width = if has_values { 3 } else { 2 };
        let entry = |index: u64| {
            let at = index.checked_mul(width)?.checked_add(first)?;
            let key = self.element(table, at)?;
            (!self.is_hole(key)).then_some(())?;
            let value = if has_values { self.element(table, at.checked_add(1)?)? } else { key };
            Some((key, value))
        };
        let used = size.saturating_add(deleted).min(MAX_ENTRIES).min(self.elements_held(table));
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Some(Entries { size, entries: (0..used).filter_map(entry).take(most).collect() })
    }

    /// The entries of a `WeakMap` or `WeakSet`, at most `most`: an `EphemeronHashTable` of count, deleted,
    /// capacity, and pairs of key and value.
    pub fn weak_entries(&self, holder: Object, most: u64) -> Option<Entries> {
        let table = self.field(holder.at, 24)?;
        let size = u64::try_from(self.element(table, 0)?.smi()?).ok()?;
        let entry = |index: u64| {
            let at = index.checked_mul(2)?.checked_add(3)?;
            let key = self.element(table, at)?;
            self.is_receiver(self.object(key)?).then_some(())?;
            Some((key, self.element(table, at.checked_add(1)?)?))
        };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let entries = (0..self.capacity(table)?).filter_map(entry).take(most).collect();
        Some(Entries { size, entries })
    }

    /// Whether a value is the mark of an empty slot.
    pub fn is_hole(&self, value: Tagged) -> bool {
        let Some(object) = self.object(value) else { return false };
        let types = &self.layout.types;
        (object.kind == types.hole && types.hole != 0)
            || self.oddball(object).is_some_and(|name| name.contains("hole"))
    }
}
