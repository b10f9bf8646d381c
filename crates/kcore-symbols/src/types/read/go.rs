//! What Go says of its types besides (`cmd/internal/dwarf/dwarf_defs.go` of Go 1.22, `DW_AT_go_*`).

use gimli::{AttributeValue, DwAt, Reader as _, constants};
use kcore_mem::Svma;

use super::{super::model::TypeLink, entry::DieEntry};
use crate::{DebugInfo, DieId, dwarf::Result};

const KIND: DwAt = DwAt(0x2900);
const KEY: DwAt = DwAt(0x2901);
const ELEMENT: DwAt = DwAt(0x2902);
const EMBEDDED_FIELD: DwAt = DwAt(0x2903);
const RUNTIME_TYPE: DwAt = DwAt(0x2904);

/// What Go says of a type besides what other languages say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoType {
    /// Its `reflect.Kind`: 25 is a structure, 23 a slice, 21 a map.
    pub kind: Option<u8>,
    /// The keys of a map.
    pub key: Option<TypeLink>,
    /// The elements of a channel, a map or a slice.
    pub element: Option<TypeLink>,
    /// Its `runtime._type`, where it lies in the file if nothing was moved: Go states an offset from the
    /// beginning of its types since 1.17 in some kinds of files.
    pub runtime_type: Option<Svma>,
    /// Which members are embedded, in order.
    pub embedded: Vec<bool>,
}

/// What the entry at `id` says.
pub fn read(info: &DebugInfo, id: DieId) -> Result<GoType> {
    let entry = DieEntry::read(info, id)?;
    let mut embedded = Vec::new();
    entry.children(|child| {
        if child.tag() == constants::DW_TAG_member {
            embedded.push(child.flag(EMBEDDED_FIELD));
        }
        Ok(())
    })?;
    Ok(GoType {
        kind: entry.number(KIND).and_then(|kind| u8::try_from(kind).ok()),
        key: entry.reference(KEY).map(TypeLink::Die),
        element: entry.reference(ELEMENT).map(TypeLink::Die),
        runtime_type: runtime_type(&entry),
        embedded,
    })
}

fn runtime_type(entry: &DieEntry<'_>) -> Option<Svma> {
    let address = match entry.value(RUNTIME_TYPE)? {
        AttributeValue::Addr(address) => address,
        AttributeValue::Block(mut block) => {
            block.read_address(entry.unit().unit.header.address_size()).ok()?
        }
        _ => entry.number(RUNTIME_TYPE)?,
    };
    (address != 0).then(|| Svma::new(address))
}
