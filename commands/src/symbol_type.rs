//! The object that a symbol is, by the address of the symbol.

use kcore::{Addr, Object};
use kcore_dcmd::{Cx, DcmdError, Result};

use crate::names::Names;

/// The object whose symbol begins exactly at an address.
///
/// # Errors
/// If no symbol does, or its type is not known.
pub fn at(cx: &Cx<'_>, at: Addr) -> Result<Object> {
    let spelled = || Names::new(cx).spelled_or_address(at);
    let core = cx.core();
    if core.symbols().at(at).is_none_or(|symbol| symbol.offset != 0) {
        let reason = "no symbol corresponds to address";
        let message = format!("no symbol information for {}: {reason}", spelled());
        return Err(DcmdError::at(at, message));
    }
    core.variables().at(at).ok_or_else(|| {
        let has_types = core.modules().at(at).is_some_and(|it| it.symbols().debug_info().is_some());
        let reason = match has_types {
            true => "no type found corresponding to name",
            false => "no symbolic debug information available for module",
        };
        DcmdError::at(at, format!("no type data available for {}: {reason}", spelled()))
    })
}
