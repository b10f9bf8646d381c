//! Names to addresses, and names to complete.

use kcore_elf::ArmCode;
use kcore_mem::{Addr, Arch};
use kcore_symbols::{SymbolRef, first_and_last};

use crate::{Core, Module, SymbolKind, Tid, TlsError};

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No module has the symbol.
    #[error("unknown symbol name")]
    UnknownSymbol,
    /// Neither a module nor a source file has the name before the backquote.
    #[error("unknown object file name")]
    UnknownModule,
    /// The link map that `LMid` names is not the base one, and no other is known.
    #[error("unknown link map id")]
    UnknownLinkMap,
    /// The symbol is that of a thread-local variable, which the thread does not have.
    #[error(transparent)]
    ThreadLocal(#[from] TlsError),
}

/// A symbol and the module that has it.
type ModuleSymbol<'m> = (&'m Module, SymbolRef<'m>);

/// Questions about symbols and source lines: see [`Core::symbols`].
#[derive(Clone, Copy)]
pub struct SymbolView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// The symbols of its modules, and what lies at addresses of code.
    pub const fn symbols(&self) -> SymbolView<'_> {
        SymbolView { core: self }
    }
}

impl SymbolView<'_> {
    /// The instruction set of code of 32-bit Arm at an address; `None` on other machines, and where no symbol tells.
    pub fn arm_code(self, at: Addr) -> Option<ArmCode> {
        let module = self.core.modules().at(at).filter(|_| self.core.arch() == Arch::Arm)?;
        module.arm_codes().at(module.svma(at)?)
    }

    /// The address of a symbol, by its name in the symbol table or demangled. `scope` is what
    /// stood before the last backquote: a module, a source file, ``module`file``, each with
    /// ``LMid` `` before it. Without it the executable is asked first, then the others, and a
    /// symbol that a module defines counts before one that it only uses.
    ///
    /// # Errors
    /// When no module, file or symbol has that name, or it is that of a thread-local variable.
    pub fn lookup(self, scope: Option<&str>, name: &str) -> Result<Addr, LookupError> {
        self.lookup_for(None, scope, name)
    }

    /// As [`SymbolView::lookup`]; a thread-local variable is that of thread `tid`.
    ///
    /// # Errors
    /// As [`SymbolView::lookup`], and when the thread has no such variable.
    pub fn lookup_for(
        self,
        tid: Option<Tid>,
        scope: Option<&str>,
        name: &str,
    ) -> Result<Addr, LookupError> {
        let (module, symbol) = self.core.find_symbol(scope, name)?;
        if symbol.kind() == SymbolKind::Tls {
            let tid = tid.ok_or(TlsError::NotAllocated)?;
            return Ok(self.core.tls().symbol(tid, module, &symbol)?);
        }
        module.addr(symbol.value()).ok_or(LookupError::UnknownSymbol)
    }

    /// Symbol names that begin with `prefix`, sorted: at most `max`, the first ones and the very
    /// last, so that what all of them begin with can be seen. `object` is what stood before the
    /// backquote. `go_on` is asked every now and then; `None` when it said no.
    pub fn complete(
        self,
        object: Option<&str>,
        prefix: &str,
        max: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Option<Vec<String>> {
        let modules: Vec<&Module> = match object {
            Some(object) => self.core.modules().named(object).collect(),
            None => self.core.modules().in_scope_order().collect(),
        };
        let mut names = Vec::new();
        for module in modules {
            if !go_on() {
                return None;
            }
            names.extend(module.symbols().table().complete(prefix, max, go_on)?);
        }
        first_and_last(&mut names, max);
        Some(names)
    }
}

impl Core {
    /// The address of a variable of the C library: where the dynamic linker would find it, else by all
    /// symbols, as in static programs. To search those of a big program costs more than most questions.
    pub(crate) fn lookup_libc(&self, name: &str) -> Option<Addr> {
        let mut modules = self.modules().in_scope_order();
        let exported = modules.find_map(|module| {
            let symbol = module.image()?.exported(name)?;
            module.addr(symbol.value)
        });
        exported.or_else(|| self.symbols().lookup(None, name).ok())
    }

    /// A symbol and its module, as [`SymbolView::lookup`] finds it.
    pub(crate) fn find_symbol(
        &self,
        scope: Option<&str>,
        name: &str,
    ) -> Result<ModuleSymbol<'_>, LookupError> {
        // libstdc++ tags what has its strings in its type: `std::string text` is the symbol `text[abi:cxx11]`.
        let tagged = || format!("{name}[abi:cxx11]");
        self.find_spelled(scope, name).or_else(|why| {
            let is_unknown = matches!(why, LookupError::UnknownSymbol);
            let found = is_unknown.then(|| self.find_spelled(scope, &tagged()).ok());
            found.flatten().ok_or(why)
        })
    }

    fn find_spelled(
        &self,
        scope: Option<&str>,
        name: &str,
    ) -> Result<ModuleSymbol<'_>, LookupError> {
        match without_link_map(scope)? {
            None => first_of(self.modules().in_scope_order(), name),
            Some(scope) => self.find_in_scope(scope, name),
        }
    }

    fn find_in_scope(&self, scope: &str, name: &str) -> Result<ModuleSymbol<'_>, LookupError> {
        if let Some((module, file)) = scope.split_once('`') {
            return in_file(self.modules().named(module), file, name);
        }
        let mut named = self.modules().named(scope).peekable();
        match named.peek() {
            Some(_) => first_of(named, name),
            None => in_file(self.modules().in_scope_order(), scope, name),
        }
    }
}

/// The scope without its link map. Only the base one, `LM0`, is known.
fn without_link_map(scope: Option<&str>) -> Result<Option<&str>, LookupError> {
    let Some(scope) = scope else { return Ok(None) };
    let (first, rest) = match scope.split_once('`') {
        Some((first, rest)) => (first, Some(rest)),
        None => (scope, None),
    };
    let id = first.strip_prefix("LM").map(|digits| u64::from_str_radix(digits, 16));
    match id {
        Some(Ok(0)) => Ok(rest),
        Some(Ok(_)) => Err(LookupError::UnknownLinkMap),
        _ => Ok(Some(scope)),
    }
}

/// The first symbol that a module defines; else one that it only uses, if that has a value: a
/// program at a fixed address has entries for functions of others.
pub(crate) fn first_of<'m>(
    modules: impl Iterator<Item = &'m Module>,
    name: &str,
) -> Result<ModuleSymbol<'m>, LookupError> {
    let mut used = None;
    for module in modules {
        let Some(symbol) = module.symbols().table().lookup(name) else { continue };
        if symbol.is_defined() {
            return Ok((module, symbol));
        }
        if symbol.value().get() != 0 {
            used.get_or_insert((module, symbol));
        }
    }
    used.ok_or(LookupError::UnknownSymbol)
}

/// The symbol that a source file of one of the modules keeps to itself.
fn in_file<'m>(
    modules: impl Iterator<Item = &'m Module>,
    file: &str,
    name: &str,
) -> Result<ModuleSymbol<'m>, LookupError> {
    let mut why = LookupError::UnknownModule;
    for module in modules {
        match module.symbols().table().lookup_in_file(file, name) {
            Some(Some(symbol)) => return Ok((module, symbol)),
            Some(None) => why = LookupError::UnknownSymbol,
            None => {}
        }
    }
    Err(why)
}
