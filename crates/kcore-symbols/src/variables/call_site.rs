//! What a caller knows of a call: which function it calls, and what it passed
//! (`DW_TAG_call_site` of DWARF 5, `DW_TAG_GNU_call_site` before).

use std::{rc::Rc, sync::Arc};

use gimli::{Attribute, AttributeValue, DwTag, constants};
use kcore_mem::Svma;

use super::{Expression, VariableLocation, location, variable::Chain};
use crate::{
    DebugInfo, DieId,
    dwarf::{PcRanges, Reader, Result, Walk},
    meter::Meter,
    types::DieEntry,
};

/// A call.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// What is called.
    pub target: CallTarget,
    /// What is known of the arguments, as they were right before the call.
    pub parameters: Vec<CallParameter>,
}

/// What a call calls.
#[derive(Clone, Debug)]
pub enum CallTarget {
    /// A function by its entry, which may be a declaration.
    Function(DieId),
    /// The function at an address of the file: gcc says so of a copy that it made of a function.
    Address(Svma),
    /// The function at an address that an expression gives in the caller.
    Computed(Expression),
    /// Nobody knows.
    Unknown,
}

/// What a caller knows of an argument.
#[derive(Clone, Debug)]
pub struct CallParameter {
    /// Where the callee finds it when it begins.
    pub location: Option<Expression>,
    /// The parameter that it is for, where the call tells that.
    pub parameter: Option<DieId>,
    /// Its value, in the caller's terms.
    pub value: Option<Expression>,
    /// The value of what it points to.
    pub data_value: Option<Expression>,
}

/// Where the code of a function begins, and how it is called.
#[derive(Clone, Debug, Default)]
pub struct FunctionCode {
    /// The first address of its code; `None` of one that has its code elsewhere.
    pub entry: Option<Svma>,
    /// The name of its symbol, else its plain name.
    pub symbol: Option<Arc<str>>,
    /// Whether other units see it: else only a symbol of its own file can be it.
    pub is_external: bool,
}

/// The call in a function that returns to `pc`.
pub fn returning_to(
    info: &Arc<DebugInfo>,
    function: DieId,
    pc: Svma,
    meter: &Rc<Meter>,
) -> Result<Option<CallSite>> {
    let returns_here = |attribute: &Attribute<Reader>, owner: &DieEntry<'_>| {
        let is_pc =
            matches!(attribute.name(), constants::DW_AT_call_return_pc | constants::DW_AT_low_pc);
        is_pc && address(owner, attribute.value()) == Some(pc.get())
    };
    let found = find(info, function, 1, meter, returns_here)?.pop();
    found.map(|found| read(info, found, meter)).transpose()
}

/// The call that an entry describes.
pub fn read(info: &Arc<DebugInfo>, call: DieId, meter: &Rc<Meter>) -> Result<CallSite> {
    let entry = DieEntry::read_by(info, call, meter)?;
    let mut parameters = Vec::new();
    entry.children(|child| {
        if is_parameter(child.tag()) {
            parameters.push(parameter(info, &child));
        }
        Ok(())
    })?;
    Ok(CallSite { target: target(info, &entry), parameters })
}

/// Where the code of a function begins, and how it is called.
pub fn code_of(info: &DebugInfo, function: DieId) -> Result<FunctionCode> {
    let chain = Chain::of(DieEntry::read(info, function)?)?;
    let entry = first_entry(&chain)?;
    let linkage = [constants::DW_AT_linkage_name, constants::DW_AT_MIPS_linkage_name];
    let linkage = linkage.into_iter().find_map(|name| chain.entries().find_map(|it| it.text(name)));
    let symbol = linkage.or_else(|| chain.entries().find_map(DieEntry::name));
    let is_external = chain.entries().any(|part| part.flag(constants::DW_AT_external));
    Ok(FunctionCode { entry, symbol, is_external })
}

/// Where the code of a function begins. Its name, which may be long, is not read.
pub fn start_of(info: &DebugInfo, function: DieId) -> Result<Option<Svma>> {
    first_entry(&Chain::of(DieEntry::read(info, function)?)?)
}

fn first_entry(chain: &Chain<'_>) -> Result<Option<Svma>> {
    for part in chain.entries() {
        if let Some(entry) = entry_of(part)? {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

/// The first address of a function's code: the one that its entry names so, else that of its first
/// range.
pub fn entry_of(function: &DieEntry<'_>) -> Result<Option<Svma>> {
    let named = function.value(constants::DW_AT_entry_pc);
    if let Some(named) = named.and_then(|value| address(function, value)) {
        return Ok(Some(Svma::new(named)));
    }
    let Some(units) = function.info().files().units(function.id().which) else { return Ok(None) };
    let unit = &function.unit().unit;
    let mut pcs = PcRanges::default();
    for attribute in function.attributes() {
        pcs.take(&units.file, unit, attribute)?;
    }
    Ok(pcs.first(&units.file, unit)?.map(Svma::new))
}

/// The calls of a function of which one attribute is as wanted, at most `max`. Those of functions within it are
/// not its own.
pub fn find(
    info: &DebugInfo,
    function: DieId,
    max: usize,
    meter: &Meter,
    wanted: impl Fn(&Attribute<Reader>, &DieEntry<'_>) -> bool,
) -> Result<Vec<DieId>> {
    let owner = DieEntry::read(info, function)?;
    let (unit, offset) = info.place(function)?;
    let mut found = Vec::new();
    let mut walk = Walk::new(&unit, Some(offset))?;
    let Some(own) = walk.next(-1)? else { return Ok(found) };
    walk.pass(&own)?;
    while found.len() < max
        && own.shape.has_children()
        && let Some(entry) = walk.next(0)?
    {
        meter.count(walk.take_come_to())?;
        match entry.shape.tag() {
            constants::DW_TAG_subprogram => {
                walk.pass_tree(&entry)?;
                continue;
            }
            tag if !is_call(tag) => {
                walk.pass(&entry)?;
                continue;
            }
            _ => {}
        }
        let mut is_wanted = false;
        walk.attributes(&entry, |attribute| {
            is_wanted |= wanted(attribute, &owner);
            Ok(())
        })?;
        if is_wanted {
            let offset = unit.start.saturating_add(entry.offset.0);
            found.push(DieId { which: function.which, offset });
        }
    }
    Ok(found)
}

const fn is_call(tag: DwTag) -> bool {
    matches!(tag, constants::DW_TAG_call_site | constants::DW_TAG_GNU_call_site)
}

const fn is_parameter(tag: DwTag) -> bool {
    matches!(tag, constants::DW_TAG_call_site_parameter | constants::DW_TAG_GNU_call_site_parameter)
}

/// An address that an attribute in the unit of `owner` gives.
pub fn address(owner: &DieEntry<'_>, value: AttributeValue<Reader>) -> Option<u64> {
    let file = &owner.info().files().units(owner.id().which)?.file;
    file.dwarf.attr_address(&owner.unit().unit, value).ok()?
}

/// What the call at an entry calls.
pub fn target(info: &Arc<DebugInfo>, call: &DieEntry<'_>) -> CallTarget {
    let named = [constants::DW_AT_call_origin, constants::DW_AT_abstract_origin];
    if let Some(id) = named.into_iter().find_map(|name| call.reference(name)) {
        return CallTarget::Function(id);
    }
    let placed = named.into_iter().find_map(|name| address(call, call.value(name)?));
    if let Some(at) = placed {
        return CallTarget::Address(Svma::new(at));
    }
    let computed = [constants::DW_AT_call_target, constants::DW_AT_GNU_call_site_target];
    let mut computed = computed.into_iter().filter_map(|name| expression(info, call, name));
    computed.next().map_or(CallTarget::Unknown, CallTarget::Computed)
}

fn parameter(info: &Arc<DebugInfo>, entry: &DieEntry<'_>) -> CallParameter {
    let either =
        |names: [gimli::DwAt; 2]| names.into_iter().find_map(|name| expression(info, entry, name));
    let named = [constants::DW_AT_call_parameter, constants::DW_AT_abstract_origin];
    CallParameter {
        location: expression(info, entry, constants::DW_AT_location),
        parameter: named.into_iter().find_map(|name| entry.reference(name)),
        value: either([constants::DW_AT_call_value, constants::DW_AT_GNU_call_site_value]),
        data_value: either([
            constants::DW_AT_call_data_value,
            constants::DW_AT_GNU_call_site_data_value,
        ]),
    }
}

fn expression(
    info: &Arc<DebugInfo>,
    entry: &DieEntry<'_>,
    name: gimli::DwAt,
) -> Option<Expression> {
    match location::attribute(info, entry, name, None).ok()?? {
        VariableLocation::Expression(expression) => Some(expression),
        _ => None,
    }
}
