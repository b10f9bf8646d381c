//! Where a variable lies at an address: `DW_AT_location` and its kin, alone or as a list by addresses.

use std::sync::Arc;

use gimli::{
    AttributeValue, DwAt, DwarfFileType, LocListIter, LocationListsOffset, RawLocListEntry,
    Reader as _, constants,
};
use kcore_mem::Svma;

use super::{
    ConstantValue, Expression, VariableLocation,
    location_list::{Entry, LocationList},
};
use crate::{
    DebugInfo,
    dwarf::{Reader, Result},
    meter::{EXHAUSTED, HALTED, Meter},
    types::DieEntry,
};

/// How many times as much as what is read an expression counts, since it is kept with its variable.
const KEPT: usize = 16;
/// Entries of one location list that are looked at.
const MAX_ENTRIES: usize = 1 << 16;

/// What an entry says of a variable's place while code at `pc` runs; `None` if it says nothing.
///
/// # Errors
/// When no more may be read.
pub fn of(
    info: &Arc<DebugInfo>,
    entry: &DieEntry<'_>,
    pc: Option<Svma>,
) -> Result<Option<VariableLocation>> {
    let location = attribute(info, entry, constants::DW_AT_location, pc)?;
    Ok(location.or_else(|| constant(entry).map(VariableLocation::Constant)))
}

/// What an attribute of the class of locations says. Any number of entries may have one list, or one expression in
/// it, so that what is read is counted.
///
/// # Errors
/// When no more may be read.
pub fn attribute(
    info: &Arc<DebugInfo>,
    entry: &DieEntry<'_>,
    name: DwAt,
    pc: Option<Svma>,
) -> Result<Option<VariableLocation>> {
    let Some(value) = entry.value(name) else { return Ok(None) };
    let found = match value {
        AttributeValue::Exprloc(expression) => Ok(Some(expression.0)),
        AttributeValue::Block(block) => Ok(Some(block)),
        value => in_list(entry, value, pc),
    };
    let found =
        found.and_then(|bytes| bytes.map(|bytes| expression(info, entry, bytes)).transpose());
    Ok(Some(match found {
        Err(EXHAUSTED | HALTED) => return Err(EXHAUSTED),
        Ok(Some(expression)) if expression.bytes().is_empty() => VariableLocation::OptimizedOut,
        Ok(Some(expression)) => VariableLocation::Expression(expression),
        Ok(None) => VariableLocation::OptimizedOut,
        Err(error) => VariableLocation::Damaged(error),
    }))
}

fn expression(info: &Arc<DebugInfo>, entry: &DieEntry<'_>, bytes: Reader) -> Result<Expression> {
    entry.meter().count_bytes(bytes.len().saturating_mul(KEPT))?;
    let bytes: Arc<[u8]> = bytes.to_slice()?.into();
    Ok(Expression::of(info, entry.id().which, entry.unit(), bytes))
}

/// The expression of a location list that counts at `pc`.
fn in_list(
    entry: &DieEntry<'_>,
    value: AttributeValue<Reader>,
    pc: Option<Svma>,
) -> Result<Option<Reader>> {
    let (Some(units), Some(pc)) = (entry.info().files().units(entry.id().which), pc) else {
        return Ok(None);
    };
    let (file, unit) = (&units.file, &entry.unit().unit);
    let lists = file.locations();
    let offset = match value {
        AttributeValue::LocationListsRef(offset) => offset,
        AttributeValue::SecOffset(offset) => LocationListsOffset(offset),
        AttributeValue::DebugLocListsIndex(index) => {
            lists.get_offset(unit.encoding(), unit.loclists_base, index)?
        }
        _ => return Ok(None),
    };
    if unit.encoding().version >= 5 {
        return at_of_list(LocationList::at(file, unit, offset.0)?, pc.get(), entry.meter());
    }
    let (addresses, base) = (&file.dwarf.debug_addr, unit.addr_base);
    let (encoding, low_pc) = (unit.encoding(), unit.low_pc);
    let list = match file.dwarf.file_type {
        DwarfFileType::Main => lists.locations(offset, encoding, low_pc, addresses, base),
        DwarfFileType::Dwo => lists.locations_dwo(offset, encoding, low_pc, addresses, base),
    };
    at(list?, pc.get(), entry.meter())
}

/// The first location whose range holds `pc`, else the default one.
fn at_of_list(mut list: LocationList<'_>, pc: u64, meter: &Meter) -> Result<Option<Reader>> {
    let mut default = None;
    for _ in 0..MAX_ENTRIES {
        meter.count(1)?;
        match list.next()? {
            None => break,
            Some(Entry::Default(data)) => default = default.or(Some(data)),
            Some(Entry::Bounded(Some((begin, end)), data)) if (begin..end).contains(&pc) => {
                return Ok(Some(data));
            }
            Some(Entry::Bounded(..)) => {}
        }
    }
    Ok(default)
}

/// The same of a list as it was before DWARF 5.
fn at(mut list: LocListIter<Reader>, pc: u64, meter: &Meter) -> Result<Option<Reader>> {
    let mut default = None;
    for _ in 0..MAX_ENTRIES {
        meter.count(1)?;
        let Some(raw) = list.next_raw()? else { break };
        if let RawLocListEntry::DefaultLocation { data } = raw {
            default = default.or(Some(data.0));
        } else if let Some(found) = list.convert_raw(raw)?
            && (found.range.begin..found.range.end).contains(&pc)
        {
            return Ok(Some(found.data.0));
        }
    }
    Ok(default)
}

/// The value of a variable that has no place, since it is a constant.
fn constant(entry: &DieEntry<'_>) -> Option<ConstantValue> {
    let bytes = |bytes: Reader| Some(ConstantValue::Bytes(bytes.to_slice().ok()?.into()));
    match entry.value(constants::DW_AT_const_value)? {
        AttributeValue::Block(block) => bytes(block),
        AttributeValue::Exprloc(expression) => bytes(expression.0),
        AttributeValue::String(_) | AttributeValue::DebugStrRef(_) => {
            let text = entry.text(constants::DW_AT_const_value)?;
            let terminated = text.bytes().chain([0]);
            Some(ConstantValue::Bytes(terminated.collect()))
        }
        AttributeValue::Data16(value) => Some(ConstantValue::Number(value.cast_signed())),
        value => number(&value).map(ConstantValue::Number),
    }
}

/// Compilers write a number of few bytes so only if it has no sign; others are of `DW_FORM_sdata`.
fn number(value: &AttributeValue<Reader>) -> Option<i128> {
    match *value {
        AttributeValue::Data1(data) => Some(data.into()),
        AttributeValue::Data2(data) => Some(data.into()),
        AttributeValue::Data4(data) => Some(data.into()),
        AttributeValue::Data8(data) | AttributeValue::Udata(data) => Some(data.into()),
        AttributeValue::Sdata(data) => Some(data.into()),
        _ => None,
    }
}
