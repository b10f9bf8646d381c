//! An address with its symbol, as a cell.

use kcore::{Addr, Core};
use kcore_dcmd::SymbolCell;

/// The symbol that holds `at`.
pub fn symbol_cell(core: &Core, at: Addr) -> SymbolCell<'static> {
    let symbol = core.symbol_at(at);
    let module = symbol.as_ref().filter(|symbol| !symbol.in_exe);
    SymbolCell {
        addr: at,
        module: module.map(|symbol| symbol.module.to_string().into()),
        name: symbol.as_ref().map(|symbol| symbol.name.to_string().into()),
        offset: symbol.as_ref().map_or(0, |symbol| symbol.offset),
    }
}
