//! Which addresses the units claim that `.debug_aranges` leaves out: what compilers write it not at
//! all, and units that have no other sign of their code than their lines.

use gimli::Error;
use kcore_parallel::prelude::*;

use super::{
    Result,
    attributes::RangesLeft,
    file::DwarfFile,
    files::Files,
    ranges::{Claim, Claims},
    unit::Unit,
};
use crate::meter::HALTED;

/// Units that one thread scans in a row; fewer than twice as many are not worth a second thread.
const CHUNK: usize = 64;

/// Opens the root entries of all units that `.debug_aranges` does not tell of. Says the first error as
/// well, and before all others that the command had to end.
pub fn scan(files: &Files) -> (Claims, Option<Error>) {
    let (starts, problem) = files.main.starts();
    let known = &files.aranges.units;
    let rest: Vec<usize> = starts.into_iter().filter(|start| !known.contains(start)).collect();
    let mut claims = Vec::new();
    let mut problem = problem;
    for unit in claims_of_all(&files.main.file, &rest) {
        match unit {
            Ok(more) => claims.extend(more),
            Err(HALTED) => problem = Some(HALTED),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    (Claims::new(claims), problem)
}

fn claims_of_all(file: &DwarfFile, units: &[usize]) -> Vec<Result<Vec<Claim>>> {
    if units.len() >= CHUNK.saturating_mul(2) {
        let left = RangesLeft::of(file);
        let units = units.par_iter().with_min_len(CHUNK);
        let found = units.map(|start| claims_of(file, *start, &left)).collect();
        if !left.is_over() {
            return found;
        }
    }
    // Which units get what is left must not depend on who comes first.
    let left = RangesLeft::of(file);
    units.iter().map(|start| claims_of(file, *start, &left)).collect()
}

fn claims_of(file: &DwarfFile, start: usize, left: &RangesLeft) -> Result<Vec<Claim>> {
    if file.budget.halt().is_some() {
        return Err(HALTED);
    }
    let unit = Unit::open_root(file, start)?;
    let mut claims = Vec::new();
    if !unit.may_hold_code() {
        return Ok(claims);
    }
    unit.pcs.each(file, &unit.unit, left, |range| {
        claims.push(Claim { begin: range.begin, end: range.end, unit: start });
    })?;
    if claims.is_empty() {
        let rows = match unit.rows(file) {
            Err(HALTED) => return Err(HALTED),
            Err(_) => return Ok(claims),
            Ok(rows) => rows,
        };
        let ranges = rows.ranges().take_while(|_| left.take());
        claims.extend(ranges.map(|(begin, end)| Claim { begin, end, unit: start }));
    }
    Ok(claims)
}
