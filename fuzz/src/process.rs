//! A process of some memory, whose types are those of one module.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Budget};
use kcore_symbols::{DebugInfo, Type};
use kcore_values::{DeclaredPrinters, Limits, Object, Process, SymbolName};

use crate::memory::Memory;

/// What is shown of one object: little enough that a run is short.
pub const LIMITS: Limits = Limits {
    depth: Some(12),
    elements: Some(16),
    characters: Some(64),
    pointers: 3,
    raw: false,
    values: 1 << 10,
};

/// Memory, and what lies in it by debug information.
pub struct Made {
    /// The memory.
    pub memory: Memory,
    /// The types.
    pub info: Option<Arc<DebugInfo>>,
    /// What tables of virtual functions, and descriptors, may belong to.
    pub types: Vec<Type>,
    /// Printers that a user declared.
    pub printers: DeclaredPrinters,
    /// What reading may take.
    pub budget: Budget,
}

impl Made {
    /// The type that belongs to an address, if any type does: one or another.
    fn type_of(&self, at: Addr) -> Option<Type> {
        let number = (at.get() >> 3).checked_rem(self.types.len() as u64)?;
        self.types.get(number as usize).cloned()
    }

    /// Where the memory begins.
    pub fn start(&self) -> Addr {
        self.memory.0.first().map_or(Addr::new(0), |(at, _)| Addr::new(*at))
    }

    /// Asks an object all there is to ask.
    pub fn look_at(&self, object: &Object) {
        let raw = object.value(self, &Limits { raw: true, ..LIMITS });
        let _ = (object.value(self, &LIMITS), raw.with_holes(Some(self)));
        let _ = object.layout(self, &LIMITS);
        let _ = (object.whole(self), object.target(self), object.pointer(self));
        let _ = (object.number(self), object.part_at(self, 5), object.index(self, -1));
    }
}

impl Process for Made {
    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn space(&self) -> &dyn AddressSpace {
        &self.memory
    }

    /// Some are what functions of the library of C++ are called that know what an object holds.
    fn symbol_at(&self, at: Addr) -> Option<SymbolName> {
        let name = match self.type_of(at).and_then(|ty| ty.qualified_name()) {
            Some(ty) if at.get() & 0x10 == 0 => {
                format!("std::any::_Manager_internal<{ty}>::_S_manage")
            }
            Some(ty) => format!("std::_Function_handler<int (int), {ty}>::_M_invoke"),
            None => "name".to_owned(),
        };
        Some(SymbolName { name: name.into(), module: None, offset: at.get() & 0xfff })
    }

    fn definition(&self, declared: &Type) -> Option<Type> {
        self.type_named(declared, &declared.qualified_name()?)
    }

    fn type_of_vtable(&self, vtable: Addr) -> Option<Type> {
        self.type_of(vtable)
    }

    fn type_of_descriptor(&self, at: Addr) -> Option<Type> {
        self.type_of(at)
    }

    fn descriptors_around(&self, at: Addr) -> Option<Addr> {
        self.memory.slice(at).ok().map(|_| self.start())
    }

    fn type_named(&self, _: &Type, name: &str) -> Option<Type> {
        let found = self.info.as_ref()?.find_types(name);
        found.into_iter().find(|ty| !ty.node().is_declaration)
    }

    fn declared_printers(&self) -> Option<&DeclaredPrinters> {
        Some(&self.printers)
    }
}
