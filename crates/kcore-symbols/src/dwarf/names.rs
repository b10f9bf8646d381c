//! The name of a function: its own, or that of the entry which it is an instance of, in this unit,
//! in another one, or in the supplementary file.

use std::sync::Arc;

use gimli::{Attribute, AttributeValue, Error, Reader as _, constants};

use super::{
    Reader, Result, UnitOffset,
    files::{Files, Which},
    unit::Unit,
    walk::Walk,
};

/// References that are followed to a name: an instance, its abstract origin, its declaration, and
/// hostile ones.
const MAX_REFERENCES: usize = 16;

/// What an entry says of its name.
#[derive(Clone, Default)]
pub struct NameAttributes {
    linkage: Option<AttributeValue<Reader>>,
    plain: Option<AttributeValue<Reader>>,
    origin: Option<AttributeValue<Reader>>,
}

impl NameAttributes {
    /// Takes note of an attribute if it is one of names.
    pub fn take(&mut self, attribute: &Attribute<Reader>) {
        match attribute.name() {
            constants::DW_AT_linkage_name | constants::DW_AT_MIPS_linkage_name => {
                self.linkage = Some(attribute.value());
            }
            constants::DW_AT_name => self.plain = Some(attribute.value()),
            constants::DW_AT_abstract_origin | constants::DW_AT_specification => {
                self.origin = Some(attribute.value());
            }
            _ => {}
        }
    }

    /// The names of the entry at `entry`.
    fn read(unit: &Unit, entry: UnitOffset) -> Result<Self> {
        let mut names = Self::default();
        let mut walk = Walk::new(&unit.unit, Some(entry))?;
        let found = walk.next(-1)?.ok_or(Error::NoEntryAtGivenOffset(entry.0 as u64))?;
        walk.attributes(&found, |attribute| {
            names.take(attribute);
            Ok(())
        })?;
        Ok(names)
    }
}

/// The name of an entry of a unit of that file: its linkage name, else its plain name, else that of its origin.
pub fn name(
    files: &Files,
    mut which: Which,
    unit: &Arc<Unit>,
    mut names: NameAttributes,
) -> Result<Option<String>> {
    let mut unit = Arc::clone(unit);
    for _ in 0..MAX_REFERENCES {
        let own = [names.linkage.take(), names.plain.take()];
        let text = own.into_iter().flatten().find_map(|value| files.string(which, &unit, value));
        if let Some(text) = text {
            return Ok(Some(text.to_string_lossy()?.into_owned()).filter(|name| !name.is_empty()));
        }
        let Some(origin) = names.origin.take() else { return Ok(None) };
        let Some((file, there, entry)) = follow(files, which, &unit, &origin)? else {
            return Ok(None);
        };
        names = NameAttributes::read(&there, entry)?;
        (which, unit) = (file, there);
    }
    Ok(None)
}

/// The entry that an attribute of `unit` refers to.
fn follow(
    files: &Files,
    which: Which,
    unit: &Arc<Unit>,
    reference: &AttributeValue<Reader>,
) -> Result<Option<(Which, Arc<Unit>, UnitOffset)>> {
    let Some((file, offset)) = files.reference(which, unit, reference) else { return Ok(None) };
    if files.units(file).is_none() {
        return Ok(None);
    }
    let (there, entry) = files.place(file, offset)?;
    Ok(Some((file, there, entry)))
}
