//! Which symbols `::nm` shows.

use kcore::{Addr, Core, Module, SymbolBinding, SymbolKind, SymbolRef};
use kcore_dcmd::{Arg, Args, DcmdError, PrivateSymbol, Result};

use super::{is_dynamic, is_full};

/// Names of types, as `-t` and the column have them.
const TYPES: &[(&str, &str)] = &[
    ("noty", "NOTY"),
    ("objt", "OBJT"),
    ("func", "FUNC"),
    ("sect", "SECT"),
    ("file", "FILE"),
    ("comm", "COMM"),
    ("tls", "TLS"),
    ("regi", "REGI"),
];

/// The name of a symbol's type.
pub const fn type_name(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::NoType => "NOTY",
        SymbolKind::Object => "OBJT",
        SymbolKind::Function | SymbolKind::IndirectFunction => "FUNC",
        SymbolKind::Section => "SECT",
        SymbolKind::File => "FILE",
        SymbolKind::Common => "COMM",
        SymbolKind::Tls => "TLS",
        SymbolKind::Other(_) => "?",
    }
}

/// The name of a symbol's binding.
pub const fn binding_name(binding: SymbolBinding) -> &'static str {
    match binding {
        SymbolBinding::Local => "LOCL",
        SymbolBinding::Global => "GLOB",
        SymbolBinding::Weak => "WEAK",
        SymbolBinding::Other(_) => "?",
    }
}

/// Which table is shown of a module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Full,
    Dynamic,
}

/// What the options pick.
pub struct Selection {
    dynamic: bool,
    globals: bool,
    undefined: bool,
    types: Option<Vec<&'static str>>,
}

impl Selection {
    /// Reads `-D`, `-g`, `-u` and `-t`.
    ///
    /// # Errors
    /// If `-t` names an unknown type.
    pub fn new(args: &Args) -> Result<Self> {
        Ok(Self {
            dynamic: args.has('D'),
            globals: args.has('g'),
            undefined: args.has('u'),
            types: args.value('t').map(types).transpose()?,
        })
    }

    /// Global functions and variables.
    pub fn externs() -> Self {
        let types = Some(vec!["FUNC", "OBJT"]);
        Self { dynamic: false, globals: true, undefined: false, types }
    }

    /// The table of `module` that is shown. A stripped module has at least its dynamic one, or what Go's runtime knows.
    pub fn source_of(&self, module: &Module) -> Source {
        let full = |symbol: SymbolRef<'_>| is_full(symbol.source());
        let stripped = || !module.symbols().table().iter().any(full);
        if self.dynamic || stripped() { Source::Dynamic } else { Source::Full }
    }

    /// Whether a symbol is shown. Entry 0 of a table is not a symbol.
    pub fn wants(&self, source: Source, symbol: &SymbolRef<'_>) -> bool {
        let in_table = match source {
            Source::Full => is_full(symbol.source()),
            Source::Dynamic => is_dynamic(symbol.source()),
        };
        let name = type_name(symbol.kind());
        in_table
            && symbol.index() > 0
            && (!self.globals || symbol.binding() == SymbolBinding::Global)
            && (!self.undefined || !symbol.is_defined())
            && self.types.as_ref().is_none_or(|types| types.contains(&name))
    }

    /// Whether a symbol of the user is shown: it is defined, and global.
    pub fn wants_private(&self, symbol: &PrivateSymbol) -> bool {
        let name = type_name(symbol.kind);
        !self.undefined && self.types.as_ref().is_none_or(|types| types.contains(&name))
    }
}

fn types(word: &Arg) -> Result<Vec<&'static str>> {
    let text = word.to_text();
    let find = |word: &str| {
        let found = TYPES.iter().find(|(name, _)| *name == word).map(|(_, column)| *column);
        found.ok_or_else(|| DcmdError::usage(format!("invalid symbol type -- '{word}'")))
    };
    text.split(',').map(find).collect()
}

/// The modules of a name, or all.
pub fn modules<'c>(core: &'c Core, name: Option<&str>) -> Result<Vec<&'c Module>> {
    let Some(name) = name else { return Ok(core.modules().all().iter().collect()) };
    let modules: Vec<_> = core.modules().named(name).collect();
    if modules.is_empty() {
        return Err(DcmdError::failed(format!(
            "failed to get symbols: unknown object file name '{name}'"
        )));
    }
    Ok(modules)
}

/// The symbol that covers `at`, or the closest one.
pub fn closest(core: &Core, at: Addr) -> Result<(&Module, SymbolRef<'_>)> {
    let found = core.modules().at(at).and_then(|module| {
        let svma = module.svma(at)?;
        let table = module.symbols().table();
        Some((module, table.find(svma).or_else(|| table.find_nearest(svma))?))
    });
    found.ok_or_else(|| {
        let message = format!("no symbol information for {at:x}: no symbol corresponds to address");
        DcmdError::at(at, message)
    })
}
