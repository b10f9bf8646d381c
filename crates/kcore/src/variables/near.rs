//! Variables of modules by what is around the code or the words that name them: a unit, a module, a function, a
//! source file.

use std::sync::Arc;

use kcore_symbols::{DebugInfo, Type};
use kcore_values::Object;

use super::{
    globals::{FoundVariable, placed_first, read},
    module_context::ModuleContext,
};
use crate::{
    CodeScope, Core, Module, NameSource, SymbolBinding, Tid, VariableView, lookup::first_of,
};

impl VariableView<'_> {
    /// Whose variables else have the name of one that only another file may use: any of them may be
    /// meant. `scope` is as of [`VariableView::find`]. Without symbols, none is known.
    pub fn others(self, found: &FoundVariable, scope: Option<&str>, name: &str) -> Vec<NameSource> {
        if !found.is_private {
            return Vec::new();
        }
        let modules: Vec<&Module> = match scope {
            Some(scope) => self.core.modules().named(scope).collect(),
            None => self.core.modules().in_scope_order().collect(),
        };
        let mut others = Vec::new();
        for module in modules {
            let info = module.symbols().debug_info();
            for symbol in module.symbols().table().data_named(name) {
                let at = module.addr(symbol.value());
                if at.is_some() && at != found.address() {
                    others.push(self.core.source_of(module, info.map(|it| &**it), name, at));
                }
            }
        }
        others
    }

    /// Whether a variable was found in a library that keeps it to itself, and that is not the one of the code in which the
    /// name stands: perhaps nobody meant it.
    pub fn is_of_other_library(self, from: Option<CodeScope>, found: &FoundVariable) -> bool {
        let own = from.and_then(|from| self.core.module_of(from));
        let near = own.into_iter().chain(self.core.modules().exe());
        found.is_private && near.map(Module::name).all(|name| name != &*found.source.module)
    }
}

impl Core {
    /// The variable of this name that the module has which describes a type; else that of the first that has one.
    pub(crate) fn variable_near_type(&self, near: &Type, name: &str) -> Option<Object> {
        let is_own = |module: &&Module| {
            let info = module.symbols().debug_info();
            info.zip(near.debug_info()).is_some_and(|(one, other)| Arc::ptr_eq(one, other))
        };
        let own = self.modules().in_scope_order().find(is_own);
        let found = own.and_then(|own| self.private_near(own, None, name));
        let found = found.or_else(|| self.variables().find(None, None, name).ok());
        found?.object().ok()
    }

    /// The variable that the unit of the code defines.
    pub(super) fn variable_of_unit(
        &self,
        from: CodeScope,
        tid: Option<Tid>,
        name: &str,
    ) -> Option<FoundVariable> {
        let at = self.functions_at(from)?;
        let module = self.module_of(from)?;
        let found = at.info.variables_seen_from(at.functions().first()?, name);
        let context = ModuleContext { core: self, module, tid };
        let found = found.into_iter().filter_map(|id| read(at.info, id, &context));
        placed_first(found).map(FoundVariable::meant)
    }

    /// The variable that all files may use, as the dynamic linker binds its name in the code's module; else
    /// the one that a file of that module keeps to itself.
    pub(super) fn variable_near(
        &self,
        from: CodeScope,
        tid: Option<Tid>,
        name: &str,
    ) -> Option<FoundVariable> {
        let own = self.module_of(from)?;
        let others = self.modules().in_scope_order().filter(|it| !std::ptr::eq(*it, own));
        let mut all = std::iter::once(own).chain(others);
        let bound = all.find_map(|module| {
            let symbol = module.symbols().table().lookup(name)?;
            let is_bound = symbol.is_defined() && symbol.binding() != SymbolBinding::Local;
            is_bound.then(|| self.variable_of_symbol(tid, module, &symbol, name))
        });
        bound.filter(|found| found.ty.is_some()).or_else(|| self.private_near(own, tid, name))
    }

    fn private_near(&self, own: &Module, tid: Option<Tid>, name: &str) -> Option<FoundVariable> {
        let by_symbol = first_of(std::iter::once(own), name).ok();
        let found = by_symbol.map(|(module, it)| self.variable_of_symbol(tid, module, &it, name));
        let found = found.filter(|found| found.ty.is_some());
        let described = || placed_first(self.described(tid, own, name).into_iter());
        found.or_else(|| described().map(FoundVariable::meant))
    }

    /// The variable of a function or a source file whose name stands before the last `::`.
    pub(super) fn variable_of_owner(
        &self,
        tid: Option<Tid>,
        scope: Option<&str>,
        name: &str,
    ) -> Option<FoundVariable> {
        let (owner, name) = name.rsplit_once("::")?;
        let modules: Vec<&Module> = match scope {
            Some(scope) => self.modules().named(scope).collect(),
            None => self.modules().in_scope_order().collect(),
        };
        let in_function = |module: &&Module| self.static_of_function(tid, module, owner, name);
        modules.iter().find_map(in_function).or_else(|| {
            let file = scope.map_or_else(|| owner.to_owned(), |scope| format!("{scope}`{owner}"));
            let (module, symbol) = self.find_symbol(Some(&file), name).ok()?;
            Some(self.variable_of_symbol(tid, module, &symbol, name))
        })
    }

    /// A static variable of a function of a module, or of a block in it.
    fn static_of_function(
        &self,
        tid: Option<Tid>,
        module: &Module,
        function: &str,
        name: &str,
    ) -> Option<FoundVariable> {
        let info = module.symbols().debug_info()?;
        let context = ModuleContext { core: self, module, tid };
        let functions = info.find_functions(function).into_iter();
        let mut all = functions.flat_map(|id| info.variables_in_function(id, name));
        let found = all.find_map(|id| read(info, id, &context).filter(|it| it.place.is_ok()));
        found.map(FoundVariable::meant)
    }

    fn source_of(
        &self,
        module: &Module,
        info: Option<&DebugInfo>,
        name: &str,
        at: Option<kcore_mem::Addr>,
    ) -> NameSource {
        let described = info.map(|_| self.described(None, module, name)).unwrap_or_default();
        let same = described.into_iter().find(|variable| variable.address() == at);
        same.map_or_else(|| NameSource::of(module, None, None), |variable| variable.source)
    }
}
