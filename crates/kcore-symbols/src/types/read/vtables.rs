//! Which type a table of virtual functions of Rust belongs to. `rustc` describes each table by a
//! variable `<T as Trait>::{vtable}`, whose type names `T` as what contains it.

use gimli::{AttributeValue, DebugAddrIndex, DwOp, Reader as _, constants};
use kcore_mem::Svma;

use super::entry::DieEntry;
use crate::{DebugInfo, DieId, dwarf::is_number};

/// The address of the table that the variable at `id` is, and the type that it belongs to.
pub fn vtable(info: &DebugInfo, id: DieId) -> Option<(Svma, DieId)> {
    let variable = DieEntry::read(info, id).ok()?;
    let table = DieEntry::read(info, variable.reference(constants::DW_AT_type)?).ok()?;
    let of = table.reference(constants::DW_AT_containing_type)?;
    Some((fixed_address(&variable)?, of))
}

/// Where a variable lies whose location is one address.
fn fixed_address(variable: &DieEntry<'_>) -> Option<Svma> {
    let mut bytes = match variable.value(constants::DW_AT_location)? {
        AttributeValue::Exprloc(expression) => expression.0,
        AttributeValue::Block(block) => block,
        _ => return None,
    };
    let unit = &variable.unit().unit;
    let address = match DwOp(bytes.read_u8().ok()?) {
        constants::DW_OP_addr => bytes.read_address(unit.header.address_size()).ok()?,
        constants::DW_OP_addrx | constants::DW_OP_GNU_addr_index => {
            let index = usize::try_from(bytes.read_uleb128().ok()?).ok();
            let index = index.filter(|index| is_number(*index))?;
            let units = variable.info().files().units(variable.id().which)?;
            units.file.dwarf.address(unit, DebugAddrIndex(index)).ok()?
        }
        _ => return None,
    };
    bytes.is_empty().then(|| Svma::new(address))
}
