//! The process with the names of a session: its private symbols, distance and demangling apply to values.

use kcore::{Addr, AddressSpace, Budget, Process, SymbolName, Type};
use kcore_dcmd::Cx;

use crate::names::Names;

/// The core with the names of a session.
pub struct SessionProcess<'c>(Names<'c>);

impl<'c> SessionProcess<'c> {
    /// The process of `cx`, as its session names it now.
    pub fn new(cx: &Cx<'c>) -> Self {
        Self(Names::new(cx))
    }

    /// The names.
    pub const fn names(&self) -> &Names<'c> {
        &self.0
    }
}

impl Process for SessionProcess<'_> {
    fn budget(&self) -> &Budget {
        self.0.core().budget()
    }

    fn space(&self) -> &dyn AddressSpace {
        self.0.core().space()
    }

    fn symbol_at(&self, at: Addr) -> Option<SymbolName> {
        let symbol = self.0.at(at)?;
        let module = symbol.module.as_deref().map(Into::into);
        Some(SymbolName { name: symbol.name?.into(), module, offset: symbol.offset })
    }

    fn definition(&self, declared: &Type) -> Option<Type> {
        self.0.core().definition(declared)
    }

    fn type_of_vtable(&self, vtable: Addr) -> Option<Type> {
        self.0.core().type_of_vtable(vtable)
    }

    fn type_of_descriptor(&self, at: Addr) -> Option<Type> {
        self.0.core().type_of_descriptor(at)
    }

    fn descriptors_around(&self, at: Addr) -> Option<Addr> {
        self.0.core().descriptors_around(at)
    }

    fn type_named(&self, near: &Type, name: &str) -> Option<Type> {
        Process::type_named(&**self.0.core(), near, name)
    }
}
