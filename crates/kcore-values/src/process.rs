//! What values need of the process around them.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Budget};
use kcore_symbols::Type;

use crate::{DeclaredPrinters, Object};

/// The process that objects lie in.
pub trait Process: Sync {
    /// The budget that values are charged to.
    fn budget(&self) -> &Budget;

    /// Its memory.
    fn space(&self) -> &dyn AddressSpace;

    /// The symbol that holds an address.
    fn symbol_at(&self, at: Addr) -> Option<SymbolName>;

    /// The definition of a type that is only declared where it was found.
    fn definition(&self, declared: &Type) -> Option<Type>;

    /// The class of C++, or the concrete type of Rust, whose table of virtual functions holds `vtable`,
    /// where a pointer in an object, or beside one, leads.
    fn type_of_vtable(&self, vtable: Addr) -> Option<Type>;

    /// The type of Go whose descriptor lies at an address.
    fn type_of_descriptor(&self, at: Addr) -> Option<Type>;

    /// Where the descriptors of Go's types begin in the module that holds an address: they have offsets
    /// from there.
    fn descriptors_around(&self, at: Addr) -> Option<Addr>;

    /// A type by its qualified name, as debug information spells it, looked for first beside `near`.
    fn type_named(&self, near: &Type, name: &str) -> Option<Type>;

    /// A type as C or C++ spells it, `struct conn *`, looked for first beside `near`.
    fn type_spelled(&self, near: &Type, text: &str) -> Option<Type> {
        self.type_named(near, text)
    }

    /// The variable of a class that its type declares by this name: there is one for all objects. `None` where the
    /// class declares none, or nothing tells where it lies.
    fn class_variable(&self, _class: &Type, _name: &str) -> Option<Object> {
        None
    }

    /// The variable of a module that has this name, looked for first beside `near`.
    fn variable_beside(&self, _near: &Type, _name: &str) -> Option<Object> {
        None
    }

    /// The value of an enumeration of this name, looked for first beside `near`; `None` also where enumerations of one
    /// module have the name for several values.
    fn enumerator_beside(&self, _near: &Type, _name: &str) -> Option<Object> {
        None
    }

    /// The name of an error number of the system: `ENOENT`.
    fn error_name(&self, _number: i32) -> Option<&'static str> {
        None
    }

    /// The printers that the user declared; they come before all others.
    fn declared_printers(&self) -> Option<&DeclaredPrinters> {
        None
    }
}

/// A symbol that holds an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolName {
    /// Its name, demangled, without parameters.
    pub name: Arc<str>,
    /// The name of its module; `None` for the executable.
    pub module: Option<Arc<str>>,
    /// Bytes from its beginning to the address.
    pub offset: u64,
}
