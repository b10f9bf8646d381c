//! What an instance of a function or block has, joined with what its abstract instance has: that one
//! knows names, types, order, and the variables of which nothing is left.

use std::sync::Arc;

use gimli::constants;
use kcore_mem::Svma;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Variable, variable::Chain};
use crate::{DebugInfo, DieId, dwarf::Result, types::DieEntry};

/// Variables of one function or block.
const MAX_VARIABLES: usize = 1 << 14;

/// Whether an entry is a variable, or a constant with a name: those of Fortran have entries of their own.
pub fn is_variable(entry: &DieEntry<'_>) -> bool {
    matches!(
        entry.tag(),
        constants::DW_TAG_formal_parameter
            | constants::DW_TAG_variable
            | constants::DW_TAG_constant
    )
}

/// A function or block, with the variables right in it.
pub struct Block<'a> {
    scope: DieEntry<'a>,
    own: Vec<Chain<'a>>,
}

impl<'a> Block<'a> {
    /// Of a scope, whose variables are `own`.
    pub fn of(scope: DieEntry<'a>, own: Vec<DieEntry<'a>>) -> Result<Self> {
        Ok(Self { scope, own: own.into_iter().map(Chain::of).collect::<Result<_>>()? })
    }

    /// Where it is, and the abstract instance that it is one of.
    pub fn ids(&self, info: &DebugInfo) -> Result<impl Iterator<Item = DieId> + use<>> {
        let abstract_one = abstract_instance(info, &self.scope)?;
        Ok([Some(self.scope.id()), abstract_one].into_iter().flatten())
    }

    /// Its variables: those of the abstract instance in its order, each as the block itself says where
    /// it does; then those that only the block has. What blocks have that are not abstract ones (`taken`)
    /// is left to them: gcc puts a block of its own around the code of an inlined function, and the
    /// function's variables into that.
    fn variables(self, info: &'a DebugInfo, taken: &FxHashSet<DieId>) -> Result<Vec<Chain<'a>>> {
        let by_id = self.own.iter().enumerate();
        let by_id = by_id.flat_map(|(at, chain)| chain.ids().map(move |id| (id, at)));
        let by_id: FxHashMap<DieId, usize> = by_id.collect();
        let mut own: Vec<Option<Chain<'a>>> = self.own.into_iter().map(Some).collect();
        let mut found = Vec::with_capacity(own.len());
        for entry in abstract_variables(info, &self.scope)? {
            let instance = by_id.get(&entry.id()).and_then(|at| own.get_mut(*at));
            match instance.map(Option::take) {
                Some(instance) => found.extend(instance),
                None if taken.contains(&entry.id()) => {}
                None => found.push(Chain::of(entry)?),
            }
        }
        found.extend(own.into_iter().flatten());
        Ok(found)
    }
}

/// The variables of blocks that lie within one another, block by block.
pub fn variables(
    info: &Arc<DebugInfo>,
    blocks: Vec<Block<'_>>,
    pc: Svma,
) -> Result<Vec<Vec<Variable>>> {
    let ids = blocks.iter().flat_map(|block| &block.own).flat_map(Chain::ids);
    let taken: FxHashSet<DieId> = ids.collect();
    let read = |block: Block<'_>| {
        let found = block.variables(info, &taken)?;
        // What is defined elsewhere, and only declared here, is no variable of the function.
        let defined = found.iter().filter(|chain| !chain.own.flag(constants::DW_AT_declaration));
        defined.map(|chain| chain.variable(info, Some(pc))).collect()
    };
    blocks.into_iter().map(read).collect()
}

/// The variables of what a function or block is an instance of.
fn abstract_variables<'a>(info: &'a DebugInfo, scope: &DieEntry<'a>) -> Result<Vec<DieEntry<'a>>> {
    let mut found = Vec::new();
    let Some(id) = abstract_instance(info, scope)? else { return Ok(found) };
    collect(&scope.beside(info, id)?, &mut found)?;
    Ok(found)
}

/// The last abstract origin: what is compiled in several steps has one of one of them.
fn abstract_instance<'a>(info: &'a DebugInfo, scope: &DieEntry<'a>) -> Result<Option<DieId>> {
    let origin = constants::DW_AT_abstract_origin;
    let Some(first) = scope.reference(origin) else { return Ok(None) };
    let chain = Chain::of(scope.beside(info, first)?)?;
    let last = chain.entries().filter_map(|entry| entry.reference(origin)).last();
    Ok(Some(last.unwrap_or(first)))
}

/// Adds a variable, while there is room.
pub fn add<'a>(found: &mut Vec<DieEntry<'a>>, entry: DieEntry<'a>) {
    if found.len() < MAX_VARIABLES {
        found.push(entry);
    }
}

/// Adds the variables right below an entry. The arguments that a parameter pack stands for lie below it.
fn collect<'a>(scope: &DieEntry<'a>, found: &mut Vec<DieEntry<'a>>) -> Result<()> {
    let mut packs = Vec::new();
    scope.children(|child| {
        if is_variable(&child) {
            add(found, child);
        } else if child.tag() == constants::DW_TAG_GNU_formal_parameter_pack {
            packs.push(child);
        }
        Ok(())
    })?;
    packs.iter().try_for_each(|pack| {
        pack.children(|child| {
            if is_variable(&child) {
                add(found, child);
            }
            Ok(())
        })
    })
}
