//! Variables that modules have, by name.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_symbols::{DebugInfo, DieId, Language, Type};
use kcore_values::{Absent, Object, ObjectPlace, location};

use super::{
    array_bounds::{self, Teller},
    module_context::ModuleContext,
};
use crate::{
    CodeScope, Core, LookupError, Module, NameSource, SymbolBinding, SymbolKind, SymbolRef, Tid,
    VariableView,
};

/// A variable of a module.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundVariable {
    /// Its type; `None` of a symbol that no debug information describes.
    pub ty: Option<Type>,
    /// Where it lies, or why it is nowhere.
    pub place: Result<ObjectPlace, Absent>,
    /// The module and the file that define it.
    pub source: NameSource,
    /// Whether it is static in another file than the one in which its name is used. Others of the name may be meant.
    pub is_private: bool,
}

impl FoundVariable {
    /// The variable as an object.
    ///
    /// # Errors
    /// When it lies nowhere, or its type is not known.
    pub fn object(&self) -> Result<Object, Absent> {
        let no_type = || Absent::Unreadable("its type is not known".to_owned());
        let ty = self.ty.clone().ok_or_else(no_type)?;
        Ok(Object { ty, place: self.place.clone()? })
    }

    /// The variable, where the way in which it was found leaves no doubt that it is meant.
    pub(super) fn meant(self) -> Self {
        Self { is_private: false, ..self }
    }

    /// Where it lies, if that is in memory.
    pub fn address(&self) -> Option<Addr> {
        self.place.as_ref().ok()?.address()
    }
}

impl VariableView<'_> {
    /// The variable of a module that has this name: a global, or a static one of a file or a function.
    /// `scope` is what stood before the last backquote, as [`SymbolView::lookup`](crate::SymbolView::lookup) takes it. The name may
    /// have a function or a source file before it: `function::name`, `file.c::name`. A thread-local
    /// variable is that of thread `tid`.
    ///
    /// # Errors
    /// When no module, file or variable has that name.
    pub fn find(
        self,
        tid: Option<Tid>,
        scope: Option<&str>,
        name: &str,
    ) -> Result<FoundVariable, LookupError> {
        let found = match self.core.find_symbol(scope, name) {
            Ok((module, symbol)) => Ok(self.core.variable_of_symbol(tid, module, &symbol, name)),
            Err(LookupError::UnknownSymbol) => self
                .core
                .variable_without_symbol(tid, scope, name)
                .ok_or(LookupError::UnknownSymbol),
            Err(other) => Err(other),
        };
        match found {
            Err(LookupError::UnknownSymbol) => {
                self.core.variable_of_owner(tid, scope, name).ok_or(LookupError::UnknownSymbol)
            }
            // A library without debug information may have any name for itself.
            Ok(found) if found.ty.is_none() && found.is_private => {
                Ok(self.core.variable_without_symbol(tid, scope, name).unwrap_or(found))
            }
            found => found,
        }
    }

    /// As [`VariableView::find`] where the name is used in code: a variable of the unit of that code counts
    /// first, then one that all files may use, then one that another file of the module keeps to itself. The
    /// code's own arguments and locals are those of [`crate::KnownFrames::variable`]. In Fortran capital letters are the
    /// same as small ones.
    ///
    /// # Errors
    /// As [`VariableView::find`].
    pub fn find_from(
        self,
        from: Option<CodeScope>,
        tid: Option<Tid>,
        scope: Option<&str>,
        name: &str,
    ) -> Result<FoundVariable, LookupError> {
        let small = name.to_ascii_lowercase();
        let language = || self.core.language_of(from?);
        let is_fortran = || language() == Some(Language::Fortran);
        if small == name {
            return self.find_as_written(from, tid, scope, name);
        }
        if is_fortran()
            && let Ok(found) = self.find_as_written(from, tid, scope, &small)
        {
            return Ok(found);
        }
        let found = self.find_as_written(from, tid, scope, name);
        match found {
            // Compilers write names of Fortran in small letters, whatever the source has.
            Ok(FoundVariable { ty: None, .. }) | Err(LookupError::UnknownSymbol) => {
                let other = self.find_as_written(from, tid, scope, &small).ok();
                let is_fortran = |ty: &Type| ty.language() == Some(Language::Fortran);
                let other = other.filter(|other| other.ty.as_ref().is_some_and(is_fortran));
                other.map_or(found, Ok)
            }
            found => found,
        }
    }

    fn find_as_written(
        self,
        from: Option<CodeScope>,
        tid: Option<Tid>,
        scope: Option<&str>,
        name: &str,
    ) -> Result<FoundVariable, LookupError> {
        let from = from.filter(|_| scope.is_none());
        let near = from.and_then(|from| {
            self.core
                .variable_of_unit(from, tid, name)
                .or_else(|| self.core.variable_near(from, tid, name))
        });
        near.map_or_else(|| self.find(tid, scope, name), Ok)
    }
}

impl Core {
    /// What debug information says of a symbol, else its address alone. An entry of the same name that
    /// says of no place tells the type if that has the symbol's size: a declaration, whose definition has
    /// no name of its own (dwz), or a thread-local variable of a compiler that cannot say where those lie
    /// (gcc for AArch64).
    pub(super) fn variable_of_symbol(
        &self,
        tid: Option<Tid>,
        module: &Module,
        symbol: &SymbolRef<'_>,
        name: &str,
    ) -> FoundVariable {
        let place = self.place_of_symbol(tid, module, symbol);
        let mut described = self.described(tid, module, name);
        if let Some(template) = template_of(name) {
            described.extend(self.described(tid, module, template));
        }
        let is_same = |found: &&FoundVariable| match (&found.place, &place) {
            (Ok(found), Ok(place)) => found == place,
            // Storage of a thread that was not found is not found either way.
            (Err(Absent::OptimizedOut), _) => false,
            (Err(_), Err(_)) => true,
            _ => false,
        };
        let may_be = |found: &&FoundVariable| {
            let size = found.ty.as_ref().and_then(Type::size);
            matches!(found.place, Err(Absent::OptimizedOut)) && size == Some(symbol.size())
        };
        let may_be = |found: &&FoundVariable| template_of(name).is_none() && may_be(found);
        let found = described.iter().find(is_same).or_else(|| described.iter().find(may_be));
        let source =
            found.map_or_else(|| NameSource::of(module, None, None), |it| it.source.clone());
        let is_private = symbol.binding() == SymbolBinding::Local;
        FoundVariable { ty: found.and_then(|found| found.ty.clone()), place, source, is_private }
    }

    fn place_of_symbol(
        &self,
        tid: Option<Tid>,
        module: &Module,
        symbol: &SymbolRef<'_>,
    ) -> Result<ObjectPlace, Absent> {
        if symbol.kind() == SymbolKind::Tls {
            let context = ModuleContext { core: self, module, tid };
            let at = location::FrameContext::thread_local(&context, symbol.value().get())?;
            return Ok(ObjectPlace::Memory(at));
        }
        let at = module.addr(symbol.value());
        at.map(ObjectPlace::Memory).ok_or_else(|| Absent::Unreadable("no module".to_owned()))
    }

    /// A variable that the compiler gave no symbol, or that it knows to be a constant. One that lies
    /// somewhere counts before one that does not.
    fn variable_without_symbol(
        &self,
        tid: Option<Tid>,
        scope: Option<&str>,
        name: &str,
    ) -> Option<FoundVariable> {
        let modules: Vec<&Module> = match scope {
            Some(scope) => self.modules().named(scope).collect(),
            None => self.modules().in_scope_order().collect(),
        };
        placed_first(modules.into_iter().flat_map(|module| self.described(tid, module, name)))
    }

    /// The variable of a module that an entry of its debug information describes, if there is one for all
    /// threads and it lies somewhere.
    pub(crate) fn module_variable(&self, module: &Module, id: DieId) -> Option<Object> {
        let info = module.symbols().debug_info()?;
        read(info, id, &ModuleContext { core: self, module, tid: None })?.object().ok()
    }

    /// The variables of that name that a module's debug information describes.
    pub(super) fn described(
        &self,
        tid: Option<Tid>,
        module: &Module,
        name: &str,
    ) -> Vec<FoundVariable> {
        let Some(info) = module.symbols().debug_info() else { return Vec::new() };
        let context = ModuleContext { core: self, module, tid };
        let all = info.find_variables(name).into_iter();
        all.filter_map(|id| read(info, id, &context)).collect()
    }
}

/// The template that a variable is made of: `ns::zero<int>` is called `zero` in debug information, as all others are that
/// the template makes.
fn template_of(name: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, sign) in name.strip_suffix('>')?.char_indices().rev() {
        match sign {
            '>' => depth = depth.saturating_add(1),
            '<' if depth == 0 => return name.get(..at),
            '<' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The first variable that lies somewhere; else the first.
pub(super) fn placed_first(found: impl Iterator<Item = FoundVariable>) -> Option<FoundVariable> {
    let mut first = None;
    for variable in found {
        if variable.place.is_ok() {
            return Some(variable);
        }
        first.get_or_insert(variable);
    }
    first
}

/// What debug information says of a variable outside of any frame.
pub(super) fn read(
    info: &Arc<DebugInfo>,
    id: DieId,
    context: &ModuleContext<'_>,
) -> Option<FoundVariable> {
    let variable = info.variable_at(id, None).ok()?;
    let teller = Teller { core: context.core, info, context };
    let ty = array_bounds::known_characters(teller, &info.type_of(&variable).ok()?);
    let place = location::place_of(&variable.location, &ty, context);
    let source = NameSource::of(context.module, Some(info), Some(id));
    Some(FoundVariable { ty: Some(ty), place, source, is_private: !variable.is_external })
}
