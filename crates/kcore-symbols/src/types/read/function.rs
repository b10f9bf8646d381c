//! Types of functions (DWARF 5, 5.10).

use gimli::constants;

use super::{
    super::model::{FunctionType, TypeKind},
    entry::DieEntry,
};
use crate::dwarf::Result;

/// Reads the type of a function.
pub fn read(entry: &DieEntry<'_>) -> Result<TypeKind> {
    let mut function =
        FunctionType { returns: entry.type_link(), parameters: Vec::new(), is_variadic: false };
    entry.children(|child| {
        match child.tag() {
            constants::DW_TAG_formal_parameter if !child.flag(constants::DW_AT_artificial) => {
                function.parameters.push(child.type_link());
            }
            constants::DW_TAG_unspecified_parameters => function.is_variadic = true,
            _ => {}
        }
        Ok(())
    })?;
    Ok(TypeKind::Function(function))
}
