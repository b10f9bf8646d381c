//! `::findsym` — searches code for references to symbols and addresses.

use kcore::references::SearchedCode;
use kcore::{Addr, AddrRange, Core, Reference, SymbolKind};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result,
    Spec, View,
};

use crate::names::Names;
use crate::operand;

/// Symbols and addresses that are searched for at a time.
const MAX_WANTED: usize = 64;

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'a',
        value: None,
        help: "search the code of all objects, not only of the executable",
    },
    Opt { flag: 'g', value: None, help: "search only functions that other objects can see" },
];

const EXAMPLES: &[Example] = &[
    Example { line: "::findsym main", shows: "which code mentions a function" },
    Example { line: "::findsym -a environ", shows: "which code of all objects uses a variable" },
    Example { line: "main::findsym | ::dis -n 0", shows: "the instructions themselves" },
];

/// Finds the instructions that refer to symbols.
pub struct Findsym;

impl Dcmd for Findsym {
    fn spec(&self) -> Spec {
        Spec::new("findsym", Group::Symbols, "find the code that refers to symbols")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[symbol|address...]", 0, MAX_WANTED)
            .help(
                "Searches all functions of the executable, or of all objects, for instructions \
                 that jump to an address, read or write it, or have it as an operand. Any byte \
                 of a variable counts, and only the first byte of a function. The entries of a \
                 function in procedure linkage tables count too, if another object defines it.\n\n\
                 An address that code computes from registers is not found.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let scope = SearchedCode { all_modules: args.has('a'), globals_only: args.has('g') };
        let wanted = wanted(cx, args)?;
        let references = cx.core().memory().references(wanted, scope);
        let references = references.map_err(|error| DcmdError::failed(error.to_string()))?;
        let names = Names::new(cx);
        let total = references.total();
        for batch in references {
            cx.progress(batch.done as u64, total as u64);
            cx.check_interrupt()?;
            for reference in batch.found {
                cx.emit(&ReferenceRecord { names: &names, reference })?;
            }
        }
        Ok(())
    }
}

/// The addresses that are searched for.
fn wanted(cx: &Cx<'_>, args: &Args) -> Result<Vec<AddrRange>> {
    let core = cx.core();
    let mut wanted: Vec<_> = cx.addr().map(|dot| extent_of(core, dot.addr())).into_iter().collect();
    for word in args.operands() {
        let at = Addr::new(operand::number(cx, word)?);
        wanted.push(extent_of(core, at));
        wanted.extend(linkage_entries(core, &word.to_text()));
    }
    if wanted.is_empty() {
        return Err(DcmdError::usage("expected a symbol or an address"));
    }
    Ok(wanted)
}

/// The whole variable that begins at an address, or else only the address.
fn extent_of(core: &Core, at: Addr) -> AddrRange {
    let module = core.modules().at(at);
    let symbol = module.and_then(|module| module.symbols().table().find(module.svma(at)?));
    let begins = symbol.filter(|symbol| module.and_then(|it| it.addr(symbol.value())) == Some(at));
    let size = begins.filter(|symbol| symbol.kind() == SymbolKind::Object).map(|it| it.size());
    AddrRange::with_len(at, size.unwrap_or(0).max(1))
}

/// The addresses to which modules jump when they call a function of this name, which may follow an object.
fn linkage_entries(core: &Core, word: &str) -> Vec<AddrRange> {
    let name = word.rsplit('`').next().unwrap_or(word);
    let entry = format!("{name}@plt");
    let entries = core.modules().all().iter().filter_map(|module| {
        let symbol = module.symbols().table().lookup(&entry)?;
        Some(AddrRange::with_len(module.addr(symbol.value())?, 1))
    });
    entries.collect()
}

/// One instruction that refers to what was searched for.
struct ReferenceRecord<'c> {
    names: &'c Names<'c>,
    reference: Reference,
}

impl Record for ReferenceRecord<'_> {
    fn kind(&self) -> &'static str {
        "reference"
    }

    fn view(&self) -> View {
        View::Line("found {found} at {location}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let Reference { from, to } = self.reference;
        out.addr("address", from)
            .put("location", Cell::Symbol(self.names.cell(from)))
            .put("found", Cell::Symbol(self.names.cell(to)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.reference.from))
    }
}
