//! Types that a name could mean as well.

use kcore_symbols::{Type, TypeKind};

use super::Types;
use crate::{Core, Module, NameSource};

impl Types<'_> {
    /// The module and the file that describe a type; `None` if none does.
    pub fn source_of(&self, ty: &Type) -> Option<NameSource> {
        let module = self.module_that_describes(ty)?;
        Some(NameSource::of(module, ty.debug_info().map(|info| &**info), ty.node().id))
    }

    /// Where other types of the same name and another layout come from, which the user may have meant instead of
    /// `ty`. Empty if the code in which the name is used defines `ty` itself. `scope` is the module before the
    /// backquote; `name` is a name alone.
    pub fn others(&self, scope: Option<&str>, name: &str, ty: &Type) -> Vec<NameSource> {
        let is_name = !name.contains(['*', '&', '[', '(', '<']);
        let own = self.module_that_describes(ty).filter(|_| is_name);
        let Some(own) = own.filter(|_| !self.sees(scope, name, ty)) else { return Vec::new() };
        let from = self.from.filter(|_| scope.is_none()).and_then(|from| self.core.module_of(from));
        // A module's own type hides those of others.
        let is_near = from.is_some_and(|from| std::ptr::eq(from, own)) || scope.is_some();
        let modules = self.core.modules();
        let all = modules.in_scope_order().filter(|it| !is_near || std::ptr::eq(*it, own));
        all.flat_map(|module| others_of(module, name, ty)).collect()
    }

    /// Whether the code defines the type itself.
    fn sees(&self, scope: Option<&str>, name: &str, ty: &Type) -> bool {
        let from = self.from.filter(|_| scope.is_none());
        let at = from.and_then(|from| self.core.functions_at(from));
        at.is_some_and(|at| at.info.types_seen_from(at.functions(), name).contains(ty))
    }

    fn module_that_describes(&self, ty: &Type) -> Option<&Module> {
        let core: &Core = self.core;
        let info = ty.debug_info()?;
        let mut modules = core.modules().in_scope_order();
        modules.find(|module| {
            module.symbols().debug_info().is_some_and(|own| std::sync::Arc::ptr_eq(own, info))
        })
    }
}

fn others_of(module: &Module, name: &str, ty: &Type) -> Vec<NameSource> {
    let Some(info) = module.symbols().debug_info() else { return Vec::new() };
    let found = info.find_types(name).into_iter();
    let others = found.filter(|other| !other.node().is_declaration && differ(ty, other));
    others.map(|other| NameSource::of(module, Some(info), other.node().id)).collect()
}

/// Whether two types of one name are laid out in different ways.
fn differ(one: &Type, other: &Type) -> bool {
    let (Ok(one), Ok(other)) = (one.stripped(), other.stripped()) else { return false };
    if one.size() != other.size() {
        return true;
    }
    match (one.kind(), other.kind()) {
        (TypeKind::Composite(one), TypeKind::Composite(other)) => {
            let members = one.members.iter().map(|it| (&it.name, &it.place));
            !members.eq(other.members.iter().map(|it| (&it.name, &it.place)))
        }
        (TypeKind::Enumeration(one), TypeKind::Enumeration(other)) => {
            let names = one.enumerators.iter().map(|it| (&it.name, it.value));
            !names.eq(other.enumerators.iter().map(|it| (&it.name, it.value)))
        }
        (one, other) => std::mem::discriminant(one) != std::mem::discriminant(other),
    }
}
