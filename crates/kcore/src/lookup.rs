//! Names to addresses, and names to complete.

use kcore_mem::Addr;
use kcore_symbols::first_and_last;

use crate::{Core, Module};

/// Why a name has no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// No module has the symbol.
    #[error("unknown symbol name")]
    UnknownSymbol,
    /// No module has the name before the backquote.
    #[error("unknown object file name")]
    UnknownModule,
}

impl Core {
    /// The address of a symbol, by its name in the symbol table or demangled. `object` is what
    /// stood before the backquote. Without it the executable is asked first, then the others, and
    /// a symbol that a module defines counts before one that it only uses.
    ///
    /// # Errors
    /// When no module, or no symbol, has that name.
    pub fn lookup_symbol(&self, object: Option<&str>, name: &str) -> Result<Addr, LookupError> {
        let find = |module: &Module| {
            let symbol = module.symbols().table().lookup(name)?;
            module.addr(symbol.value())
        };
        match object {
            None => self.modules().in_scope_order().find_map(find),
            Some(object) => {
                let mut named = self.modules().named(object).peekable();
                named.peek().ok_or(LookupError::UnknownModule)?;
                named.find_map(find)
            }
        }
        .ok_or(LookupError::UnknownSymbol)
    }

    /// Symbol names that begin with `prefix`, sorted: at most `max`, the first ones and the very
    /// last, so that what all of them begin with can be seen. `object` is what stood before the
    /// backquote. `go_on` is asked every now and then; `None` when it said no.
    pub fn complete_symbol(
        &self,
        object: Option<&str>,
        prefix: &str,
        max: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Option<Vec<String>> {
        let modules: Vec<&Module> = match object {
            Some(object) => self.modules().named(object).collect(),
            None => self.modules().in_scope_order().collect(),
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
