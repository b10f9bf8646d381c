//! The process with the names of a session: its private symbols, distance and demangling apply to values, and its
//! printers show them.

use std::sync::Arc;

use kcore::{Addr, AddressSpace, Budget, DeclaredPrinters, Object, Process, SymbolName, Type};
use kcore_dcmd::{Cx, NameScope};

use crate::names::Names;

/// The core with the names and the printers of a session.
pub struct SessionProcess<'c> {
    names: Names<'c>,
    printers: Arc<DeclaredPrinters>,
}

impl<'c> SessionProcess<'c> {
    /// The process of `cx`, as its session names it now.
    pub fn new(cx: &Cx<'c>) -> Self {
        Self { names: Names::new(cx), printers: Arc::clone(cx.shell().printers()) }
    }

    /// The process in which names are looked for.
    pub fn of_scope(scope: NameScope<'c>) -> Self {
        let names = Names::of_session(scope.core, scope.shell);
        Self { names, printers: Arc::clone(scope.shell.printers()) }
    }

    /// The names.
    pub const fn names(&self) -> &Names<'c> {
        &self.names
    }
}

impl Process for SessionProcess<'_> {
    fn budget(&self) -> &Budget {
        self.names.core().budget()
    }

    fn space(&self) -> &dyn AddressSpace {
        self.names.core().space()
    }

    fn symbol_at(&self, at: Addr) -> Option<SymbolName> {
        let symbol = self.names.at(at)?;
        let module = symbol.module.as_deref().map(Into::into);
        Some(SymbolName { name: symbol.name?.into(), module, offset: symbol.offset })
    }

    fn definition(&self, declared: &Type) -> Option<Type> {
        self.names.core().definition(declared)
    }

    fn type_of_vtable(&self, vtable: Addr) -> Option<Type> {
        self.names.core().type_of_vtable(vtable)
    }

    fn type_of_descriptor(&self, at: Addr) -> Option<Type> {
        self.names.core().type_of_descriptor(at)
    }

    fn descriptors_around(&self, at: Addr) -> Option<Addr> {
        self.names.core().descriptors_around(at)
    }

    fn error_name(&self, number: i32) -> Option<&'static str> {
        self.names.core().error_name(number)
    }

    fn type_named(&self, near: &Type, name: &str) -> Option<Type> {
        Process::type_named(&**self.names.core(), near, name)
    }

    fn class_variable(&self, class: &Type, name: &str) -> Option<Object> {
        self.names.core().class_variable(class, name)
    }

    fn variable_beside(&self, near: &Type, name: &str) -> Option<Object> {
        self.names.core().variable_beside(near, name)
    }

    fn enumerator_beside(&self, near: &Type, name: &str) -> Option<Object> {
        self.names.core().enumerator_beside(near, name)
    }

    fn type_spelled(&self, near: &Type, text: &str) -> Option<Type> {
        self.names.core().type_spelled(near, text)
    }

    fn declared_printers(&self) -> Option<&DeclaredPrinters> {
        Some(&self.printers)
    }
}
