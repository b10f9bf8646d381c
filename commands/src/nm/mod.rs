//! `::nm` — the symbols of the modules.

mod externs;
mod record;
mod row;
mod select;

use std::sync::Arc;

use kcore::{Module, SymbolSource};
use kcore_dcmd::{AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Opt, Result, Spec};

pub use self::externs::Externs;
use self::record::{Base, Columns, SymbolRecord};
use self::row::Row;
use self::select::Selection;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'D', value: None, help: "show the dynamic symbol table instead of .symtab" },
    Opt { flag: 'P', value: None, help: "show the private symbol table" },
    Opt { flag: 'd', value: None, help: "show values and sizes in decimal" },
    Opt { flag: 'g', value: None, help: "show only global symbols" },
    Opt { flag: 'h', value: None, help: "omit the header" },
    Opt { flag: 'n', value: None, help: "sort by name" },
    Opt { flag: 'o', value: None, help: "show values and sizes in octal" },
    Opt { flag: 'p', value: None, help: "print ::nmadd commands that you can read back" },
    Opt { flag: 'u', value: None, help: "show only undefined symbols" },
    Opt { flag: 'v', value: None, help: "sort by value" },
    Opt { flag: 'x', value: None, help: "show values and sizes in hexadecimal" },
    Opt {
        flag: 'f',
        value: Some("fields"),
        help: "columns, separated by commas: ndx, val, sz, type, bind, oth, shndx, obj, ctype, ctfid, name",
    },
    Opt {
        flag: 't',
        value: Some("types"),
        help: "types, separated by commas: noty, objt, func, sect, file, comm, tls, regi",
    },
];

const EXAMPLES: &[Example] = &[
    Example { line: "::nm -t func a.out", shows: "functions of the executable" },
    Example { line: "main::nm", shows: "the symbol at an address" },
    Example { line: "::nm -D -g -n -f val,obj,name", shows: "exported names, sorted" },
];

/// Lists symbols, or the one at an address.
pub struct Nm;

impl Dcmd for Nm {
    fn spec(&self) -> Spec {
        Spec::new("nm", Group::Symbols, "list the symbols of the objects")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .operands("[object]", 0, 1)
            .help(
                "Lists all symbols of all objects, or of one object, in the order of their \
                 tables. Values are addresses in the process. The values of thread-local, \
                 absolute and undefined symbols are those in the file. For an object without \
                 .symtab, ::nm lists its dynamic symbols.\n\n\
                 With an address, shows the one symbol that covers it, or else the closest one. \
                 Private symbols, which ::nmadd made, come first. -p leaves out symbols whose \
                 names you cannot type. The types of symbols are not known: ctype says so, and \
                 ctfid is empty.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let mut printer = Printer::new(cx, args)?;
        if args.has('P') {
            return list_private(cx, args, &mut printer);
        }
        if let Some(dot) = cx.addr() {
            let private = Arc::clone(cx.shell().private_symbols());
            if let Some(symbol) = private.at(dot.addr()) {
                return printer.emit(cx, Row::private(0, symbol));
            }
            let (module, symbol) = select::closest(cx.core(), dot.addr())?;
            return printer.emit(cx, Row::of(module, &symbol));
        }
        let modules = select::modules(cx.core(), args.first().map(Arg::to_text).as_deref())?;
        let selection = Selection::new(args)?;
        match (args.has('n'), args.has('v')) {
            (false, false) => list(cx, &modules, &selection, &mut printer),
            (by_name, _) => list_sorted(cx, &modules, &selection, &mut printer, by_name),
        }
    }
}

/// The private symbols that the options pick, by name; with -v by value.
fn list_private(cx: &mut Cx<'_>, args: &Args, printer: &mut Printer) -> Result<()> {
    if cx.addr().is_some() || args.first().is_some() {
        return Err(DcmdError::usage("-P takes no address and no object"));
    }
    let selection = Selection::new(args)?;
    let private = Arc::clone(cx.shell().private_symbols());
    let mut symbols: Vec<_> = (1..).zip(private.iter()).collect();
    symbols.retain(|(_, symbol)| selection.wants_private(symbol));
    if args.has('v') {
        symbols.sort_by_key(|(_, symbol)| symbol.value);
    }
    symbols
        .into_iter()
        .try_for_each(|(index, symbol)| printer.emit(cx, Row::private(index, symbol)))
}

fn list(
    cx: &mut Cx<'_>,
    modules: &[&Module],
    selection: &Selection,
    printer: &mut Printer,
) -> Result<()> {
    for module in modules {
        let source = selection.source_of(module);
        for symbol in module.symbols().table().iter() {
            cx.check_interrupt()?;
            if selection.wants(source, &symbol) {
                printer.emit(cx, Row::of(module, &symbol))?;
            }
        }
    }
    Ok(())
}

fn list_sorted(
    cx: &mut Cx<'_>,
    modules: &[&Module],
    selection: &Selection,
    printer: &mut Printer,
    by_name: bool,
) -> Result<()> {
    let mut symbols = Vec::new();
    for module in modules {
        cx.check_interrupt()?;
        let source = selection.source_of(module);
        let table = module.symbols().table().iter();
        let wanted = table.filter(|symbol| selection.wants(source, symbol));
        symbols.extend(wanted.map(|symbol| (*module, symbol)));
    }
    if by_name {
        symbols.sort_by_cached_key(|(_, symbol)| kcore::demangle(symbol.name()).whole());
    } else {
        symbols.sort_by_cached_key(|(module, symbol)| row::value_of(module, symbol));
    }
    symbols.iter().try_for_each(|(module, symbol)| printer.emit(cx, Row::of(module, symbol)))
}

/// Emits symbols, the header before the first.
struct Printer {
    columns: Columns,
    base: Base,
    commands: bool,
    header: bool,
}

impl Printer {
    fn new(cx: &Cx<'_>, args: &Args) -> Result<Self> {
        let commands = args.has('p');
        Ok(Self {
            columns: Columns::new(args)?,
            base: Base::new(cx, args)?,
            commands,
            header: !args.has('h') && !commands && cx.input().first,
        })
    }

    fn emit(&mut self, cx: &mut Cx<'_>, row: Row<'_>) -> Result<()> {
        let header = std::mem::take(&mut self.header);
        cx.emit(&SymbolRecord {
            row,
            columns: self.columns,
            base: self.base,
            commands: self.commands,
            header,
        })
    }
}

/// Whether the table that a symbol was read from is the dynamic one, of the file or of memory.
const fn is_dynamic(source: SymbolSource) -> bool {
    matches!(source, SymbolSource::Dynamic | SymbolSource::Memory)
}

/// Whether the table that a symbol was read from has all functions.
const fn is_full(source: SymbolSource) -> bool {
    matches!(source, SymbolSource::Full | SymbolSource::GoTable)
}
