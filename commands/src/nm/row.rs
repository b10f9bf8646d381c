//! What `::nm` knows about a symbol of a module or of the user.

use std::borrow::Cow;

use kcore::{Addr, Module, SymbolKind, SymbolRef};
use kcore_dcmd::PrivateSymbol;

use super::select::binding_name;
use crate::nmadd::can_be_typed;
use crate::symbol_address::{SHN_ABS, SHN_COMMON, address_of};

/// One symbol.
pub struct Row<'s> {
    /// Index in its table.
    pub index: u64,
    /// Its address, or its bare value where it has none.
    pub value: u64,
    pub address: Option<Addr>,
    pub size: u64,
    pub kind: SymbolKind,
    pub binding: &'static str,
    /// `st_other`.
    pub other: u64,
    pub section: Cow<'static, str>,
    /// The module; `None` for a symbol of the user.
    pub module: Option<&'s Module>,
    /// Its name in the words of its language.
    pub name: String,
    /// Its name as in the file.
    pub linkage_name: Cow<'s, str>,
}

impl<'s> Row<'s> {
    /// A symbol of a module.
    pub fn of(module: &'s Module, symbol: &SymbolRef<'s>) -> Self {
        let address = address_of(module, symbol);
        Self {
            index: u64::from(symbol.index()),
            value: value_of(module, symbol),
            address,
            size: symbol.size(),
            kind: symbol.kind(),
            binding: binding_name(symbol.binding()),
            other: u64::from(symbol.other()),
            section: section(symbol.section_index()),
            module: Some(module),
            name: kcore::demangle(symbol.name()).whole(),
            linkage_name: String::from_utf8_lossy(symbol.versioned_name()),
        }
    }

    /// A symbol of the user. As in MDB, it is global and belongs to no section.
    pub fn private(index: u64, symbol: &'s PrivateSymbol) -> Self {
        Self {
            index,
            value: symbol.value.get(),
            address: Some(symbol.value),
            size: symbol.size,
            kind: symbol.kind,
            binding: "GLOB",
            other: 0,
            section: section(SHN_ABS),
            module: None,
            name: symbol.name.clone(),
            linkage_name: Cow::Borrowed(&symbol.name),
        }
    }

    /// The name, if `::nmadd` accepts it.
    pub fn typed_name(&self) -> Option<&str> {
        let name = self.linkage_name.split('@').next().unwrap_or_default();
        can_be_typed(name).then_some(name)
    }
}

/// The address of a symbol, or its bare value where it has none.
pub fn value_of(module: &Module, symbol: &SymbolRef<'_>) -> u64 {
    address_of(module, symbol).map_or(symbol.value().get(), Addr::get)
}

fn section(index: u16) -> Cow<'static, str> {
    match index {
        0 => Cow::Borrowed("UNDEF"),
        SHN_ABS => Cow::Borrowed("ABS"),
        SHN_COMMON => Cow::Borrowed("COMMON"),
        index => Cow::Owned(index.to_string()),
    }
}
