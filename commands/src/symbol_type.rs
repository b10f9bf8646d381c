//! The object that a symbol is, by the address of the symbol.

use kcore::{Addr, Object};
use kcore_dcmd::{Cx, DcmdError, Result};

use crate::names::Names;

/// The object whose symbol begins exactly at an address.
///
/// # Errors
/// When no symbol does, or nobody knows its type.
pub fn at(cx: &Cx<'_>, at: Addr) -> Result<Object> {
    let spelled = || Names::new(cx).spelled_or_address(at);
    let core = cx.core();
    let symbol = core.symbol_at(at).filter(|symbol| symbol.offset == 0).ok_or_else(|| {
        let reason = "no symbol corresponds to address";
        DcmdError::at(at, format!("no symbol information for {}: {reason}", spelled()))
    })?;
    let found = core.find_variable(cx.shell().current_thread(), Some(&symbol.module), &symbol.name);
    let object = found.ok().and_then(|found| found.object().ok());
    object.filter(|object| object.address() == Some(at)).ok_or_else(|| {
        let has_types = core.modules().at(at).is_some_and(|it| it.symbols().debug_info().is_some());
        let reason = match has_types {
            true => "no type found corresponding to name",
            false => "no symbolic debug information available for module",
        };
        DcmdError::at(at, format!("no type data available for {}: {reason}", spelled()))
    })
}
