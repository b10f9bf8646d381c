//! The debug information of one module: its entries by where they lie, and the types that were read
//! of them.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, RwLock, atomic::AtomicU32},
};

use kcore_elf::Image;
use kcore_mem::{Budget, Built, Svma};
use rustc_hash::FxHashMap;

use crate::{
    Language, SplitFiles, SplitName, Type, TypeError, TypeNode,
    dwarf::{self, Files, Splits, Unit, UnitOffset, Which},
    index::{IndexCache, IndexFile, NameIndex},
    runtime_types::RuntimeTypes,
    types,
};

/// Types that are remembered; beyond it all are forgotten, and read again when they are asked for.
const MAX_TYPES: usize = 1 << 18;

/// Where an entry of debug information lies: in which file's `.debug_info`, and how far in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DieId {
    pub(crate) which: Which,
    pub(crate) offset: usize,
}

impl fmt::Display for DieId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = match self.which {
            Which::Main => "",
            Which::Types => "type unit ",
            Which::Supplementary => "the supplementary file's ",
            Which::Split(_) => "the split unit's ",
            Which::SplitTypes(_) | Which::PackageTypes(_) => "the split type unit's ",
        };
        write!(f, "{file}{:#x}", self.offset)
    }
}

/// What debug information needs from where files are.
#[derive(Clone, Default)]
pub struct DebugContext {
    /// Finds the files of units that were split off. Without it those are unknown.
    pub split: Option<Arc<dyn SplitFiles>>,
    /// Keeps what is costly to work out for big modules. Without it that is done each time.
    pub cache: Option<Arc<dyn IndexCache>>,
}

/// The debug information of one module. Nothing is read before it is asked for, and threads may
/// share it.
pub struct DebugInfo {
    files: Arc<Files>,
    /// Without the way back to this, by which it would keep itself alive.
    types: RwLock<FxHashMap<DieId, Arc<TypeNode>>>,
    pub(crate) kept: Option<IndexFile>,
    pub(crate) names: Built<NameIndex>,
    /// How often a name was looked for.
    pub(crate) asked: AtomicU32,
    pub(crate) vtables: Built<BTreeMap<Svma, DieId>>,
    pub(crate) runtime_types: Built<RuntimeTypes>,
}

impl DebugInfo {
    /// The debug information of a file, with the file that `.gnu_debugaltlink` names.
    pub fn open(image: &Image, supplementary: Option<&Image>) -> Self {
        Self::open_with(image, supplementary, &DebugContext::default())
    }

    /// The same, with what else the debug information may need from where files are.
    pub fn open_with(image: &Image, supplementary: Option<&Image>, context: &DebugContext) -> Self {
        let files = Arc::new(Files::open(image, supplementary, context.split.clone()));
        let kept = context.cache.clone().zip(image.build_id());
        Self {
            files,
            types: RwLock::default(),
            kept: kept.map(|(cache, build_id)| IndexFile::new(cache, build_id)),
            names: Built::new(),
            asked: AtomicU32::new(0),
            vtables: Built::new(),
            runtime_types: Built::new(),
        }
    }

    /// The files of split units that were looked for and not found, as their skeletons name them.
    pub fn missing_files(&self) -> Vec<SplitName> {
        let splits = self.files.known_splits();
        splits.into_iter().flat_map(|splits| splits.missing().cloned()).collect()
    }

    /// How often such a file was needed for an answer.
    pub fn times_missed(&self) -> u64 {
        self.files.known_splits().map_or(0, Splits::missed)
    }

    /// Says when its readers have to end.
    pub(crate) fn budget(&self) -> &Budget {
        &self.files.main.file.budget
    }

    /// The files that it is read from.
    pub(crate) const fn files(&self) -> &Arc<Files> {
        &self.files
    }

    /// The unit that an entry lies in, and where in it.
    pub(crate) fn place(&self, id: DieId) -> dwarf::Result<(Arc<Unit>, UnitOffset)> {
        self.files.place(id.which, id.offset)
    }

    /// The type that an entry describes.
    ///
    /// # Errors
    /// When there is no such entry, it is no type, or it is damaged.
    pub fn type_at(self: &Arc<Self>, id: DieId) -> Result<Type, TypeError> {
        let known = self.types.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        if let Some(known) = known {
            return Ok(Type::of(Arc::clone(self), known));
        }
        let node = Arc::new(types::read(self, id)?);
        if self.budget().is_halted() {
            return Ok(Type::of(Arc::clone(self), node));
        }
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        if types.len() >= MAX_TYPES {
            types.clear();
        }
        types.insert(id, Arc::clone(&node));
        drop(types);
        Ok(Type::of(Arc::clone(self), node))
    }

    /// The language of the unit that an entry lies in.
    pub fn language_of(&self, id: DieId) -> Option<Language> {
        self.place(id).ok()?.0.language
    }

    /// The main source file of the unit that an entry lies in, as the compiler was given it. `None` of what
    /// several units share.
    pub fn source_file_of(&self, id: DieId) -> Option<String> {
        self.place(id).ok()?.0.source_file()
    }

    /// Whether clang made the unit that an entry lies in.
    pub fn is_of_clang(&self, id: DieId) -> bool {
        self.place(id).is_ok_and(|place| place.0.is_of_clang)
    }

    /// The names of the namespaces, modules and types around an entry, outermost first.
    pub fn scope_of(&self, id: DieId) -> Vec<Arc<str>> {
        types::scope_of(self, id).unwrap_or_default()
    }
}

impl fmt::Debug for DebugInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DebugInfo").finish_non_exhaustive()
    }
}
