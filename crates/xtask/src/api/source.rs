//! The modules of the workspace's crates, and where a name is defined.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{
    items::{Item, items_of},
    paths::{Import, imports},
};

/// How often one name may stand for another.
const MAX_STEPS: usize = 32;

/// A module: its crate, and the path in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Module {
    /// The crate, as it is written in code.
    pub in_crate: String,
    /// The modules around it, and it.
    pub path: Vec<String>,
}

/// A definition: where, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The module that has it.
    pub module: Module,
    /// The item.
    pub item: Item,
}

/// The source of the workspace. A file is read once.
pub struct Sources {
    root: PathBuf,
    read: RefCell<HashMap<PathBuf, Rc<Vec<Item>>>>,
}

impl Module {
    /// The root of a crate.
    pub fn root(name: &str) -> Self {
        Self { in_crate: name.to_owned(), path: Vec::new() }
    }

    /// A module in it.
    pub fn child(&self, name: &str) -> Self {
        let path = self.path.iter().cloned().chain([name.to_owned()]).collect();
        Self { path, ..self.clone() }
    }

    fn parent(&self) -> Self {
        let kept = self.path.len().saturating_sub(1);
        Self { path: self.path[..kept].to_vec(), ..self.clone() }
    }
}

impl Sources {
    /// Those of the workspace at `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.join("crates"), read: RefCell::default() }
    }

    /// The items of a module; none if it has no file of its own.
    pub fn items(&self, module: &Module) -> Rc<Vec<Item>> {
        let Some(path) = self.file(module) else { return Rc::default() };
        let mut read = self.read.borrow_mut();
        let items = read.entry(path).or_insert_with_key(|path| {
            let source = fs::read_to_string(path).unwrap_or_default();
            let items = items_of(&source).into_iter().filter(|item| !item.is_test());
            Rc::new(items.collect())
        });
        items.clone()
    }

    /// All modules of a crate that have files.
    pub fn modules(&self, in_crate: &str) -> Vec<Module> {
        let mut found = vec![Module::root(in_crate)];
        let mut next = 0;
        while let Some(module) = found.get(next).cloned() {
            let items = self.items(&module);
            let inner = items.iter().filter(|item| item.kind() == "mod" && item.body.is_none());
            found.extend(inner.filter_map(Item::name).map(|name| module.child(name)));
            next += 1;
        }
        found
    }

    /// What a name stands for in a module.
    pub fn find(&self, module: &Module, name: &str) -> Option<Definition> {
        self.find_within(module, name, MAX_STEPS)
    }

    fn find_within(&self, module: &Module, name: &str, steps: usize) -> Option<Definition> {
        let items = self.items(module);
        let mut own = items.iter().filter(|item| item.name() == Some(name));
        // A function may have the name of the module that it is brought from, which others do not see then.
        let import = items.iter().flat_map(imports).find(|import| import.name == name);
        let brought = || self.follow_within(module, &import?, steps.checked_sub(1)?);
        let define = |item: &Item| Definition { module: module.clone(), item: item.clone() };
        let seen = own.clone().find(|item| item.is_public()).map(define);
        seen.or_else(brought).or_else(|| own.next().map(define))
    }

    /// What an import of a module stands for.
    pub fn follow(&self, module: &Module, import: &Import) -> Option<Definition> {
        self.follow_within(module, import, MAX_STEPS)
    }

    fn follow_within(&self, module: &Module, import: &Import, steps: usize) -> Option<Definition> {
        let (first, rest) = import.path.split_first()?;
        let (name, between) = rest.split_last()?;
        let start = match first.as_str() {
            "crate" => Module::root(&module.in_crate),
            "self" => module.clone(),
            "super" => module.parent(),
            first if self.file(&Module::root(first)).is_some() => Module::root(first),
            first => module.child(first),
        };
        let inner = between.iter().try_fold(start, |at, name| match name.as_str() {
            "super" => Some(at.parent()),
            name => self.module_named(&at, name, steps),
        })?;
        self.find_within(&inner, name, steps)
    }

    /// A module by its name in another one, which may have it from elsewhere.
    fn module_named(&self, at: &Module, name: &str, steps: usize) -> Option<Module> {
        let own = at.child(name);
        if self.file(&own).is_some() {
            return Some(own);
        }
        let found = self.find_within(at, name, steps)?;
        Some(found.module.child(found.item.name()?))
    }

    fn file(&self, module: &Module) -> Option<PathBuf> {
        let source = self.root.join(module.in_crate.replace('_', "-")).join("src");
        let Some((last, above)) = module.path.split_last() else {
            return Some(source.join("lib.rs")).filter(|path| path.is_file());
        };
        let folder = above.iter().fold(source, |folder, name| folder.join(name));
        let files = [folder.join(format!("{last}.rs")), folder.join(last).join("mod.rs")];
        files.into_iter().find(|path| path.is_file())
    }
}
