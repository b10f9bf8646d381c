//! Printers that users declare in files: what objects of some types mean, by expressions over their members. Beside
//! them stand walkers and dcmds.
//!
//! A file cannot run code, open files or loop without a bound: it names types by patterns ([`TypePattern`]), says what
//! an object of one is ([`PrinterShape`]), and gives the parts by expressions of C, in which names are members of the
//! object. Two forms are read: kcore's own (`toml`) and natvis of Visual Studio (`natvis`).

mod custom;
mod dcmd;
mod dcmd_table;
mod error;
mod indexed;
mod natvis;
mod nodes;
mod pattern;
mod scope;
mod sets;
mod shape;
mod show;
#[cfg(test)]
mod tests;
mod toml;
mod walker;
mod walker_table;
mod without_declared;
mod words;
mod written;

pub use custom::{CustomAction, CustomStep, CustomSteps};
pub use dcmd::{
    DcmdAction, DcmdAddress, DcmdArgument, DcmdColumn, DeclaredDcmd, holds_for_element,
    over_element,
};
pub use error::PrinterFileError;
pub use pattern::TypePattern;
pub use shape::{HeldExpressions, NamedExpression, PrinterExpression, PrinterShape};
pub use walker::{DeclaredWalk, DeclaredWalker, WalkElement, WalkSteps, WalkTrouble};
pub use words::WordTemplate;

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use kcore_symbols::{Type, TypeKind};
use rustc_hash::FxHashMap;

use crate::{Content, Object, eval::Evaluator};

/// Typedefs on the way to a type, at most.
const MAX_ALIASES: usize = 32;
/// Troubles that are kept until somebody takes them.
const MAX_TROUBLES: usize = 64;

/// One printer of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredPrinter {
    /// Names of types that it is for.
    pub patterns: Vec<TypePattern>,
    /// What must be true of an object, if not all are meant.
    pub when: Option<PrinterExpression>,
    /// What an object is.
    pub shape: PrinterShape,
    /// The line of the file on which it begins, from 1.
    pub line: usize,
}

/// What one file declares.
#[derive(Debug)]
pub struct PrinterFile {
    /// What messages call it.
    pub name: Arc<str>,
    /// Its printers: of two that fit, the first counts.
    pub printers: Vec<DeclaredPrinter>,
    /// Its walkers, whose names differ.
    pub walkers: Vec<DeclaredWalker>,
    /// Its dcmds, whose names differ.
    pub dcmds: Vec<DeclaredDcmd>,
    /// Whether it comes with kcore: other releases of what it is for may be laid out otherwise, which is no trouble.
    pub is_shipped: bool,
    /// What of the file is not understood, and therefore left out, each with its line.
    pub left_out: Vec<String>,
    /// Printers by the last parts of names without arguments; those for names that a wildcard is in are in all of them.
    by_last_name: FxHashMap<String, Vec<usize>>,
    for_any_name: Vec<usize>,
}

impl PrinterFile {
    /// Reads a file: natvis if it begins with an angle bracket, else kcore's own form.
    ///
    /// # Errors
    /// When it is neither, with the line.
    pub fn parse(name: &str, text: &str) -> Result<Self, PrinterFileError> {
        let is_natvis = text.trim_start_matches('\u{feff}').trim_start().starts_with('<');
        if is_natvis {
            let (printers, left_out) = natvis::parse(text)?;
            return Ok(Self::new(name, printers, left_out));
        }
        let declared = toml::parse(text)?;
        let file = Self::new(name, declared.printers, Vec::new());
        Ok(Self { walkers: declared.walkers, dcmds: declared.dcmds, ..file })
    }

    fn new(name: &str, printers: Vec<DeclaredPrinter>, left_out: Vec<String>) -> Self {
        let mut by_last_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        let mut for_any_name = Vec::new();
        for (index, printer) in printers.iter().enumerate() {
            for pattern in &printer.patterns {
                match pattern.last_name() {
                    Some(last) => by_last_name.entry(last.to_owned()).or_default().push(index),
                    None => for_any_name.push(index),
                }
            }
        }
        let name = name.into();
        let (walkers, dcmds) = (Vec::new(), Vec::new());
        let is_shipped = false;
        Self { name, printers, walkers, dcmds, is_shipped, left_out, by_last_name, for_any_name }
    }

    /// Whether a printer may be for a type of this name, whose scopes do not matter.
    fn may_be_for(&self, name: &str) -> bool {
        !self.for_any_name.is_empty() || self.by_last_name.contains_key(pattern::last_name(name))
    }

    /// The printers that may be for a type of this name, in the order of the file.
    fn candidates(&self, name: &str) -> Vec<&DeclaredPrinter> {
        let named = self.by_last_name.get(pattern::last_name(name));
        let mut indices: Vec<usize> = named.into_iter().flatten().copied().collect();
        indices.extend(&self.for_any_name);
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().filter_map(|index| self.printers.get(index)).collect()
    }
}

/// The printers of a session: of two files the one that was loaded later counts. Copies share their troubles.
#[derive(Clone, Debug, Default)]
pub struct DeclaredPrinters {
    files: Vec<Arc<PrinterFile>>,
    troubles: Arc<Mutex<Troubles>>,
}

/// Why printers could not show what they are for.
#[derive(Debug, Default)]
struct Troubles {
    told: BTreeSet<String>,
    waiting: Vec<String>,
}

impl DeclaredPrinters {
    /// The printers that come with kcore, for libraries that many programs use.
    pub fn shipped() -> Self {
        Self { files: sets::all().to_vec(), ..Self::default() }
    }

    /// The files, in the order in which they were loaded.
    pub fn files(&self) -> &[Arc<PrinterFile>] {
        &self.files
    }

    /// The walker of this name, and the file that it is from.
    pub fn walker(&self, name: &str) -> Option<(&PrinterFile, &DeclaredWalker)> {
        self.walkers().find(|(_, walker)| &*walker.name == name)
    }

    /// The dcmd of this name, without `::`, and the file that it is from.
    pub fn dcmd(&self, name: &str) -> Option<(&PrinterFile, &DeclaredDcmd)> {
        self.dcmds().find(|(_, dcmd)| &*dcmd.name == name)
    }

    /// All walkers, each with its file; of two of one name the first counts.
    pub fn walkers(&self) -> impl Iterator<Item = (&PrinterFile, &DeclaredWalker)> {
        let files = self.files.iter().rev();
        files.flat_map(|file| file.walkers.iter().map(move |walker| (&**file, walker)))
    }

    /// All dcmds, each with its file; of two of one name the first counts.
    pub fn dcmds(&self) -> impl Iterator<Item = (&PrinterFile, &DeclaredDcmd)> {
        let files = self.files.iter().rev();
        files.flat_map(|file| file.dcmds.iter().map(move |dcmd| (&**file, dcmd)))
    }

    /// Adds a file, in place of one of the same name.
    pub fn load(&mut self, file: Arc<PrinterFile>) {
        self.files.retain(|old| old.name != file.name);
        self.files.push(file);
    }

    /// Drops the file of this name; false if there is none.
    pub fn unload(&mut self, name: &str) -> bool {
        let before = self.files.len();
        self.files.retain(|file| &*file.name != name);
        self.files.len() < before
    }

    /// What went wrong in printers since it was last asked for, each trouble once: file, line and reason. The objects
    /// were shown by their members.
    pub fn take_troubles(&self) -> Vec<String> {
        let Ok(mut troubles) = self.troubles.lock() else { return Vec::new() };
        std::mem::take(&mut troubles.waiting)
    }

    /// Adds a trouble, unless it was added before.
    pub fn note(&self, trouble: String) {
        let Ok(mut troubles) = self.troubles.lock() else { return };
        if troubles.told.len() < MAX_TROUBLES && troubles.told.insert(trouble.clone()) {
            troubles.waiting.push(trouble);
        }
    }

    /// What an object means by the first printer that fits; `None` without one.
    pub(crate) fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let names = self.names_of(&object.ty, evaluator);
        for file in self.files.iter().rev() {
            for (name, printer) in names.iter().flat_map(|name| {
                file.candidates(name).into_iter().map(move |printer| (name, printer))
            }) {
                let captures = printer.patterns.iter().find_map(|pattern| pattern.captures(name));
                let Some(captures) = captures else { continue };
                let troubles = RefCell::default();
                let shown = show::show(evaluator, object, (printer, &captures), &troubles);
                let mut troubles = troubles.into_inner();
                let content = shown.unwrap_or_else(|trouble| {
                    troubles.push(trouble);
                    None
                });
                for (line, why) in troubles.into_iter().filter(|_| !file.is_shipped) {
                    self.note(format!("{}:{line}: {why}", file.name));
                }
                if content.is_some() {
                    return content;
                }
            }
        }
        None
    }

    /// The names of a type that printers may be for: of its typedefs, the outermost one first, then its own.
    fn names_of(&self, ty: &Type, evaluator: &Evaluator<'_>) -> Vec<String> {
        let mut names = Vec::new();
        let mut add = |ty: &Type| {
            let is_one = |name: &str| self.files.iter().any(|file| file.may_be_for(name));
            names.extend(ty.name().filter(|name| is_one(name)).and_then(|_| ty.qualified_name()));
        };
        let mut ty = ty.clone();
        for _ in 0..MAX_ALIASES {
            let TypeKind::Alias(alias) = ty.kind() else { break };
            let Ok(to) = ty.follow(&alias.to) else { break };
            add(&ty);
            ty = to;
        }
        add(&evaluator.complete(&ty).unwrap_or(ty));
        names
    }
}
