//! Walker `symbol`: the address of each function and data symbol of a module.

use kcore_dcmd::{AddrUse, Cx, DcmdError, Dot, Result, Visit, Walker, WalkerSpec};

use crate::symbol_address::address_of;

/// Steps over the symbols of the module that holds the starting address, in the order of its table.
pub struct Symbols;

impl Walker for Symbols {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the symbols of the object that holds an address";
        WalkerSpec { name: "symbol", summary, addr: AddrUse::Required }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let at = from.unwrap_or_default().addr();
        let module = cx.core().modules().at(at).ok_or_else(|| {
            DcmdError::at(at, format!("failed to initialize walk: no object holds address {at:x}"))
        })?;
        for symbol in module.symbols().table().iter() {
            cx.check_interrupt()?;
            if let Some(at) = address_of(module, &symbol) {
                visit(cx, Dot::Addr(at))?;
            }
        }
        Ok(())
    }
}
