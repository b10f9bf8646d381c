//! The variable whose symbol begins at an address.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_values::Object;

use crate::{Core, VariableView};

impl VariableView<'_> {
    /// The variable that begins exactly at an address, by the name of the symbol there. `None` without
    /// a symbol, or where no debug information describes it.
    pub fn at(self, at: Addr) -> Option<Object> {
        self.core.named_variable_at(at).map(|(_, object)| object)
    }
}

impl Core {
    /// The same with its name in the program.
    pub(crate) fn named_variable_at(&self, at: Addr) -> Option<(Arc<str>, Object)> {
        let symbol = self.symbols().at(at).filter(|symbol| symbol.offset == 0)?;
        let module = self.modules().at(at)?;
        names(&symbol.name).find_map(|name| {
            let found = self.described(None, module, name).into_iter();
            let mut found = found.filter(|variable| variable.address() == Some(at));
            found.find_map(|it| it.object().ok()).map(|object| (name.into(), object))
        })
    }
}

/// What the variable of a symbol may be called: compilers tell static variables of functions apart by a
/// number behind the name (gcc: `calls.0`), or the function before it (clang: `main.calls`). libstdc++ tags what has its
/// strings in its type (`text[abi:cxx11]`).
fn names(symbol: &str) -> impl Iterator<Item = &str> {
    let before = symbol.split_once('.').map(|(before, _)| before);
    let behind = symbol.rsplit_once('.').map(|(_, behind)| behind);
    let untagged = symbol.split_once("[abi:").map(|(before, _)| before);
    [Some(symbol), before, behind, untagged].into_iter().flatten().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_variables_of_functions_have_other_symbols() {
        assert_eq!(names("calls").collect::<Vec<_>>(), ["calls"]);
        assert_eq!(names("calls.0").collect::<Vec<_>>(), ["calls.0", "calls", "0"]);
        assert_eq!(names("main.calls").collect::<Vec<_>>(), ["main.calls", "main", "calls"]);
        let tagged = names("ns::text[abi:cxx11]").collect::<Vec<_>>();
        assert_eq!(tagged, ["ns::text[abi:cxx11]", "ns::text"]);
    }
}
