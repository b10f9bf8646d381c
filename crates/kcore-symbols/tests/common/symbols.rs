//! Symbols of programs that tests compile.

use kcore_mem::Svma;
use kcore_symbols::SymbolTable;

/// Where a symbol lies.
pub fn value_of(table: &SymbolTable, name: &str) -> Svma {
    table.lookup(name).unwrap_or_else(|| panic!("no symbol {name}")).value()
}
