//! Variables that a class declares: one for all of its objects.

use kcore_symbols::{StaticMember, Type};
use kcore_values::Object;

use super::globals::placed_first;
use crate::{Core, Module, SymbolKind};

impl Core {
    /// The variable of this name that a class, behind aliases, declares; `None` where it declares none, or nothing
    /// tells where it lies or what it is.
    pub(crate) fn variable_of_class(&self, class: &Type, name: &str) -> Option<Object> {
        let statics = &class.composite()?.statics;
        let declared = statics.iter().find(|member| member.name.as_deref() == Some(name))?;
        let qualified = format!("{}::{name}", class.qualified_name()?);
        self.of_own_module(class, &qualified)
            .or_else(|| self.by_linkage_name(class, declared))
            .or_else(|| self.constant_of_class(class, declared))
            .or_else(|| self.variables().find(None, None, &qualified).ok()?.object().ok())
    }

    /// The definition that the module has which describes the class.
    fn of_own_module(&self, class: &Type, qualified: &str) -> Option<Object> {
        let info = class.debug_info()?;
        let is_own = |module: &&Module| {
            module.symbols().debug_info().is_some_and(|other| std::sync::Arc::ptr_eq(other, info))
        };
        let module = self.modules().in_scope_order().find(is_own)?;
        placed_first(self.described(None, module, qualified).into_iter())?.object().ok()
    }

    /// What lies at the symbol that the declaration names, in whichever module that is.
    fn by_linkage_name(&self, class: &Type, declared: &StaticMember) -> Option<Object> {
        let (module, symbol) = self.find_symbol(None, declared.linkage_name.as_deref()?).ok()?;
        // What each thread has of its own lies at no symbol.
        (symbol.kind() != SymbolKind::Tls).then_some(())?;
        Some(Object::at(class.follow(&declared.ty).ok()?, module.addr(symbol.value())?))
    }

    /// A constant that lies nowhere, and whose value the declaration has.
    fn constant_of_class(&self, class: &Type, declared: &StaticMember) -> Option<Object> {
        let ty = class.follow(&declared.ty).ok()?;
        let bits = declared.constant?.cast_unsigned();
        Some(Object::of_number(ty, bits, self.target()))
    }
}
