//! The thread-local variable that lies round an address.

use kcore_mem::Addr;
use kcore_values::Object;

use crate::{Core, Module, SymbolKind, SymbolRef, Tid, VariableView};

/// Threads whose variables are looked at.
const MAX_THREADS: usize = 1 << 10;

/// A variable of one thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadVariable {
    /// The thread.
    pub tid: Tid,
    /// The name of its symbol.
    pub name: String,
    /// Bytes from its beginning to the address that was asked for.
    pub offset: u64,
    /// The variable, where debug information describes it.
    pub object: Option<Object>,
}

impl VariableView<'_> {
    /// The thread-local variable round an address, of one thread or of any.
    pub fn thread_local_at(self, of: Option<Tid>, at: Addr) -> Option<ThreadVariable> {
        let tids = of.map_or_else(|| self.core.tids(), |tid| vec![tid]);
        let pairs = tids
            .into_iter()
            .take(MAX_THREADS)
            .flat_map(|tid| self.core.modules().in_scope_order().map(move |module| (tid, module)));
        pairs.into_iter().find_map(|(tid, module)| self.core.variable_of_block(tid, module, at))
    }
}

impl Core {
    /// The variable round an address in a module's block of a thread.
    fn variable_of_block(&self, tid: Tid, module: &Module, at: Addr) -> Option<ThreadVariable> {
        let size = module.tls_segment()?.mem_size;
        let block = self.tls().block(tid, module).ok()?;
        let within = at.offset_from(block).filter(|within| *within < size)?;
        let symbols = module.symbols().table();
        let holds = |symbol: &SymbolRef<'_>| {
            let offset = within.checked_sub(symbol.value().get());
            symbol.kind() == SymbolKind::Tls && offset.is_some_and(|it| it < symbol.size())
        };
        let symbol = symbols.iter().find(holds)?;
        let offset = within.checked_sub(symbol.value().get())?;
        let name = String::from_utf8_lossy(symbol.name()).into_owned();
        let begins = block.checked_add(symbol.value().get());
        let described = self.described(Some(tid), module, &name).into_iter();
        let mut described = described.filter(|it| it.address() == begins);
        let object = described.find_map(|it| it.object().ok());
        Some(ThreadVariable { tid, name, offset, object })
    }
}
