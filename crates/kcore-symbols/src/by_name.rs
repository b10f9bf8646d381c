//! Types, variables and functions of a module by their names.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
};

use kcore_mem::Svma;

use crate::{
    DebugInfo, DieId, Type, TypeKind,
    index::{IndexQuery, NameIndex, What, find, find_exact, named},
    types::vtable,
};

/// Names that are looked for before the index of all is made, where the file has one of its own.
const SELDOM: u32 = 8;

impl DebugInfo {
    /// The types that a name means, as somebody would type it: `struct node`, `unsigned long`,
    /// `std::vector<int>` without the arguments that follow from the others, `Inner` for
    /// `ns::Outer::Inner`. Inline namespaces need not be typed.
    ///
    /// Where the very name is defined, there are no others in the answer: a type of the very scope
    /// counts more than one of another, a definition more than a declaration. Of several that differ in
    /// size the one comes first that stands first. A template without arguments means any of its
    /// instances.
    pub fn find_types(self: &Arc<Self>, name: &str) -> Vec<Type> {
        let sought = IndexQuery::types(name);
        let types = |ids: Vec<DieId>| -> Vec<Type> {
            let types = ids.into_iter().filter_map(|id| self.type_at(id).ok());
            types.filter(|ty| sought.keyword().is_none_or(|word| is_called(ty, word))).collect()
        };
        let listed = self.find_listed(&sought).map(types).filter(|found| !found.is_empty());
        listed.unwrap_or_else(|| {
            let found = find(self, self.names(), &sought);
            // Where nobody used an alias by its name, compilers leave it out.
            let alias = sought.behind_alias().filter(|_| found.is_empty());
            types(alias.map_or(found, |alias| find(self, self.names(), &alias)))
        })
    }

    /// The variables of that name that lie at one place, or at one for each thread: global and static
    /// ones, those of classes and of functions too; and those outside of functions that lie nowhere.
    /// Definitions before declarations, ordered as [`DebugInfo::find_types`].
    pub fn find_variables(&self, name: &str) -> Vec<DieId> {
        self.find_entries(&IndexQuery::new(name, What::Variable))
    }

    /// The functions of that name that have code, ordered as [`DebugInfo::find_types`].
    pub fn find_functions(&self, name: &str) -> Vec<DieId> {
        self.find_entries(&IndexQuery::new(name, What::Function))
    }

    pub(crate) fn find_entries(&self, sought: &IndexQuery<'_>) -> Vec<DieId> {
        let listed = self.find_listed(sought);
        listed.unwrap_or_else(|| find(self, self.names(), sought))
    }

    /// What is found in the units that an index in the file names; `None` where all are to be looked
    /// at. Who asks often is better served by an index of all.
    fn find_listed(&self, sought: &IndexQuery<'_>) -> Option<Vec<DieId>> {
        let is_seldom = || self.asked.fetch_add(1, Ordering::Relaxed) < SELDOM;
        if self.names.get().is_some() || !is_seldom() {
            return None;
        }
        if let Some(kept) = NameIndex::load(self.files(), self.kept.as_ref()) {
            self.names.set(kept);
            return None;
        }
        find_exact(self, &NameIndex::of_listed(self.files(), sought.stem())?, sought)
    }

    /// Calls `each` with all types that have a name and that name with its scopes, in no useful order,
    /// until it says stop. Of types that are described several times in the same way there is one.
    pub fn each_type(&self, each: impl FnMut(DieId, &str) -> ControlFlow<()>) {
        self.each(What::Type, each);
    }

    /// The same with the variables of [`DebugInfo::find_variables`].
    pub fn each_variable(&self, each: impl FnMut(DieId, &str) -> ControlFlow<()>) {
        self.each(What::Variable, each);
    }

    fn each(&self, what: What, mut each: impl FnMut(DieId, &str) -> ControlFlow<()>) {
        let index = self.names();
        let wanted = index.records().filter(|record| record.what() == what);
        for record in wanted {
            let (Some(id), Some(named)) = (index.place(&record), named(self, index, &record))
            else {
                continue;
            };
            if each(id, &named.qualified()).is_break() {
                return;
            }
        }
    }

    /// The type whose methods the table of functions at an address has, as `rustc` describes it:
    /// what a `dyn Trait` with that table really is.
    pub fn type_of_vtable(self: &Arc<Self>, table: Svma) -> Option<Type> {
        let id = self.vtable_types().get(&table)?;
        self.type_at(*id).ok()
    }

    /// All tables of virtual functions that `rustc` describes, with the type that each belongs to.
    pub fn vtable_types(&self) -> &BTreeMap<Svma, DieId> {
        self.vtables.get_or_build(self.budget(), || {
            let index = self.names();
            let tables = index.with_stem(IndexQuery::new("{vtable}", What::Variable).stem());
            let places = tables.filter_map(|record| index.place(&record));
            places.filter_map(|id| vtable(self, id)).collect()
        })
    }

    /// The index of all names. It is made when the first is asked for.
    fn names(&self) -> &NameIndex {
        self.names.get_or_build(self.budget(), || NameIndex::open(self.files(), self.kept.as_ref()))
    }
}

/// Whether a type is what the keyword before its name says: `struct` and `class` are one in C++.
pub(crate) fn is_called(ty: &Type, keyword: &str) -> bool {
    use crate::Keyword::{Class, Struct, Union};
    match (ty.kind(), keyword) {
        (TypeKind::Composite(composite), "struct" | "class") => {
            matches!(composite.keyword, Struct | Class)
        }
        // An enumeration of Rust that has data.
        (TypeKind::Composite(composite), "enum") => composite.variants.is_some(),
        (TypeKind::Composite(composite), "union") => composite.keyword == Union,
        (TypeKind::Enumeration(_), "enum") => true,
        _ => false,
    }
}
