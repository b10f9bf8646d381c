//! Pointers and functions: symbols, addresses, and what lies there.

use kcore_dcmd::SymbolCell;
use kcore_mem::Addr;
use kcore_values::{Pointee, Pointer, SymbolName, Value};

use super::{Writer, character};
use crate::sanitize;

impl Writer<'_, '_> {
    /// A pointer, and what it owns where that takes no lines of its own.
    pub(super) fn pointer(&self, value: &Value, pointer: &Pointer) -> String {
        let alone = self.pointer_alone(value, pointer);
        match pointee(pointer) {
            Some(pointee) => format!("{alone} -> {}", self.within_line(pointee)),
            None => alone,
        }
    }

    /// A pointer without what it owns.
    pub(super) fn pointer_alone(&self, value: &Value, pointer: &Pointer) -> String {
        if self.style.plain_pointers {
            let to = pointer.to.map_or(0, Addr::get);
            return if to == 0 { "0".to_owned() } else { format!("{to:#x}") };
        }
        let mut text = match pointer.to {
            None => "<synthetic pointer>".to_owned(),
            to => self.symbol_or_address(pointer.symbol.as_ref(), to),
        };
        let is_caddr = value.ty.unqualified().is_ok_and(|ty| ty.name() == Some("caddr_t"));
        if let Some(characters) = pointer.text.as_ref().filter(|_| !is_caddr) {
            text.push(' ');
            text.push_str(&character::text(characters));
        }
        if let Some(dynamic) = &pointer.dynamic {
            text.push_str(&format!(" ({})", sanitize::line(&dynamic.spelled())));
        }
        if !pointer.counts.is_empty() {
            let counts = pointer.counts.iter().map(|(name, count)| format!("{name} {count}"));
            text.push_str(&format!(" ({})", counts.collect::<Vec<_>>().join(", ")));
        }
        text
    }

    /// A symbol with its offset, or the address in hexadecimal.
    pub(super) fn symbol_or_address(
        &self,
        symbol: Option<&SymbolName>,
        at: Option<Addr>,
    ) -> String {
        let addr = at.unwrap_or_default();
        match symbol.filter(|_| !self.style.plain_pointers) {
            Some(symbol) => spelled(symbol, addr, self.numbers.radix),
            // Unlike an offset, an address has its prefix however small it is.
            None if addr.get() == 0 => "0".to_owned(),
            None => format!("{:#x}", addr.get()),
        }
    }
}

/// ``module`name+0x1e``.
pub(crate) fn spelled(symbol: &SymbolName, addr: Addr, radix: u32) -> String {
    let cell = SymbolCell {
        addr,
        module: symbol.module.as_deref().map(Into::into),
        name: Some((&*symbol.name).into()),
        offset: symbol.offset,
        nearest: false,
    };
    cell.spelled(radix, sanitize::line)
}

/// What is shown of what a pointer owns.
pub(super) fn pointee(pointer: &Pointer) -> Option<&Value> {
    match &pointer.pointee {
        Some(Pointee::Value(value)) => Some(value),
        Some(Pointee::Shown) | None => None,
    }
}
