//! Maps since Go 1.24: groups of eight slots with a byte of control for each
//! (`internal/runtime/maps/map.go`, `table.go`, `group.go`).

use kcore_mem::Addr;

use super::arguments;
use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Slots of a group.
const SLOTS: u32 = 8;

/// In a byte of control: the slot is empty, or what was there was deleted.
const EMPTY: u64 = 0x80;

/// Tables that a directory may name, and groups of one table.
const MAX_TABLES: u64 = 1 << 24;

/// A hash table.
pub struct SwissMap;

impl Printer for SwissMap {
    fn families(&self) -> &'static [&'static str] {
        &["go::map"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let map = object.target(evaluator.process()).ok()?;
        if map.address()?.get() == 0 {
            return evaluator.entries(0, |_, _| None);
        }
        let used = evaluator.number_in(&map, &["used"])?;
        let mut walk = Walk::of(evaluator, &map)?;
        evaluator.entries(used, |evaluator, _| walk.next(evaluator))
    }
}

/// From one entry to the next.
struct Walk {
    /// The array of pointers to tables, and how many there are.
    directory: (Object, u64),
    /// Tables that were begun.
    begun: u64,
    /// The first group of the table, and how many it has.
    groups: Option<(Object, u64)>,
    /// The next slot of all groups of the table.
    slot: u64,
    /// The table that came last: several neighbours of the directory may lead to one.
    last: Option<Addr>,
    /// Whether slots have pointers to keys and to values, being big.
    indirect: (bool, bool),
}

impl Walk {
    fn of(evaluator: &Evaluator<'_>, map: &Object) -> Option<Self> {
        let length = evaluator.number_in(map, &["dirLen"]).filter(|length| *length < MAX_TABLES)?;
        let directory = evaluator.member(map, "dirPtr")?;
        let first = directory.target(evaluator.process()).ok()?;
        let table = evaluator.complete(&first.ty)?.target().ok()??;
        let groups = evaluator.dig(&Object::at(table, Addr::new(0)), &["data"])?;
        let group = evaluator.complete(&groups.ty)?.target().ok()??;
        let (key, value) = held(evaluator, &Object::at(group.clone(), Addr::new(0)), 0)?;
        let indirect = arguments::indirect(evaluator, map, "map<", &key.ty, &value.ty)?;
        // A small map has one group, and no table.
        let groups = (length == 0).then(|| (first.cast(group), 1));
        Some(Self { directory: (first, length), begun: 0, groups, slot: 0, last: None, indirect })
    }

    fn next(&mut self, evaluator: &Evaluator<'_>) -> Option<(Object, Object)> {
        loop {
            evaluator.go(1)?;
            let Some((first, count)) = self.groups.clone() else {
                self.next_table(evaluator)?;
                continue;
            };
            let (group, slot) = (self.slot.checked_div(8)?, self.slot.checked_rem(8)?);
            if group >= count {
                self.groups = None;
                continue;
            }
            self.slot = self.slot.checked_add(1)?;
            let size = evaluator.complete(&first.ty)?.size()?;
            let place = first.place.part(group.checked_mul(size)?);
            if let Some(entry) = self.entry(evaluator, &Object { ty: first.ty, place }, slot)? {
                return Some(entry);
            }
        }
    }

    /// Goes to the next table of the directory.
    fn next_table(&mut self, evaluator: &Evaluator<'_>) -> Option<()> {
        while self.begun < self.directory.1 {
            let index = i64::try_from(self.begun).ok()?;
            self.begun = self.begun.checked_add(1)?;
            evaluator.go(1)?;
            let into = u64::try_from(index).ok()?.checked_mul(evaluator.word())?;
            let pointer = Object {
                ty: self.directory.0.ty.clone(),
                place: self.directory.0.place.part(into),
            };
            let table = pointer.target(evaluator.process()).ok()?;
            if table.address() == self.last {
                continue;
            }
            self.last = table.address();
            let groups = evaluator.dig(&table, &["data"])?.target(evaluator.process()).ok()?;
            let mask = evaluator.number_in(&table, &["lengthMask"])?;
            self.groups = Some((groups, mask.checked_add(1)?));
            self.slot = 0;
            return Some(());
        }
        None
    }

    /// The entry of a slot; `Some(None)` when the slot is empty.
    fn entry(
        &self,
        evaluator: &Evaluator<'_>,
        group: &Object,
        slot: u64,
    ) -> Option<Option<(Object, Object)>> {
        let shift = u32::try_from(slot).ok().filter(|slot| *slot < SLOTS)?.checked_mul(8)?;
        let control = evaluator.number_in(group, &["ctrl"])?.checked_shr(shift)?;
        if control & EMPTY != 0 {
            return Some(None);
        }
        let (key, value) = held(evaluator, group, slot)?;
        let behind = |object: Object, is_pointer| match is_pointer {
            true => object.target(evaluator.process()).ok(),
            false => Some(object),
        };
        Some(Some((behind(key, self.indirect.0)?, behind(value, self.indirect.1)?)))
    }
}

/// What a slot holds: a key beside its value, or with the experiment `mapsplitgroup` one in each of two
/// arrays.
fn held(evaluator: &Evaluator<'_>, group: &Object, slot: u64) -> Option<(Object, Object)> {
    let slot = i64::try_from(slot).ok()?;
    let in_array = |name| evaluator.member(group, name)?.index(evaluator.process(), slot).ok();
    if let Some(slot) = in_array("slots") {
        return Some((evaluator.member(&slot, "key")?, evaluator.member(&slot, "elem")?));
    }
    Some((in_array("keys")?, in_array("elems")?))
}
