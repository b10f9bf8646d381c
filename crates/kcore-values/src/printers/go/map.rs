//! Maps until Go 1.23: buckets of eight, with more behind them (`runtime/map.go`).

use kcore_mem::Addr;

use super::arguments;
use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Entries of a bucket.
const SLOTS: i64 = 8;

/// The least hash in `tophash` of an entry that is there: less says why it is not.
const MIN_TOP_HASH: u64 = 5;

/// In `flags`: the map grows into as many buckets as it had.
const SAME_SIZE_GROW: u64 = 8;

/// Buckets behind one bucket: a well-mixed map has few.
const MAX_OVERFLOWS: u64 = 1 << 16;

/// A hash table.
pub struct Map;

impl Printer for Map {
    fn families(&self) -> &'static [&'static str] {
        &["go::hash"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let map = object.target(evaluator.process()).ok()?;
        if map.address()?.get() == 0 {
            return evaluator.entries(0, |_, _| None);
        }
        let count = evaluator.number_in(&map, &["count"])?;
        let mut walk = Walk::of(evaluator, &map)?;
        evaluator.entries(count, |evaluator, _| walk.next(evaluator))
    }
}

/// From one entry to the next.
struct Walk {
    /// Arrays of buckets: the first bucket, and how many there are.
    arrays: Vec<(Object, i64)>,
    /// The bucket, and those that were passed of its array.
    bucket: Option<Object>,
    passed: i64,
    slot: i64,
    overflows: u64,
    /// Whether keys and values are pointers to these, being big.
    indirect: (bool, bool),
}

impl Walk {
    fn of(evaluator: &Evaluator<'_>, map: &Object) -> Option<Self> {
        let log = evaluator.number_in(map, &["B"]).filter(|log| *log < 48)?;
        let count = 1_i64.checked_shl(u32::try_from(log).ok()?)?;
        let first = |name| {
            let pointer = evaluator.member(map, name)?;
            let first = pointer.target(evaluator.process()).ok()?;
            (first.address()?.get() != 0).then_some(first)
        };
        let mut arrays: Vec<(Object, i64)> = Vec::new();
        // While a map grows, what was not moved yet is in the old buckets.
        if let Some(old) = first("oldbuckets") {
            let is_same = evaluator.number_in(map, &["flags"])? & SAME_SIZE_GROW != 0;
            arrays.push((old, if is_same { count } else { count.checked_div(2)? }));
        }
        arrays.extend(first("buckets").map(|first| (first, count)));
        let indirect = indirect(evaluator, map)?;
        Some(Self { arrays, bucket: None, passed: 0, slot: SLOTS, overflows: 0, indirect })
    }

    fn next(&mut self, evaluator: &Evaluator<'_>) -> Option<(Object, Object)> {
        loop {
            if self.slot >= SLOTS {
                self.bucket = Some(self.next_bucket(evaluator)?);
                self.slot = 0;
            }
            let slot = self.slot;
            self.slot = slot.checked_add(1)?;
            let bucket = self.bucket.as_ref()?;
            let top = element(evaluator, bucket, "tophash", slot)?;
            if evaluator.number(&top)? >= MIN_TOP_HASH {
                let key = element(evaluator, bucket, "keys", slot)?;
                let value = element(evaluator, bucket, "values", slot)?;
                let key = if self.indirect.0 { key.target(evaluator.process()).ok()? } else { key };
                let value =
                    if self.indirect.1 { value.target(evaluator.process()).ok()? } else { value };
                return Some((key, value));
            }
        }
    }

    /// The bucket behind this one, or the next of the array.
    fn next_bucket(&mut self, evaluator: &Evaluator<'_>) -> Option<Object> {
        evaluator.go(8)?;
        let behind = self.bucket.take().and_then(|bucket| {
            let behind = evaluator.member(&bucket, "overflow")?;
            let at = evaluator.number(&behind).filter(|at| *at != 0).map(Addr::new)?;
            Some(Object::at(bucket.ty, at))
        });
        if let Some(behind) = behind.filter(|_| self.overflows < MAX_OVERFLOWS) {
            self.overflows = self.overflows.checked_add(1)?;
            return Some(behind);
        }
        self.overflows = 0;
        let (first, count) = self.arrays.last()?.clone();
        if self.passed >= count {
            self.arrays.pop();
            self.passed = 0;
            return self.next_bucket(evaluator);
        }
        let size = i64::try_from(evaluator.complete(&first.ty)?.size()?).ok()?;
        let into = self.passed.checked_mul(size)?;
        self.passed = self.passed.checked_add(1)?;
        Some(Object { place: first.place.part(u64::try_from(into).ok()?), ty: first.ty })
    }
}

fn element(evaluator: &Evaluator<'_>, bucket: &Object, name: &str, slot: i64) -> Option<Object> {
    evaluator.member(bucket, name)?.index(evaluator.process(), slot).ok()
}

/// Whether buckets have pointers to keys and to values.
fn indirect(evaluator: &Evaluator<'_>, map: &Object) -> Option<(bool, bool)> {
    let buckets = evaluator.member(map, "buckets")?;
    let bucket = evaluator.complete(&buckets.ty)?.target().ok()??;
    let bucket = Object::at(bucket, Addr::new(0));
    let held = |name| Some(element(evaluator, &bucket, name, 0)?.ty);
    arguments::indirect(evaluator, map, "hash<", &held("keys")?, &held("values")?)
}
