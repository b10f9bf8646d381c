//! What values need of the process around them, as a core answers it.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Budget};
use kcore_symbols::{DebugInfo, Type, TypeKind};
use kcore_values::{Object, Process, SymbolName};

use crate::Core;

/// What stands before the class in the demangled name of its table of virtual functions.
const VTABLE: &str = "vtable for ";

/// Where the type descriptors of Go begin.
const GO_TYPES: &str = "runtime.types";

impl Process for Core {
    fn budget(&self) -> &Budget {
        self.budget()
    }

    fn space(&self) -> &dyn AddressSpace {
        self.space()
    }

    fn symbol_at(&self, at: Addr) -> Option<SymbolName> {
        let symbol = self.symbols().at(at).filter(|symbol| !symbol.is_only_nearest())?;
        let module = (!symbol.in_exe).then_some(symbol.module);
        Some(SymbolName { name: symbol.name, module, offset: symbol.offset })
    }

    fn definition(&self, declared: &Type) -> Option<Type> {
        let name = declared.qualified_name()?;
        self.defined(declared.debug_info(), &name, |found| {
            std::mem::discriminant(found.kind()) == std::mem::discriminant(declared.kind())
        })
    }

    fn type_of_vtable(&self, vtable: Addr) -> Option<Type> {
        let find = || self.class_of_vtable(vtable).or_else(|| self.type_of_rust_vtable(vtable));
        self.vtables.get(vtable, self.budget(), find)
    }

    fn type_of_descriptor(&self, at: Addr) -> Option<Type> {
        let offset = at.offset_from(self.descriptors_around(at)?)?;
        self.modules().at(at)?.symbols().debug_info()?.type_of_descriptor(offset)
    }

    fn descriptors_around(&self, at: Addr) -> Option<Addr> {
        let module = self.modules().at(at)?;
        module.addr(module.symbols().table().lookup(GO_TYPES)?.value())
    }

    fn error_name(&self, number: i32) -> Option<&'static str> {
        crate::errno::name_on(self.target().arch, number)
    }

    fn type_named(&self, near: &Type, name: &str) -> Option<Type> {
        self.defined(near.debug_info(), name, |_| true)
    }

    fn class_variable(&self, class: &Type, name: &str) -> Option<Object> {
        self.variable_of_class(class, name)
    }

    fn variable_beside(&self, near: &Type, name: &str) -> Option<Object> {
        self.variable_near_type(near, name)
    }

    fn enumerator_beside(&self, near: &Type, name: &str) -> Option<Object> {
        self.types().enumerator_near(near, name)
    }

    fn type_spelled(&self, near: &Type, text: &str) -> Option<Type> {
        self.types().spelled_near(near, text)
    }
}

impl Core {
    /// The class whose table of virtual functions holds `vtable`, by the table's symbol.
    fn class_of_vtable(&self, vtable: Addr) -> Option<Type> {
        let symbol = self.symbols().at(vtable)?;
        let class = symbol.name.strip_prefix(VTABLE)?;
        self.defined(self.debug_info_at(vtable).as_ref(), class, is_composite)
    }

    /// The debug information of the module that holds an address.
    pub(crate) fn debug_info_at(&self, at: Addr) -> Option<Arc<DebugInfo>> {
        self.modules().at(at)?.symbols().debug_info().cloned()
    }

    /// A type that is defined under a qualified name, looked for in `first` before all others.
    pub(crate) fn defined(
        &self,
        first: Option<&Arc<DebugInfo>>,
        name: &str,
        fits: impl Fn(&Type) -> bool,
    ) -> Option<Type> {
        let modules = self.modules().in_scope_order();
        let others = modules.filter_map(|module| module.symbols().debug_info());
        let mut all = first.into_iter().chain(others);
        all.find_map(|info| {
            let mut found = info.find_types(name).into_iter();
            found.find(|ty| !ty.node().is_declaration && fits(ty))
        })
    }
}

fn is_composite(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Composite(_))
}
