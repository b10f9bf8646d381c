//! Types of Go by their descriptors, by which running programs know them: Go writes for each type where
//! in the section of types its descriptor lies (`DW_AT_go_runtime_type`, 0x2904, `cmd/internal/dwarf`).

use std::sync::Arc;

use gimli::{AttributeValue, DwAt};
use kcore_parallel::prelude::*;
use rustc_hash::FxHashMap;

use crate::{
    DebugInfo, DieId, Language, Type,
    dwarf::{Entry, Files, Reader, Result, Unit, Walk, Which, sibling},
};

/// `DW_AT_go_runtime_type`.
const GO_RUNTIME_TYPE: DwAt = DwAt(0x2904);

/// What Go's runtime calls the types of a module.
#[derive(Default)]
pub struct RuntimeTypes {
    /// Descriptors, by their offsets.
    descriptors: FxHashMap<u64, DieId>,
}

impl RuntimeTypes {
    fn scan(files: &Files) -> Self {
        let (starts, _) = files.main.starts();
        let found: Vec<Self> =
            starts.par_iter().map(|start| Self::of_unit(files, *start)).collect();
        found.into_iter().fold(Self::default(), |mut all, unit| {
            all.descriptors.extend(unit.descriptors);
            all
        })
    }

    /// What one unit has, as far as it is not damaged.
    fn of_unit(files: &Files, start: usize) -> Self {
        let mut found = Self::default();
        if files.main.file.budget.halt().is_some() {
            return found;
        }
        let Ok(unit) = Unit::open(&files.main.file, start) else { return found };
        if unit.language == Some(Language::Go) {
            let _ = found.walk(&unit);
        }
        found
    }

    /// Looks at the entries right below the root.
    fn walk(&mut self, unit: &Unit) -> Result<()> {
        let mut walk = Walk::new(unit, None)?;
        while let Some(entry) = walk.next(-1)? {
            if entry.depth == 0 {
                walk.pass(&entry)?;
                continue;
            }
            if !has_descriptor(&entry) {
                walk.pass_tree(&entry)?;
                continue;
            }
            let (mut next, mut descriptor) = (None, None);
            walk.attributes(&entry, |attribute| {
                next = next.or_else(|| sibling(attribute));
                if attribute.name() == GO_RUNTIME_TYPE {
                    descriptor = Some(attribute.value());
                }
                Ok(())
            })?;
            let offset = unit.start.saturating_add(entry.offset.0);
            self.take(DieId { which: Which::Main, offset }, descriptor);
            walk.pass_children(&entry, next)?;
        }
        Ok(())
    }

    fn take(&mut self, id: DieId, descriptor: Option<AttributeValue<Reader>>) {
        // An offset, whatever its form says.
        let offset = match descriptor {
            Some(AttributeValue::Addr(offset)) => Some(offset),
            other => other.and_then(|value| value.udata_value()),
        };
        if let Some(offset) = offset.filter(|offset| *offset > 0) {
            self.descriptors.entry(offset).or_insert(id);
        }
    }
}

fn has_descriptor(entry: &Entry<'_>) -> bool {
    entry.shape.attributes().iter().any(|form| form.name() == GO_RUNTIME_TYPE)
}

impl DebugInfo {
    /// The type of Go whose descriptor lies so many bytes behind the first one.
    pub fn type_of_descriptor(self: &Arc<Self>, offset: u64) -> Option<Type> {
        self.type_at(*self.runtime_types().descriptors.get(&offset)?).ok()
    }

    fn runtime_types(&self) -> &RuntimeTypes {
        self.runtime_types.get_or_build(self.budget(), || RuntimeTypes::scan(self.files()))
    }
}
