//! Private symbols: names that a user gives to addresses.

use std::collections::BTreeMap;

use kcore::{Addr, SymbolKind};

/// A name that a user gave to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateSymbol {
    /// The name.
    pub name: String,
    /// Where it begins.
    pub value: Addr,
    /// Bytes that it covers; 0 covers its first byte alone.
    pub size: u64,
    /// Function, object, or neither.
    pub kind: SymbolKind,
}

/// The private symbols of a session, found before those of modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateSymbols {
    by_name: BTreeMap<String, PrivateSymbol>,
}

impl PrivateSymbols {
    /// Adds a symbol; one of the same name gives way.
    pub fn add(&mut self, symbol: PrivateSymbol) {
        self.by_name.insert(symbol.name.clone(), symbol);
    }

    /// Removes the symbol of that name, if there is one, and hands it out.
    pub fn remove(&mut self, name: &str) -> Option<PrivateSymbol> {
        self.by_name.remove(name)
    }

    /// The symbol of that name.
    pub fn get(&self, name: &str) -> Option<&PrivateSymbol> {
        self.by_name.get(name)
    }

    /// The symbol that holds `at`: of several the one that begins last.
    pub fn at(&self, at: Addr) -> Option<&PrivateSymbol> {
        let holds = |symbol: &&PrivateSymbol| {
            at.offset_from(symbol.value).is_some_and(|offset| offset < symbol.size.max(1))
        };
        self.by_name.values().filter(holds).max_by_key(|symbol| symbol.value)
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = &PrivateSymbol> {
        self.by_name.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, value: u64, size: u64) -> PrivateSymbol {
        PrivateSymbol {
            name: name.to_owned(),
            value: Addr::new(value),
            size,
            kind: SymbolKind::NoType,
        }
    }

    #[test]
    fn the_innermost_symbol_holds_an_address() {
        let mut symbols = PrivateSymbols::default();
        symbols.add(symbol("outer", 0x10, 0x20));
        symbols.add(symbol("inner", 0x18, 0));
        let at = |at| symbols.at(Addr::new(at)).map(|symbol| symbol.name.as_str());
        assert_eq!([at(0x0f), at(0x10), at(0x18)], [None, Some("outer"), Some("inner")]);
        assert_eq!([at(0x19), at(0x2f), at(0x30)], [Some("outer"), Some("outer"), None]);
    }

    #[test]
    fn a_name_has_one_meaning() {
        let mut symbols = PrivateSymbols::default();
        symbols.add(symbol("x", 1, 0));
        symbols.add(symbol("x", 2, 0));
        assert_eq!(symbols.iter().count(), 1);
        assert_eq!(symbols.remove("x").map(|symbol| symbol.value), Some(Addr::new(2)));
        assert_eq!(symbols.get("x"), None);
    }
}
