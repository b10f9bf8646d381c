//! `::nmadd`, `::nmdel` — private symbols.

use kcore::SymbolKind;
use kcore_dcmd::{
    AddrUse, Arg, Args, Cx, Dcmd, DcmdError, Example, Group, Message, Opt, PrivateSymbol, Result,
    Spec, digits,
};

use crate::operand;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'e', value: Some("end"), help: "the first address after the symbol" },
    Opt { flag: 'f', value: None, help: "the symbol is a function" },
    Opt { flag: 'o', value: None, help: "the symbol is an object" },
    Opt { flag: 's', value: Some("size"), help: "the size of the symbol in bytes" },
];

/// Gives an address a name.
pub struct Nmadd;

/// Removes a name.
pub struct Nmdel;

impl Dcmd for Nmadd {
    fn spec(&self) -> Spec {
        Spec::new("nmadd", Group::Symbols, "add a private symbol")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .operands("name", 1, 1)
            .help(
                "kcore looks for private symbols before those of objects, both by name and by \
                 address. If you add a name again, it gets the new address. ::nm -P lists \
                 private symbols. ::nm -P -p prints them as commands that you can read back.",
            )
            .examples(&[Example {
                line: "<rsp::nmadd -o -s 8 top",
                shows: "the symbol that was added",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let name = args.first().map_or_else(String::new, Arg::to_text);
        check_name(&name)?;
        let symbol = PrivateSymbol {
            name,
            value: cx.dot().addr(),
            size: size(cx, args)?,
            kind: kind(args)?,
        };
        let said = said(cx, "added", &symbol);
        cx.shell_mut().private_symbols_mut().add(symbol);
        cx.emit(&Message(said))
    }
}

impl Dcmd for Nmdel {
    fn spec(&self) -> Spec {
        Spec::new("nmdel", Group::Symbols, "remove a private symbol")
            .operands("name", 1, 1)
            .help("Removes a symbol that ::nmadd made.")
            .examples(&[Example {
                line: "1::nmadd x; ::nmdel x",
                shows: "that the symbol was added and removed",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let name = args.first().map_or_else(String::new, Arg::to_text);
        let removed = cx.shell_mut().private_symbols_mut().remove(&name);
        let symbol = removed.ok_or_else(|| {
            DcmdError::failed(format!("symbol '{name}' not found in private symbol table"))
        })?;
        let said = said(cx, "deleted", &symbol);
        cx.emit(&Message(said))
    }
}

fn said(cx: &Cx<'_>, what: &str, symbol: &PrivateSymbol) -> String {
    let radix = cx.shell().radix();
    let (value, size) = (digits(symbol.value.get(), radix), digits(symbol.size, radix));
    format!("{what} {}, value={value} size={size}", symbol.name)
}

fn kind(args: &Args) -> Result<SymbolKind> {
    match (args.has('f'), args.has('o')) {
        (true, true) => Err(DcmdError::usage("-f and -o exclude each other")),
        (true, false) => Ok(SymbolKind::Function),
        (false, true) => Ok(SymbolKind::Object),
        (false, false) => Ok(SymbolKind::NoType),
    }
}

fn size(cx: &Cx<'_>, args: &Args) -> Result<u64> {
    match (args.value('e'), args.value('s')) {
        (Some(_), Some(_)) => Err(DcmdError::usage("-e and -s exclude each other")),
        (None, Some(size)) => operand::number(cx, size),
        (Some(end), None) => {
            let end = operand::number(cx, end)?;
            let start = cx.dot().number();
            end.checked_sub(start).ok_or_else(|| {
                DcmdError::failed(format!("symbol end {end:x} is below its start {start:x}"))
            })
        }
        (None, None) => Ok(0),
    }
}

/// Whether a name can be typed back.
pub fn can_be_typed(name: &str) -> bool {
    let begins =
        name.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '.'));
    let fits = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    begins && fits && name != "."
}

fn check_name(name: &str) -> Result<()> {
    if can_be_typed(name) {
        return Ok(());
    }
    Err(DcmdError::failed(format!("specified name contains illegal characters: '{name}'")))
}
