//! What a name means in the code of a function. The blocks of the function count first, then the namespaces and
//! classes around it, then its unit.

use std::{collections::VecDeque, sync::Arc};

use rustc_hash::FxHashSet;

use crate::{
    DebugInfo, DieId, FoundEnumerator, FunctionScope, Type,
    by_name::is_called,
    dwarf::{Unit, UnitName, UnitNameKind, UnitOffset, Which},
    index::{Fit, IndexQuery, What, is_type, name_hash},
    types,
};

/// Units that a unit imports, directly or through others, at most.
const MAX_UNITS: usize = 1 << 12;

/// A unit: in which file, and the unit itself.
type PlacedUnit = (Which, Arc<Unit>);

impl DebugInfo {
    /// The types that a name means in the code of `functions`, the innermost first, as [`crate::Scopes`] has
    /// them: those of the innermost block that has any, else those that the unit of the first function
    /// defines, in the namespace or class that is nearest to it. Declarations do not count.
    pub fn types_seen_from(self: &Arc<Self>, functions: &[FunctionScope], name: &str) -> Vec<Type> {
        let sought = IndexQuery::types(name);
        let fits = |ty: &Type| {
            !ty.node().is_declaration && sought.keyword().is_none_or(|word| is_called(ty, word))
        };
        let types = |ids: Vec<DieId>| -> Vec<Type> {
            ids.into_iter().filter_map(|id| self.type_at(id).ok()).filter(fits).collect()
        };
        let blocks = functions.iter().flat_map(|function| &function.blocks);
        let mut in_blocks =
            blocks.map(|block| types(self.in_block(*block, &sought, UnitNameKind::Type)));
        in_blocks.find(|found| !found.is_empty()).unwrap_or_else(|| {
            let unit = functions
                .first()
                .map(|function| self.in_units(function, &sought, UnitNameKind::Type));
            types(unit.unwrap_or_default())
        })
    }

    /// The variables outside of functions that a name means in the code of a function: those that its unit
    /// defines, in the namespace or class that is nearest to it.
    pub fn variables_seen_from(&self, function: &FunctionScope, name: &str) -> Vec<DieId> {
        self.in_units(function, &IndexQuery::new(name, What::Variable), UnitNameKind::Variable)
    }

    /// The values of enumerations that a name means in the code of `functions`, as [`DebugInfo::types_seen_from`] has
    /// it.
    pub fn enumerators_seen_from(
        self: &Arc<Self>,
        functions: &[FunctionScope],
        name: &str,
    ) -> Vec<FoundEnumerator> {
        let sought = IndexQuery::new(name, What::Enumerator);
        let kind = UnitNameKind::Enumerator;
        let blocks = functions.iter().flat_map(|function| &function.blocks);
        let mut in_blocks = blocks.map(|block| self.in_block(*block, &sought, kind));
        let ids = in_blocks.find(|found| !found.is_empty()).unwrap_or_else(|| {
            let unit = functions.first().map(|function| self.in_units(function, &sought, kind));
            unit.unwrap_or_default()
        });
        ids.into_iter().filter_map(|id| self.enumerator_at(id)).collect()
    }

    /// The variables of this name that lie in a function or in its blocks, with the function's abstract
    /// instance.
    pub fn variables_in_function(&self, function: DieId, name: &str) -> Vec<DieId> {
        let stem = IndexQuery::new(name, What::Variable).stem();
        let origin = types::DieEntry::read(self, function)
            .ok()
            .and_then(|entry| entry.reference(gimli::constants::DW_AT_abstract_origin));
        let functions = [Some(function), origin].into_iter().flatten();
        functions.flat_map(|function| self.below(function, stem, name)).collect()
    }

    fn below(&self, function: DieId, stem: u32, name: &str) -> Vec<DieId> {
        let Ok((unit, offset)) = self.place(function) else { return Vec::new() };
        let Ok(end) = unit.end_of(offset) else { return Vec::new() };
        let names = self.names_of(function.which, &unit, stem, |found| {
            found.kind == UnitNameKind::Variable
                && found.block.is_some_and(|block| (offset..end).contains(&block))
        });
        let is_named = |id: &DieId| {
            let named = types::named(self, *id).ok().flatten();
            named.is_some_and(|named| *named.name == *name)
        };
        names.into_iter().filter(is_named).collect()
    }

    fn in_block(&self, block: DieId, sought: &IndexQuery<'_>, kind: UnitNameKind) -> Vec<DieId> {
        let Ok((unit, offset)) = self.place(block) else { return Vec::new() };
        let is_here = |found: &UnitName| found.kind == kind && found.block == Some(offset);
        let mut ids = self.names_of(block.which, &unit, sought.stem(), is_here);
        ids.retain(|id| self.fit(*id, sought).is_some());
        ids
    }

    /// What the units of a function define outside of functions. The nearest scope that has the name counts.
    fn in_units(
        &self,
        function: &FunctionScope,
        sought: &IndexQuery<'_>,
        kind: UnitNameKind,
    ) -> Vec<DieId> {
        let units = self.units_of(function);
        let here = |found: &UnitName| found.block.is_none() && found.kind == kind;
        let in_unit = |(which, unit): &PlacedUnit| self.names_of(*which, unit, sought.stem(), here);
        let ids: Vec<DieId> = units.iter().flat_map(in_unit).collect();
        if ids.is_empty() {
            return ids;
        }
        let mut scope = self.scope_of(function.blocks.last().copied().unwrap_or(function.id));
        scope.retain(|name| !name.starts_with('('));
        loop {
            let within = sought.within(&scope);
            let is_meant = |id: &&DieId| self.fit(**id, &within) == Some(Fit::Exact);
            let found: Vec<DieId> = ids.iter().filter(is_meant).copied().collect();
            if !found.is_empty() || scope.pop().is_none() {
                return found;
            }
        }
    }

    fn fit(&self, id: DieId, sought: &IndexQuery<'_>) -> Option<Fit> {
        sought.fit_of(&types::named(self, id).ok()??)
    }

    /// The unit of a function, that of its abstract instance, and those that they import.
    fn units_of(&self, function: &FunctionScope) -> Vec<PlacedUnit> {
        let mut seen = FxHashSet::default();
        let mut next: VecDeque<(Which, usize)> =
            function.blocks.iter().map(|block| (block.which, block.offset)).collect();
        let mut units = Vec::new();
        while let Some((which, offset)) = next.pop_front() {
            let Ok((unit, _)) = self.files().place(which, offset) else { continue };
            if units.len() >= MAX_UNITS || !seen.insert((which, unit.start)) {
                continue;
            }
            if let Ok(names) = unit.names(self.files(), which, stem_of, is_type) {
                next.extend(&names.imports);
            }
            units.push((which, unit));
        }
        units
    }

    fn names_of(
        &self,
        which: Which,
        unit: &Unit,
        stem: u32,
        wanted: impl Fn(&UnitName) -> bool,
    ) -> Vec<DieId> {
        let id = |entry: UnitOffset| DieId { which, offset: unit.start.saturating_add(entry.0) };
        let Ok(names) = unit.names(self.files(), which, stem_of, is_type) else {
            return Vec::new();
        };
        names.with_stem(stem).filter(wanted).map(|found| id(found.entry)).collect()
    }
}

fn stem_of(name: &[u8]) -> u32 {
    name_hash(name).stem
}
