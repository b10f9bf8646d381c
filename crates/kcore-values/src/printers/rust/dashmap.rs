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
                let value = evaluator.dig(&value, &["value"]).unwrap_or(value);
                Some((evaluator.member(&pair, "__0")?, inner(evaluator, value)))
            }),
            false => evaluator.sequence(total, |evaluator, _| {
                let pair = next(evaluator)?;
                evaluator.member(&pair, "__0")
            }),
        }
    }
}

/// What an `UnsafeCell` holds.
fn inner(evaluator: &Evaluator<'_>, value: Object) -> Object {
    let is_cell = evaluator
        .complete(&value.ty)
        .is_some_and(|ty| ty.name().is_some_and(|name| name.starts_with("UnsafeCell<")));
    let held = is_cell.then(|| evaluator.member(&value, "value")).flatten();
    held.unwrap_or(value)
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
        tables.push(Table::of(evaluator, &Object::at(ty.clone(), at))?);
    }
    Some(tables)
}
