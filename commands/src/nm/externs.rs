//! `$e` — global functions and variables, and the word that stands at each.

use kcore::{Addr, Module, SymbolRef};
use kcore_dcmd::{Args, Cx, Dcmd, Dot, Example, Fields, Group, Record, Result, Spec, View};

use super::select::Selection;
use crate::symbol_address::address_of;

/// Lists global functions and variables with their first words.
pub struct Externs;

impl Dcmd for Externs {
    fn spec(&self) -> Spec {
        Spec::new("$e", Group::Symbols, "list global symbols and the word at each")
            .help(
                "Shows every global function and variable of every object as name(ADDRESS): and \
                 the word there, of the size of a pointer. `?` stands for a word that cannot be \
                 read.",
            )
            .examples(&[Example { line: "$e ! grep environ", shows: "a variable and its value" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let selection = Selection::externs();
        for module in core.modules().in_scope_order() {
            let source = selection.source_of(module);
            for symbol in module.symbols().table().iter() {
                cx.check_interrupt()?;
                if selection.wants(source, &symbol)
                    && let Some(address) = address_of(module, &symbol)
                {
                    let value = core.space().read_word(address).ok();
                    cx.emit(&ExternRecord { module, symbol, address, value })?;
                }
            }
        }
        Ok(())
    }
}

struct ExternRecord<'s> {
    module: &'s Module,
    symbol: SymbolRef<'s>,
    address: Addr,
    value: Option<u64>,
}

impl Record for ExternRecord<'_> {
    fn kind(&self) -> &'static str {
        "extern"
    }

    fn view(&self) -> View {
        View::Line("{name}({address}):\t{value?{value}}{value^?}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.address)
            .text("object", self.module.name())
            .text("name", kcore::demangle(self.symbol.name()).whole())
            .hex("value", self.value);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.address))
    }
}
