//! The functions at an address, and the blocks of them that hold it.

use std::{rc::Rc, sync::Arc};

use gimli::constants;
use kcore_mem::Svma;

use super::{
    FunctionScope, Scopes, Variable, VariableKind, VariableLocation, call_site,
    instance::{self, Block},
    location,
};
use crate::{
    DebugInfo, DieId,
    dwarf::{PcRanges, Result},
    meter::Meter,
    types::DieEntry,
};

/// Blocks and inlined calls that lie within one another, at most.
const MAX_NESTED: usize = 1024;

/// The functions that hold `pc`, of which the outermost is at `function`.
pub fn scopes(
    info: &Arc<DebugInfo>,
    function: DieId,
    pc: Svma,
    meter: &Rc<Meter>,
) -> Result<Scopes> {
    let outermost = DieEntry::read_by(info, function, meter)?;
    let frame_base = location::attribute(info, &outermost, constants::DW_AT_frame_base, Some(pc))?;
    let static_link =
        location::attribute(info, &outermost, constants::DW_AT_static_link, Some(pc))?;
    let entry = call_site::entry_of(&outermost)?;
    let mut functions = Vec::new();
    let mut next = Some(outermost);
    while let Some(function) = next.filter(|_| functions.len() < MAX_NESTED) {
        let (scope, inlined) = read(info, function, pc)?;
        functions.push(scope);
        next = inlined;
    }
    functions.reverse();
    let frame_base = frame_base.unwrap_or(VariableLocation::OptimizedOut);
    Ok(Scopes { functions, frame_base, static_link, entry })
}

/// One function, and the call that is inlined into it at `pc`.
fn read<'a>(
    info: &'a Arc<DebugInfo>,
    function: DieEntry<'a>,
    pc: Svma,
) -> Result<(FunctionScope, Option<DieEntry<'a>>)> {
    let (id, is_inlined) = (function.id(), function.tag() == constants::DW_TAG_inlined_subroutine);
    let mut blocks = Vec::new();
    let mut below = Below::of(&function, pc)?;
    let mut inlined = below.inlined;
    blocks.push(Block::of(function, below.variables)?);
    while let Some(block) = below.block.filter(|_| blocks.len() < MAX_NESTED) {
        below = Below::of(&block, pc)?;
        inlined = inlined.or(below.inlined);
        blocks.push(Block::of(block, below.variables)?);
    }
    let mut ids = Vec::new();
    for block in blocks.iter().rev() {
        ids.extend(block.ids(info)?);
    }
    let variables = in_order(instance::variables(info, blocks, pc)?);
    Ok((FunctionScope { id, is_inlined, blocks: ids, variables }, inlined))
}

/// Arguments before locals, inner blocks before outer ones.
fn in_order(blocks: Vec<Vec<Variable>>) -> Vec<Variable> {
    let is_argument = |variable: &Variable| variable.kind == VariableKind::Argument;
    let all = blocks.into_iter().rev().flatten();
    let (mut variables, locals): (Vec<_>, Vec<_>) = all.partition(is_argument);
    variables.extend(locals);
    variables
}

/// What lies right below a function or block, as far as it holds an address.
#[derive(Default)]
struct Below<'a> {
    variables: Vec<DieEntry<'a>>,
    block: Option<DieEntry<'a>>,
    inlined: Option<DieEntry<'a>>,
}

impl<'a> Below<'a> {
    fn of(scope: &DieEntry<'a>, pc: Svma) -> Result<Self> {
        let mut below = Self::default();
        below.add(scope, pc, MAX_TRANSPARENT)?;
        Ok(below)
    }

    fn add(&mut self, scope: &DieEntry<'a>, pc: Svma, depth: usize) -> Result<()> {
        let mut transparent = Vec::new();
        scope.children(|child| {
            match child.tag() {
                constants::DW_TAG_lexical_block if !has_code(&child) => transparent.push(child),
                constants::DW_TAG_lexical_block => take(&mut self.block, child, pc)?,
                constants::DW_TAG_inlined_subroutine => take(&mut self.inlined, child, pc)?,
                constants::DW_TAG_GNU_formal_parameter_pack => transparent.push(child),
                _ if instance::is_variable(&child) => instance::add(&mut self.variables, child),
                _ => {}
            }
            Ok(())
        })?;
        let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
        transparent.iter().try_for_each(|child| self.add(child, pc, depth))
    }
}

/// Keeps an entry if it is the first that holds an address.
fn take<'a>(slot: &mut Option<DieEntry<'a>>, entry: DieEntry<'a>, pc: Svma) -> Result<()> {
    if slot.is_none() && holds(&entry, pc)? {
        *slot = Some(entry);
    }
    Ok(())
}

/// Blocks without addresses of their own that lie within one another, at most.
const MAX_TRANSPARENT: usize = 16;

/// Whether an entry says which addresses it has. A block that does not is as if it were not there.
fn has_code(entry: &DieEntry<'_>) -> bool {
    [constants::DW_AT_low_pc, constants::DW_AT_ranges]
        .into_iter()
        .any(|name| entry.value(name).is_some())
}

fn holds(entry: &DieEntry<'_>, pc: Svma) -> Result<bool> {
    let Some(units) = entry.info().files().units(entry.id().which) else { return Ok(false) };
    let unit = &entry.unit().unit;
    let mut pcs = PcRanges::default();
    for attribute in entry.attributes() {
        pcs.take(&units.file, unit, attribute)?;
    }
    pcs.contain(&units.file, unit, pc.get())
}
