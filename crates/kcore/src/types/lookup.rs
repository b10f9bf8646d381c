//! A type by its name, over all modules.

use kcore_symbols::{Keyword, Type, TypeKind};

use super::{
    DataModel, SessionTypes, TypeLookupError, Types, basic,
    parser::{self, Names, Tag},
};
use crate::{CodeScope, Core, Module};

impl Types<'_> {
    /// The type that `text` names, as debug information or as C and C++ spell it. `scope` is the module
    /// that stood before the backquote; without it the executable is asked first, then the others in
    /// the order in which they were loaded; see also [`Types::seen_from`]. A definition counts before a
    /// declaration.
    ///
    /// # Errors
    /// When there is no such type, or nothing could describe it; see [`TypeLookupError`].
    pub fn named(&self, scope: Option<&str>, text: &str) -> Result<Type, TypeLookupError> {
        self.named_in(&SessionTypes::default(), scope, text)
    }

    /// The same, where a session's own types come first.
    ///
    /// # Errors
    /// As [`Types::named`].
    pub fn named_in(
        &self,
        session: &SessionTypes,
        scope: Option<&str>,
        text: &str,
    ) -> Result<Type, TypeLookupError> {
        let names = Lookup::new(*self, session, scope);
        names.modules()?;
        // Names of Rust and Go read like nothing in C.
        parser::type_name(text, &names)
            .or_else(|why| names.find(text.trim(), |_| true).or(Err(why)))
    }
}

impl Types<'_> {
    /// The type that `text` spells, perhaps with asterisks behind it, looked for first beside `near`.
    pub(crate) fn spelled_near(&self, near: &Type, text: &str) -> Option<Type> {
        let name = text.trim_end_matches(['*', ' ']);
        let stars = text.get(name.len()..)?.matches('*').count();
        let word = self.core.target().word_size();
        // The names of C's own types stand for nothing else, and all modules would be searched for them.
        let base = basic::named(name.trim(), DataModel::of_word(word))
            .or_else(|| self.core.defined(near.debug_info(), name, |_| true))
            .or_else(|| self.named(None, name).ok())?;
        Some((0..stars).fold(base, |ty, _| ty.pointer(word as u64)))
    }
}

/// Where names are looked for.
pub struct Lookup<'a> {
    core: &'a Core,
    from: Option<CodeScope>,
    session: &'a SessionTypes,
    scope: Option<&'a str>,
}

impl<'a> Lookup<'a> {
    /// In a session, and in the module that stood before the backquote, else in all.
    pub const fn new(types: Types<'a>, session: &'a SessionTypes, scope: Option<&'a str>) -> Self {
        Self { core: types.core, from: types.from, session, scope }
    }

    /// The best type of that name: a definition, else a declaration.
    fn find(&self, name: &str, fits: impl Fn(&Type) -> bool) -> Result<Type, TypeLookupError> {
        if let Some(near) = self.seen_from_code(name).into_iter().find(&fits) {
            return Ok(near);
        }
        let mut declared = None;
        let mut described = false;
        for module in self.modules()? {
            let Some(info) = module.symbols().debug_info() else { continue };
            described = true;
            for ty in info.find_types(name).into_iter().filter(|ty| fits(ty)) {
                if !ty.node().is_declaration {
                    return Ok(ty);
                }
                declared.get_or_insert(ty);
            }
        }
        let why = if described { TypeLookupError::NotFound } else { TypeLookupError::NoDebugInfo };
        declared.ok_or(why)
    }

    /// What the blocks and the unit of the code define.
    fn seen_from_code(&self, name: &str) -> Vec<Type> {
        let from = self.from.filter(|_| self.scope.is_none());
        let Some(at) = from.and_then(|from| self.core.functions_at(from)) else {
            return Vec::new();
        };
        at.info.types_seen_from(at.functions(), name)
    }

    /// The modules in the order in which they are searched, that of the code first.
    pub(super) fn modules(&self) -> Result<Vec<&Module>, TypeLookupError> {
        let modules = self.core.modules();
        let Some(scope) = self.scope else {
            let own = self.from.and_then(|from| self.core.module_of(from));
            let is_other = |module: &&Module| own.is_none_or(|own| !std::ptr::eq(own, *module));
            return Ok(own.into_iter().chain(modules.in_scope_order().filter(is_other)).collect());
        };
        let named: Vec<&Module> = modules.named(scope).collect();
        if named.is_empty() { Err(TypeLookupError::UnknownModule) } else { Ok(named) }
    }

    fn basic(&self, name: &str) -> Option<Type> {
        basic::named(name, self.model())
    }
}

impl Names for Lookup<'_> {
    fn named(&self, tag: Option<Tag>, name: &str) -> Result<Type, TypeLookupError> {
        let spelled = match tag {
            Some(tag) => format!("{} {name}", tag.word()),
            None => name.to_owned(),
        };
        if let Some(own) = self.session.get(&spelled).filter(|_| self.scope.is_none()) {
            return Ok(own.ty.clone());
        }
        let chosen = tag.is_none() && self.session.model.is_some();
        if let Some(basic) = chosen.then(|| self.basic(name)).flatten() {
            return Ok(basic);
        }
        let found = self.find(&spelled, |ty| tag.is_none_or(|tag| has_tag(ty, tag)));
        found.or_else(|why| self.basic(name).filter(|_| tag.is_none()).ok_or(why))
    }

    fn model(&self) -> DataModel {
        let usual = || DataModel::of_word(self.core.target().word_size());
        self.session.model.unwrap_or_else(usual)
    }
}

/// Whether a type may stand behind the word. `struct` and `class` are the same to C++.
fn has_tag(ty: &Type, tag: Tag) -> bool {
    match (ty.kind(), tag) {
        (TypeKind::Enumeration(_), Tag::Enum) => true,
        (TypeKind::Composite(composite), Tag::Composite(keyword)) => {
            (composite.keyword == Keyword::Union) == (keyword == Keyword::Union)
        }
        // An enumeration of Rust that has data.
        (TypeKind::Composite(composite), Tag::Enum) => composite.variants.is_some(),
        _ => false,
    }
}
