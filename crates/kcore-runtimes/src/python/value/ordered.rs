//! The order of an `OrderedDict`, `struct _odictobject` and `_odictnode` of `Objects/odictobject.c` (3.8 to 3.15): a
//! list of its keys behind the dict that it is. That dict has another order as soon as a key was moved.

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::super::{
    dict::{Entries, Entry},
    heap::{Heap, Object},
};

/// `od_first` and `od_last`, behind a `PyDictObject`.
const FIRST: u64 = 48;
const LAST: u64 = 56;
/// `key`, `next` and `prev` of a node.
const KEY: u64 = 0;
const NEXT: u64 = 16;
const PREVIOUS: u64 = 24;

/// The first entries of an `OrderedDict`, in its order; `None` where its list cannot be followed, or is of other keys than
/// the dict.
pub fn entries(heap: &Heap<'_>, object: Object, most: u64) -> Option<Vec<Entry>> {
    let length = heap.word(object.at, 16)?;
    let keys = keys(heap, object, length, most)?;
    let mut values: FxHashMap<Addr, Option<Addr>> = keys.iter().map(|key| (*key, None)).collect();
    for entry in Entries::of(heap, object)? {
        if let Some(value) = values.get_mut(&entry.key) {
            *value = Some(entry.value);
        }
    }
    let entry = |key: &Addr| Some(Entry { key: *key, value: (*values.get(key)?)? });
    keys.iter().map(entry).collect()
}

fn keys(heap: &Heap<'_>, object: Object, length: u64, most: u64) -> Option<Vec<Addr>> {
    let mut keys = Vec::new();
    let (mut node, mut previous) = (heap.word(object.at, FIRST)?, 0);
    while node != 0 && (keys.len() as u64) < most.min(length) {
        let at = Addr::new(node);
        (heap.word(at, PREVIOUS)? == previous).then_some(())?;
        keys.push(heap.pointer(at, KEY)?);
        (previous, node) = (node, heap.word(at, NEXT)?);
    }
    let is_whole = keys.len() as u64 == length;
    let ends_right = node == 0 && heap.word(object.at, LAST)? == previous;
    (ends_right == is_whole && keys.len() as u64 == most.min(length)).then_some(keys)
}
