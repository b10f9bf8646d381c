//! The symbols of one module, joined: which function holds an address, and by which name.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_elf::Image;
use kcore_mem::{Budget, Built, Svma};
use rustc_hash::FxHashMap;

use crate::{
    DebugContext, DebugInfo, DieId, Language, Lines, SymbolId, SymbolRef, SymbolTable, demangle,
    demangle_ada,
    long_name::{RawName, shown},
    names::NameAt,
    types,
};

/// Demangled names that are remembered; beyond it all are forgotten.
const MAX_CACHED: usize = 1 << 17;

/// Packages of Ada and of GNAT, as names of what is in them begin.
const ADA_PACKAGES: [&str; 4] = ["ada.", "gnat.", "interfaces.", "system."];

/// Bytes of symbols that are read in about the time that a second thread takes to start.
const BIG: u64 = 1 << 20;

/// The function, or the data, that an address lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its symbol.
    pub symbol: SymbolId,
    /// Its name, demangled, without parameters; see [`crate::Demangled::function`]. Of a name of more than 4 KiB
    /// its beginning, and `...`.
    pub name: Arc<str>,
    /// Where it begins.
    pub start: Svma,
    /// Bytes that it covers, see [`crate::SymbolRef::extent`].
    pub size: u64,
    /// Whether its table gives that size.
    pub sized: bool,
}

/// All that is known of a module's names and lines. Everything is read when first asked for.
#[derive(Debug)]
pub struct ModuleSymbols {
    image: Option<Arc<Image>>,
    debug: Option<Arc<Image>>,
    table: Built<SymbolTable>,
    budget: Budget,
    lines: Lines,
    by_place: RwLock<FxHashMap<NameAt, Arc<str>>>,
    by_name: RwLock<FxHashMap<RawName, Arc<str>>>,
    has_ada: OnceLock<bool>,
}

impl ModuleSymbols {
    /// The symbols of a module's file and of its separate debug file.
    pub fn new(image: Option<Arc<Image>>, debug: Option<Arc<Image>>) -> Self {
        Self::with_supplementary(image, debug, None, DebugContext::default())
    }

    /// The same, with the file that `.gnu_debugaltlink` names, and with what else debug information
    /// needs.
    pub fn with_supplementary(
        image: Option<Arc<Image>>,
        debug: Option<Arc<Image>>,
        supplementary: Option<Arc<Image>>,
        context: DebugContext,
    ) -> Self {
        let budget = image.as_ref().or(debug.as_ref()).map(|image| image.budget().clone());
        let budget = budget.unwrap_or_default();
        let lines = Lines::with_supplementary(image.clone(), debug.clone(), supplementary, context);
        Self {
            image,
            debug,
            table: Built::new(),
            budget,
            lines,
            by_place: RwLock::default(),
            by_name: RwLock::default(),
            has_ada: OnceLock::new(),
        }
    }

    /// The symbols of a module that has no file: those that were read in memory.
    pub fn from_table(table: SymbolTable) -> Self {
        Self { table: Built::of(table), ..Self::new(None, None) }
    }

    /// Makes ready what an address is looked up in. Where symbols and debug information are big, both
    /// are read at the same time.
    pub fn prepare(&self) {
        if self.table.get().is_some() || !self.is_big() {
            return;
        }
        kcore_parallel::join(|| self.table().prepare(), || self.lines.prepare());
    }

    fn is_big(&self) -> bool {
        let sections = [(&self.image, ".symtab"), (&self.debug, ".symtab")];
        let size = |(image, name): (&Option<Arc<Image>>, &str)| {
            image.as_ref()?.section(name).map(|section| section.size)
        };
        sections.into_iter().filter_map(size).sum::<u64>() > BIG
    }

    /// The symbol table.
    pub fn table(&self) -> &SymbolTable {
        let read = || SymbolTable::from_images(self.image.as_deref(), self.debug.as_deref());
        self.table.get_or_build(&self.budget, read)
    }

    /// The source lines.
    pub const fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The debug information, if the module has any.
    pub fn debug_info(&self) -> Option<&Arc<DebugInfo>> {
        self.lines.debug_info()
    }

    /// The function that holds `svma`, as debug information has it: its entry, and its name with its scopes, and with
    /// all arguments where it is generic. Inlined calls do not count.
    pub fn described_function(&self, svma: Svma) -> Option<(&Arc<DebugInfo>, DieId, String)> {
        let (info, id) = self.lines().function_at(svma).ok()??;
        Some((info, id, types::named(info, id).ok()??.qualified()))
    }

    /// The function, or the data, that covers `svma` by the symbol table. For a return address ask
    /// for the byte before it.
    pub fn function_at(&self, svma: Svma) -> Option<Function> {
        self.named(self.table().find(svma)?)
    }

    /// The last symbol that begins at or before `svma`, whether it reaches that far or not.
    pub fn function_before(&self, svma: Svma) -> Option<Function> {
        self.named(self.table().find_before(svma)?)
    }

    fn named(&self, symbol: SymbolRef<'_>) -> Option<Function> {
        Some(Function {
            symbol: symbol.id(),
            name: self.name_of(symbol.id())?,
            start: symbol.value(),
            size: symbol.extent(),
            sized: symbol.size() > 0,
        })
    }

    /// The demangled name of a symbol, without parameters, as [`Function::name`].
    pub fn name_of(&self, id: SymbolId) -> Option<Arc<str>> {
        let symbol = self.table().get(id)?;
        // Symbols may share a name of any length.
        let place = symbol.entry.name;
        let known =
            self.by_place.read().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        known.or_else(|| {
            let ada = self.ada_name(symbol);
            let name = ada.unwrap_or_else(|| shown(&demangle(symbol.name()).function));
            remember(&self.by_place, place, Arc::clone(&name));
            Some(name)
        })
    }

    /// The name of a function that is Ada: by its unit, or, where no debug information tells, by a package that
    /// belongs to the language, or by GNAT's mark of a subprogram in none.
    fn ada_name(&self, symbol: SymbolRef<'_>) -> Option<Arc<str>> {
        let name = demangle_ada(symbol.name()).filter(|_| self.has_ada())?.function;
        let lines = self.lines.find(symbol.value());
        let is_ada = match lines.last().and_then(|outer| outer.language) {
            Some(language) => language == Language::Ada,
            None => {
                symbol.name_begins_with(b"_ada_")
                    || ADA_PACKAGES.iter().any(|package| name.starts_with(package))
            }
        };
        is_ada.then(|| shown(&name))
    }

    /// Whether code of Ada is in the module: GNAT's calls functions of its own.
    fn has_ada(&self) -> bool {
        *self
            .has_ada
            .get_or_init(|| self.table().iter().any(|symbol| symbol.name_begins_with(b"__gnat_")))
    }

    /// A raw name of a unit in some language, as [`ModuleSymbols::demangled`].
    pub fn demangled_in(&self, raw: &Arc<str>, language: Option<Language>) -> Arc<str> {
        let ada = Some(raw).filter(|_| language == Some(Language::Ada));
        let ada = ada.and_then(|raw| demangle_ada(raw.as_bytes()));
        ada.map_or_else(|| self.demangled(raw), |name| shown(&name.function))
    }

    /// A raw name, such as [`crate::LineFrame::function`], demangled and without parameters, as
    /// [`Function::name`].
    pub fn demangled(&self, raw: &Arc<str>) -> Arc<str> {
        let key = RawName(Arc::clone(raw));
        let known = self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        known.unwrap_or_else(|| {
            let name = shown(&demangle(raw.as_bytes()).function);
            remember(&self.by_name, key, Arc::clone(&name));
            name
        })
    }
}

fn remember<K: Eq + std::hash::Hash, V>(cache: &RwLock<FxHashMap<K, V>>, key: K, value: V) {
    let mut cache = cache.write().unwrap_or_else(PoisonError::into_inner);
    if cache.len() >= MAX_CACHED {
        cache.clear();
    }
    cache.insert(key, value);
}
