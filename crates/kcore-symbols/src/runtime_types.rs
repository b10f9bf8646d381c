//! Types by what running programs know them by: tables of functions of Rust, and the type descriptors
//! of Go.
//!
//! rustc describes each table as a variable `<Type as Trait>::{vtable}`, whose type has the concrete one
//! as its `DW_AT_containing_type`. Go writes for each type where in the section of types its descriptor
//! lies (`DW_AT_go_runtime_type`, 0x2904, `cmd/internal/dwarf`).

use std::sync::Arc;

use gimli::{AttributeValue, DwAt, Operation, Reader as _, constants};
use kcore_mem::Svma;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{
    DebugInfo, DieId, Language, Type,
    dwarf::{Entry, Files, Reader, Result, Unit, Walk, Which, sibling},
    types::DieEntry,
};

/// `DW_AT_go_runtime_type`.
const GO_RUNTIME_TYPE: DwAt = DwAt(0x2904);

/// How names of tables end.
const TABLE: &[u8] = b"vtable}";

/// What is known of a module's types at run time.
#[derive(Default)]
pub struct RuntimeTypes {
    /// Tables of functions, and the types of the tables.
    tables: FxHashMap<u64, DieId>,
    /// Descriptors, by their offsets.
    descriptors: FxHashMap<u64, DieId>,
}

impl RuntimeTypes {
    fn scan(files: &Files) -> Self {
        let (starts, _) = files.main.starts();
        let found: Vec<Self> =
            starts.par_iter().map(|start| Self::of_unit(files, *start)).collect();
        found.into_iter().fold(Self::default(), |mut all, unit| {
            all.tables.extend(unit.tables);
            all.descriptors.extend(unit.descriptors);
            all
        })
    }

    /// What one unit has, as far as it is not damaged.
    fn of_unit(files: &Files, start: usize) -> Self {
        let mut found = Self::default();
        let Ok(unit) = Unit::open(&files.main.file, start) else { return found };
        let take = match unit.language {
            Some(Language::Rust) => Self::take_table,
            Some(Language::Go) => Self::take_descriptor,
            _ => return found,
        };
        let _ = found.walk(files, &unit, take);
        found
    }

    /// Looks at the entries right below the root.
    fn walk(
        &mut self,
        files: &Files,
        unit: &Unit,
        take: fn(&mut Self, &Files, &Unit, &Said),
    ) -> Result<()> {
        let mut walk = Walk::new(&unit.unit, None)?;
        while let Some(entry) = walk.next(-1)? {
            if entry.depth == 0 {
                walk.pass(&entry)?;
                continue;
            }
            if !may_tell(&entry) {
                walk.pass_tree(&entry)?;
                continue;
            }
            let (mut next, mut attributes) = (None, Vec::new());
            walk.attributes(&entry, |attribute| {
                next = next.or_else(|| sibling(attribute));
                attributes.push((attribute.name(), attribute.value()));
                Ok(())
            })?;
            let offset = unit.start.saturating_add(entry.offset.0);
            let id = DieId { which: Which::Main, offset };
            take(self, files, unit, &Said { id, attributes });
            walk.pass_children(&entry, next)?;
        }
        Ok(())
    }

    fn take_table(&mut self, files: &Files, unit: &Unit, said: &Said) {
        let name = said.value(constants::DW_AT_name);
        let name = name.and_then(|name| files.string(Which::Main, unit, name));
        let is_table =
            name.is_some_and(|name| name.to_slice().is_ok_and(|name| name.ends_with(TABLE)));
        let place = said.value(constants::DW_AT_location).filter(|_| is_table);
        let place = place.and_then(|place| address(files, unit, place));
        let ty = said.value(constants::DW_AT_type);
        let ty = ty.and_then(|ty| files.reference(Which::Main, unit, &ty));
        if let (Some(place), Some((which, offset))) = (place, ty) {
            self.tables.insert(place, DieId { which, offset });
        }
    }

    fn take_descriptor(&mut self, _files: &Files, _unit: &Unit, said: &Said) {
        // An offset, whatever its form says.
        let offset = match said.value(GO_RUNTIME_TYPE) {
            Some(AttributeValue::Addr(offset)) => Some(offset),
            other => other.and_then(|value| value.udata_value()),
        };
        if let Some(offset) = offset.filter(|offset| *offset > 0) {
            self.descriptors.entry(offset).or_insert(said.id);
        }
    }
}

/// What an entry says.
struct Said {
    id: DieId,
    attributes: Vec<(DwAt, AttributeValue<Reader>)>,
}

impl Said {
    fn value(&self, name: DwAt) -> Option<AttributeValue<Reader>> {
        let attribute = self.attributes.iter().find(|(said, _)| *said == name);
        attribute.map(|(_, value)| value.clone())
    }
}

/// Whether an entry may be a table or a type of Go.
fn may_tell(entry: &Entry<'_>) -> bool {
    let has = |name| entry.shape.attributes().iter().any(|form| form.name() == name);
    has(GO_RUNTIME_TYPE)
        || (entry.shape.tag() == constants::DW_TAG_variable && has(constants::DW_AT_location))
}

/// The address that is all of an expression.
fn address(files: &Files, unit: &Unit, place: AttributeValue<Reader>) -> Option<u64> {
    let expression = place.exprloc_value()?;
    let mut operations = expression.operations(unit.unit.encoding());
    match operations.next().ok()?? {
        Operation::Address { address } => Some(address),
        Operation::AddressIndex { index } => files.main.file.dwarf.address(&unit.unit, index).ok(),
        _ => None,
    }
}

impl DebugInfo {
    /// The concrete type whose table of functions, of Rust, begins at an address.
    pub fn type_of_vtable(self: &Arc<Self>, table: Svma) -> Option<Type> {
        let id = *self.runtime_types().tables.get(&table.get())?;
        let entry = DieEntry::read(self, id).ok()?;
        self.type_at(entry.reference(constants::DW_AT_containing_type)?).ok()
    }

    /// The type of Go whose descriptor lies so many bytes behind the first one.
    pub fn type_of_descriptor(self: &Arc<Self>, offset: u64) -> Option<Type> {
        self.type_at(*self.runtime_types().descriptors.get(&offset)?).ok()
    }

    fn runtime_types(&self) -> &RuntimeTypes {
        self.runtime_types.get_or_init(|| RuntimeTypes::scan(self.files()))
    }
}
