//! The calls by which a function may end as another one: jumps, after which nothing of it is on the stack
//! (`DW_AT_call_tail_call` of DWARF 5, `DW_AT_GNU_tail_call` before).

use std::{rc::Rc, sync::Arc};

use gimli::{Attribute, AttributeValue, DwAt, constants};
use kcore_mem::Svma;

use super::{
    CallTarget,
    call_site::{address, find, target},
    variable::Chain,
};
use crate::{
    DebugInfo, DieId,
    dwarf::{Reader, Result},
    meter::Meter,
    types::DieEntry,
};

/// Tail calls of one function that are read.
const MAX_CALLS: usize = 256;

/// What says of a function that all its calls, or all its tail calls, have entries.
const COMPLETE: [DwAt; 6] = [
    constants::DW_AT_call_all_calls,
    constants::DW_AT_call_all_source_calls,
    constants::DW_AT_call_all_tail_calls,
    constants::DW_AT_GNU_all_call_sites,
    constants::DW_AT_GNU_all_source_call_sites,
    constants::DW_AT_GNU_all_tail_call_sites,
];

/// The tail calls of a function.
#[derive(Clone, Debug, Default)]
pub struct TailCalls {
    /// Those that are told of.
    pub calls: Vec<TailCall>,
    /// Whether there are no others.
    pub is_complete: bool,
}

/// A tail call.
#[derive(Clone, Debug)]
pub struct TailCall {
    /// The entry that describes it.
    pub id: DieId,
    /// Where it is, if that is told.
    pub place: Option<CallPlace>,
    /// What it calls.
    pub target: CallTarget,
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPlace {
    /// The instruction that calls begins here.
    At(Svma),
    /// It ends here.
    Behind(Svma),
}

/// The tail calls of a function.
pub fn of(info: &Arc<DebugInfo>, function: DieId, meter: &Rc<Meter>) -> Result<TailCalls> {
    let is_tail = |attribute: &Attribute<Reader>, _: &DieEntry<'_>| {
        matches!(attribute.name(), constants::DW_AT_call_tail_call | constants::DW_AT_GNU_tail_call)
            && attribute.value() == AttributeValue::Flag(true)
    };
    let found = find(info, function, MAX_CALLS, meter, is_tail)?;
    let is_cut = found.len() >= MAX_CALLS;
    let calls = found.into_iter().map(|id| {
        let entry = DieEntry::read_by(info, id, meter)?;
        Ok(TailCall { id, place: place(&entry), target: target(info, &entry) })
    });
    let calls = calls.collect::<Result<_>>()?;
    let own = Chain::of(DieEntry::read_by(info, function, meter)?)?;
    let is_complete = own.entries().any(|entry| COMPLETE.iter().any(|name| entry.flag(*name)));
    Ok(TailCalls { calls, is_complete: is_complete && !is_cut })
}

/// Where a call is: compilers tell its end, clang for DWARF 5 its beginning.
fn place(call: &DieEntry<'_>) -> Option<CallPlace> {
    let at = |name| address(call, call.value(name)?).map(Svma::new);
    let end = at(constants::DW_AT_call_return_pc).or_else(|| at(constants::DW_AT_low_pc));
    end.map(CallPlace::Behind).or_else(|| at(constants::DW_AT_call_pc).map(CallPlace::At))
}
