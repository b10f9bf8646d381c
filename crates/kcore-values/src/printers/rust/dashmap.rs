//! The crate dashmap, of releases 5 and 6: tables behind locks of their own, one after the other.

use kcore_mem::Addr;

use super::hash::Table;
use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Tables of one map, at most: as many as `DashMap` makes for a machine, and far more.
const MAX_SHARDS: u64 = 1 << 16;

/// A map or a set that threads change at once.
pub struct DashMap;

impl Printer for DashMap {
    fn families(&self) -> &'static [&'static str] {
        &["dashmap::DashMap", "dashmap::DashSet"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let is_map = object.ty.stripped().ok()?.name()?.starts_with("DashMap");
        let mut tables = tables(evaluator, object)?;
        let total = tables.iter().try_fold(0_u64, |sum, table| sum.checked_add(table.items))?;
        let mut next = move |evaluator: &Evaluator<'_>| loop {
            match tables.last_mut()?.next(evaluator) {
                Some(pair) => return Some(pair),
                None => drop(tables.pop()),
            }
        };
        match is_map {
            true => evaluator.entries(total, |evaluator, _| {
                let pair = next(evaluator)?;
                let value = evaluator.member(&pair, "__1")?;
                let value = within(evaluator, value, "SharedValue<");
                Some((evaluator.member(&pair, "__0")?, within(evaluator, value, "UnsafeCell<")))
            }),
            false => evaluator.sequence(total, |evaluator, _| {
                let pair = next(evaluator)?;
                evaluator.member(&pair, "__0")
            }),
        }
    }
}

/// The member `value` of a wrapper; another object itself.
fn within(evaluator: &Evaluator<'_>, object: Object, wrapper: &str) -> Object {
    let ty = evaluator.complete(&object.ty);
    let is_wrapper = ty.is_some_and(|ty| ty.name().is_some_and(|name| name.starts_with(wrapper)));
    let held = is_wrapper.then(|| evaluator.member(&object, "value")).flatten();
    held.unwrap_or(object)
}

/// The table behind the lock of a shard: since release 6 a raw one.
fn table(evaluator: &Evaluator<'_>, shard: &Object) -> Option<Table> {
    let held = within(evaluator, evaluator.dig(shard, &["data"])?, "UnsafeCell<");
    let ty = evaluator.complete(&held.ty)?;
    match ty.name()?.starts_with("RawTable<") {
        true => Table::of_raw(evaluator, &held),
        false => Table::of(evaluator, &held),
    }
}

/// The tables of all shards, the first one last.
fn tables(evaluator: &Evaluator<'_>, object: &Object) -> Option<Vec<Table>> {
    let shards = evaluator.dig(object, &["shards"])?;
    let first = evaluator.member(&shards, "data_ptr")?.target(evaluator.process()).ok()?;
    let count = evaluator.number_in(&shards, &["length"]).filter(|count| *count <= MAX_SHARDS)?;
    let ty = evaluator.complete(&first.ty)?;
    let size = ty.size()?;
    let start = first.address()?;
    let mut tables = Vec::new();
    for index in (0..count).rev() {
        evaluator.go(1)?;
        let at: Addr = start.checked_add(index.checked_mul(size)?)?;
        tables.push(table(evaluator, &Object::at(ty.clone(), at))?);
    }
    Some(tables)
}
