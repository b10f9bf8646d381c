//! Names to addresses, and names to complete.

use kcore_mem::Addr;

use crate::{Core, Module, SymbolKind, SymbolRef, Tid, TlsError};

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No module has the symbol.
    #[error("unknown symbol name")]
    UnknownSymbol,
    /// No module has the name before the backquote.
    #[error("unknown object file name")]
    UnknownModule,
    /// The symbol is that of a thread-local variable, which the thread does not have.
    #[error(transparent)]
    ThreadLocal(#[from] TlsError),
}

impl Core {
    /// The address of a symbol, by its name in the symbol table or demangled. `object` is what
    /// stood before the backquote. Without it the executable is asked first, then the others, and
    /// a symbol that a module defines counts before one that it only uses.
    ///
    /// # Errors
    /// When no module, or no symbol, has that name, or it is that of a thread-local variable.
    pub fn lookup_symbol(&self, object: Option<&str>, name: &str) -> Result<Addr, LookupError> {
        self.lookup_symbol_in(None, object, name)
    }

    /// The same; a thread-local variable is that of thread `tid`.
    ///
    /// # Errors
    /// As [`Core::lookup_symbol`], and when the thread has no such variable.
    pub fn lookup_symbol_in(
        &self,
        tid: Option<Tid>,
        object: Option<&str>,
        name: &str,
    ) -> Result<Addr, LookupError> {
        let (module, symbol) = self.find_symbol(object, name)?;
        if symbol.kind() == SymbolKind::Tls {
            let tid = tid.ok_or(TlsError::NotAllocated)?;
            return Ok(self.tls_symbol(tid, module, &symbol)?);
        }
        module.addr(symbol.value()).ok_or(LookupError::UnknownSymbol)
    }

    /// A symbol and its module, as [`Core::lookup_symbol`] finds it.
    pub(crate) fn find_symbol(
        &self,
        object: Option<&str>,
        name: &str,
    ) -> Result<(&Module, SymbolRef<'_>), LookupError> {
        let modules: Vec<&Module> = match object {
            None => self.modules().in_scope_order().collect(),
            Some(object) => self.modules().named(object).collect(),
        };
        if object.is_some() && modules.is_empty() {
            return Err(LookupError::UnknownModule);
        }
        let mut used = None;
        for module in modules {
            let Some(symbol) = module.symbols().table().lookup(name) else { continue };
            if symbol.is_defined() {
                return Ok((module, symbol));
            }
            // A program at a fixed address has entries for functions that it only uses.
            if symbol.value().get() != 0 {
                used.get_or_insert((module, symbol));
            }
        }
        used.ok_or(LookupError::UnknownSymbol)
    }

    /// Symbol names that begin with `prefix`, sorted, at most `max`.
    pub fn complete_symbol(&self, prefix: &str, max: usize) -> Vec<String> {
        let modules = self.modules().in_scope_order();
        let mut names: Vec<String> =
            modules.flat_map(|module| module.symbols().table().complete(prefix, max)).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(max);
        names
    }
}
