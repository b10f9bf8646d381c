//! What an address of code is called: function, module, file and line, inlined calls.

use std::{fmt, sync::Arc};

use kcore_mem::{Addr, CodeAddr};
use kcore_runtimes::{FrameKind, FramePlace, Generated};
use kcore_symbols::Function;

use crate::{Core, Module, SymbolView};

/// The module of functions that belong to no file, since the process made them while it ran.
const MADE: &str = "[jit]";

/// How far the name of a symbol without a size is taken for that of the code behind it, in bytes. Few functions of
/// assemblers, which often have none, are longer.
const NEAR: u64 = 4 << 10;

/// One function that runs at an address: the function itself, or one that was inlined there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// Its name, demangled, without parameters and module; `None` without a symbol. Of a name of more than 4 KiB
    /// its beginning, and `...`.
    pub function: Option<Arc<str>>,
    /// The name of its module; `None` for code of no module.
    pub module: Option<Arc<str>>,
    /// Whether that module is the executable.
    pub in_exe: bool,
    /// Bytes from the start of the function; `None` for an inlined one.
    pub offset: Option<u64>,
    /// Whether the name is only that of the nearest symbol, see [`SymbolAt::is_only_nearest`].
    pub nearest: bool,
    /// Whether it was inlined into the next location.
    pub inline: bool,
    /// Source file as DWARF gives it, or a runtime; or as a source map has it, see [`Location::generated`].
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// Source language, as in JSON.
    pub language: Option<&'static str>,
    /// Whether machine code of a compiler runs there, or what a runtime runs.
    pub kind: FrameKind,
    /// The index of the instruction among those of the function, in a language of bytecodes.
    pub bytecode: Option<u32>,
    /// How the code is run, in the runtime's word, where that has several ways: `interpreted`, `C2`.
    pub tier: Option<&'static str>,
    /// The runtime's own frame or function object.
    pub object: Option<Addr>,
    /// Why a runtime does not know more of it.
    pub doubt: Option<Arc<str>>,
    /// Where a source map told the place and the name, those in the generated script, which the runtime knows.
    pub generated: Option<Arc<Generated>>,
    /// Why a source map of its script is not used: with one frame of a stack.
    pub map_refused: Option<Arc<str>>,
}

impl Location {
    pub(crate) const fn nowhere() -> Self {
        Self {
            function: None,
            module: None,
            in_exe: false,
            offset: None,
            nearest: false,
            inline: false,
            file: None,
            line: None,
            column: None,
            language: None,
            kind: FrameKind::Native,
            bytecode: None,
            tier: None,
            object: None,
            doubt: None,
            generated: None,
            map_refused: None,
        }
    }
}

impl Location {
    /// The name and place as a runtime knows them, whatever a source map says.
    pub fn place_in_script(&self) -> FramePlace<'_> {
        self.generated.as_ref().map_or_else(|| self.place(), |generated| generated.place())
    }

    /// The name and place in the source that a source map tells of.
    pub fn original_place(&self) -> Option<FramePlace<'_>> {
        self.generated.as_ref().map(|_| self.place())
    }

    fn place(&self) -> FramePlace<'_> {
        let (function, file) = (self.function.as_deref(), self.file.as_deref());
        FramePlace { function, file, line: self.line, column: self.column }
    }
}

impl fmt::Display for Location {
    /// ``module`function+0x10 at file:line``, as far as that is known. Characters of the target are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(module) = self.module.as_deref().filter(|_| !self.in_exe) {
            write!(f, "{}`", module.escape_debug())?;
        }
        match &self.function {
            Some(function) => function.escape_debug().fmt(f)?,
            None => f.write_str("<unknown>")?,
        }
        if let Some(offset) = self.offset.filter(|offset| *offset > 0) {
            write!(f, "+{offset:#x}")?;
        }
        let Some(file) = &self.file else { return Ok(()) };
        write!(f, " at {}", file.escape_debug())?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A symbol that holds an address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SymbolAt {
    /// Its demangled name.
    pub name: Arc<str>,
    /// The name of its module.
    pub module: Arc<str>,
    /// Whether that module is the executable.
    pub in_exe: bool,
    /// Where it begins.
    pub start: Addr,
    /// Bytes that it covers, 0 when unknown: its size, or for code without one those up to the next symbol or the
    /// end of its section.
    pub size: u64,
    /// Whether its table gives a size.
    pub sized: bool,
    /// Bytes from its start to the address.
    pub offset: u64,
}

impl SymbolAt {
    /// Whether it is no more than the nearest symbol before the address: it has no size, and lies more than a page
    /// away. What lies there may well be code without a name.
    pub const fn is_only_nearest(&self) -> bool {
        !self.sized && self.offset > NEAR
    }
}

fn symbol_of(module: &Module, function: Function, at: Addr) -> Option<SymbolAt> {
    let start = module.addr(function.start)?;
    Some(SymbolAt {
        name: function.name,
        module: module.name().into(),
        in_exe: module.is_exe(),
        start,
        size: function.size,
        sized: function.sized,
        offset: at.offset_from(start)?,
    })
}

impl SymbolView<'_> {
    /// The symbol that holds `at`. A label that a call returns to may belong to the function
    /// before: pass [`CodeAddr::lookup`] for code.
    pub fn at(self, at: Addr) -> Option<SymbolAt> {
        let Some(module) = self.core.modules().at(at) else { return self.core.made_symbol_at(at) };
        let function = module.symbols().function_at(module.svma(at)?)?;
        symbol_of(module, function, at)
    }

    /// The last symbol of the module at `at` that begins there or before, whether it reaches that
    /// far or not.
    pub fn before(self, at: Addr) -> Option<SymbolAt> {
        let module = self.core.modules().at(at)?;
        symbol_of(module, module.symbols().function_before(module.svma(at)?)?, at)
    }

    /// The name that the symbol which begins at `start` has in its table, not demangled.
    pub fn mangled_name(self, start: Addr) -> Option<String> {
        let module = self.core.modules().at(start)?;
        let symbol = module.symbols().table().find(module.svma(start)?)?;
        Some(String::from_utf8_lossy(symbol.name()).into_owned())
    }

    /// What runs at an address of code, innermost first: inlined functions, then the function that
    /// holds them. Never empty; remembered, since the stacks of many threads share their code.
    pub fn locations(self, at: CodeAddr) -> Arc<[Location]> {
        if let Some(known) = self.core.locations.get(at) {
            return known;
        }
        let found = self.core.find_locations(at);
        if !self.core.budget().is_halted() {
            self.core.locations.put(at, found.clone());
        }
        found
    }
}

impl Core {
    /// The symbol of code that the process made while it ran, where it told debuggers.
    fn made_symbol_at(&self, at: Addr) -> Option<SymbolAt> {
        let function = self.code().made_function_at(at)?;
        let start = Addr::new(function.start.get());
        Some(SymbolAt {
            name: function.name,
            module: MADE.into(),
            in_exe: false,
            start,
            size: function.size,
            sized: function.sized,
            offset: at.offset_from(start)?,
        })
    }

    fn find_locations(&self, at: CodeAddr) -> Arc<[Location]> {
        let Some(module) = self.modules().at(at.lookup()) else {
            let of_language = self.locations_of_language(at, &Location::default());
            let made = || Arc::from([self.made_location(at).unwrap_or_default()]);
            return of_language.unwrap_or_else(made);
        };
        let base = Location {
            module: Some(module.name().into()),
            in_exe: module.is_exe(),
            ..Location::default()
        };
        if let Some(found) = self.locations_of_language(at, &base) {
            return found;
        }
        self.locations_in(module, at, &base).unwrap_or_else(|| Arc::from([base.clone()]))
    }

    /// What a runtime knows of machine code that a compiler of its language made.
    fn locations_of_language(&self, at: CodeAddr, base: &Location) -> Option<Arc<[Location]>> {
        let (start, frames) = self.runtimes().locate(self, at)?;
        let mut found: Vec<Location> = frames
            .into_iter()
            .map(|frame| Location {
                function: frame.function,
                file: frame.file,
                line: frame.line,
                language: frame.language,
                inline: frame.inline,
                kind: frame.kind,
                doubt: frame.doubt,
                ..base.clone()
            })
            .collect();
        found.last_mut()?.offset = at.addr().offset_from(start);
        Some(found.into())
    }

    fn made_location(&self, at: CodeAddr) -> Option<Location> {
        let symbol = self.made_symbol_at(at.lookup())?;
        Some(Location {
            offset: at.addr().offset_from(symbol.start),
            function: Some(symbol.name),
            module: Some(symbol.module),
            ..Location::default()
        })
    }

    fn locations_in(
        &self,
        module: &Module,
        at: CodeAddr,
        base: &Location,
    ) -> Option<Arc<[Location]>> {
        let svma = module.svma(at.lookup())?;
        module.symbols().prepare();
        let symbol = self.symbols().at(at.lookup());
        let lines = module.symbols().lines().find(svma);
        let mut found: Vec<Location> = lines
            .iter()
            .map(|line| Location {
                function: line
                    .function
                    .as_ref()
                    .map(|raw| module.symbols().demangled_in(raw, line.language)),
                inline: line.inline,
                file: line.file.clone(),
                line: line.line,
                column: line.column,
                language: line.language.map(kcore_symbols::Language::as_str),
                ..base.clone()
            })
            .collect();
        if found.is_empty() {
            found.push(base.clone());
        }
        // The symbol table names the function that holds the code, and says where it begins.
        if let (Some(outer), Some(symbol)) = (found.last_mut(), symbol) {
            outer.offset = at.addr().offset_from(symbol.start);
            outer.nearest = symbol.is_only_nearest();
            outer.function = Some(symbol.name);
        }
        Some(found.into())
    }
}
