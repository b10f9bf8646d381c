//! `::auxv` — the auxiliary vector that the kernel gave the program.

use kcore::{Addr, AuxEntry, aux_name};
use kcore_dcmd::{
    Args, Cell, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    SymbolCell, View,
};

use crate::names::Names;

const COLUMNS: &[Column] = &[
    Column::left("name_or_number", "NAME", 20),
    Column::left("value", "VALUE", 18).spec("#"),
    Column::left("meaning", "MEANING", 40),
];

const EXAMPLES: &[Example] =
    &[Example { line: "::auxv", shows: "every entry, in the kernel's order" }];

/// Lists the auxiliary vector.
pub struct Auxv;

impl Dcmd for Auxv {
    fn spec(&self) -> Spec {
        Spec::new("auxv", Group::Process, "list the auxiliary vector")
            .help(
                "The kernel passes this vector to a program when it starts. It says where the \
                 program lies, and which page size and features the machine has. MEANING is the \
                 text that an entry points to, or the symbol at its address.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        cx.current_thread()?;
        let core = cx.core();
        if core.process().auxv().is_empty() {
            return Err(DcmdError::failed("no auxiliary vector available"));
        }
        let names = Names::new(cx);
        for entry in core.process().auxv() {
            let text = core.process().aux_text(entry);
            let symbol = Some(names.cell(Addr::new(entry.value)));
            let symbol = symbol.filter(|symbol| symbol.name.is_some() && text.is_none());
            cx.emit(&AuxRecord { entry: *entry, text, symbol })?;
        }
        Ok(())
    }
}

struct AuxRecord {
    entry: AuxEntry,
    text: Option<String>,
    symbol: Option<SymbolCell<'static>>,
}

impl AuxRecord {
    fn meaning(&self) -> Cell<'_> {
        match (&self.text, &self.symbol) {
            (Some(text), _) => Cell::text(text),
            (None, Some(symbol)) => Cell::Symbol(symbol.clone()),
            (None, None) => Cell::Null,
        }
    }
}

impl Record for AuxRecord {
    fn kind(&self) -> &'static str {
        "aux"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let name = aux_name(&self.entry);
        out.num("number", self.entry.kind)
            .opt_text("name", name)
            .hex("value", self.entry.value)
            .opt_text("text", self.text.as_deref())
            .put("symbol", Cell::or_null(self.symbol.clone(), Cell::Symbol))
            .display("name_or_number", name.map_or(Cell::Num(self.entry.kind), Cell::text))
            .display("meaning", self.meaning());
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Number(self.entry.value))
    }
}
