//! A process without declared printers: what their expressions are evaluated in, so that none asks for itself.

use kcore_mem::{Addr, AddressSpace, Budget};
use kcore_symbols::Type;

use crate::{Object, Process, SymbolName};

/// The process that it holds, without its declared printers.
pub struct WithoutDeclared<'a>(pub &'a dyn Process);

impl Process for WithoutDeclared<'_> {
    fn budget(&self) -> &Budget {
        self.0.budget()
    }

    fn space(&self) -> &dyn AddressSpace {
        self.0.space()
    }

    fn symbol_at(&self, at: Addr) -> Option<SymbolName> {
        self.0.symbol_at(at)
    }

    fn definition(&self, declared: &Type) -> Option<Type> {
        self.0.definition(declared)
    }

    fn type_of_vtable(&self, vtable: Addr) -> Option<Type> {
        self.0.type_of_vtable(vtable)
    }

    fn type_of_descriptor(&self, at: Addr) -> Option<Type> {
        self.0.type_of_descriptor(at)
    }

    fn descriptors_around(&self, at: Addr) -> Option<Addr> {
        self.0.descriptors_around(at)
    }

    fn error_name(&self, number: i32) -> Option<&'static str> {
        self.0.error_name(number)
    }

    fn type_named(&self, near: &Type, name: &str) -> Option<Type> {
        self.0.type_named(near, name)
    }

    fn class_variable(&self, class: &Type, name: &str) -> Option<Object> {
        self.0.class_variable(class, name)
    }

    fn variable_beside(&self, near: &Type, name: &str) -> Option<Object> {
        self.0.variable_beside(near, name)
    }

    fn enumerator_beside(&self, near: &Type, name: &str) -> Option<Object> {
        self.0.enumerator_beside(near, name)
    }

    fn type_spelled(&self, near: &Type, text: &str) -> Option<Type> {
        self.0.type_spelled(near, text)
    }
}
