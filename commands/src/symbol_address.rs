//! Where a symbol of a file lies in the process.

use kcore::{Addr, Module, SymbolKind, SymbolRef};

/// `SHN_ABS`: the value of the symbol is not an address.
pub const SHN_ABS: u16 = 0xfff1;
/// `SHN_COMMON`: the value of the symbol is an alignment.
pub const SHN_COMMON: u16 = 0xfff2;

/// The address of a symbol; `None` for one that has none: undefined, absolute, thread-local, the
/// name of a source file.
pub fn address_of(module: &Module, symbol: &SymbolRef<'_>) -> Option<Addr> {
    let has_address = symbol.is_defined()
        && ![SHN_ABS, SHN_COMMON].contains(&symbol.section_index())
        && !matches!(symbol.kind(), SymbolKind::Tls | SymbolKind::File);
    has_address.then(|| module.addr(symbol.value()))?
}
