//! The modules of a process, by address and by name.

use kcore_elf::CoreSpace;
use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Cfi;
use std::sync::Arc;

use crate::Module;

/// Execute permission in the flags of a segment.
const PF_X: u32 = 1;
/// Code at the entry point that counts as the outermost function, in bytes: `_start` is shorter on
/// every known system.
const ENTRY_SIZE: u64 = 64;
/// The same where a symbol tells that the function goes on: old programs of s390 have one of more than 256 bytes.
const MAX_ENTRY_SIZE: u64 = 1024;

/// The modules of a process.
pub struct ModuleSet {
    modules: Vec<Module>,
    /// Mappings of modules by their first address, with the module's index.
    ranges: Vec<(AddrRange, usize)>,
    space: Option<Arc<CoreSpace>>,
}

impl ModuleSet {
    pub(crate) fn new(modules: Vec<Module>, space: Option<Arc<CoreSpace>>) -> Self {
        let mut ranges: Vec<_> = modules
            .iter()
            .enumerate()
            .flat_map(|(index, module)| module.ranges().map(move |range| (range, index)))
            .collect();
        ranges.sort_by_key(|(range, _)| range.start);
        Self { modules, ranges, space }
    }

    /// The modules, lowest address first.
    pub fn all(&self) -> &[Module] {
        &self.modules
    }

    /// The executable.
    pub fn exe(&self) -> Option<&Module> {
        self.modules.iter().find(|module| module.is_exe())
    }

    /// The module that is mapped at `at`. What lies directly behind a module's file mappings
    /// (`.bss`) belongs to it as well.
    pub fn at(&self, at: Addr) -> Option<&Module> {
        self.modules.get(self.index_at(at)?)
    }

    /// The index of that module among all.
    pub(crate) fn index_at(&self, at: Addr) -> Option<usize> {
        let after = self.ranges.partition_point(|(range, _)| range.start <= at);
        let (range, index) = self.ranges.get(after.checked_sub(1)?)?;
        let module = self.modules.get(*index)?;
        (range.contains(at) || in_bss(module, at)).then_some(*index)
    }

    /// The modules of a name: a path, its last part, that cut at any dot, or `a.out` for the
    /// executable. The executable comes first, then lowest addresses.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Module> {
        let exe = self.modules.iter().filter(|module| module.is_exe());
        let others = self.modules.iter().filter(|module| !module.is_exe());
        exe.chain(others).filter(move |module| is_called(module, name))
    }

    /// The executable first, then the others, lowest address first: the order in which symbols are
    /// looked up.
    pub fn in_scope_order(&self) -> impl Iterator<Item = &Module> {
        let exe = self.modules.iter().filter(|module| module.is_exe());
        exe.chain(self.modules.iter().filter(|module| !module.is_exe()))
    }
}

/// Whether `at` lies within a segment, though not in what is mapped of the file. A copy of a part of the file has no such
/// segments: V8 puts machine code right behind its own copies of a part of the executable.
fn in_bss(module: &Module, at: Addr) -> bool {
    if module.mapped().copy_of.is_some() {
        return false;
    }
    let Some(svma) = module.svma(at) else { return false };
    let mut loads = module.segments().iter().filter(|segment| segment.is_load());
    loads.any(|segment| svma.offset_from(segment.svma).is_some_and(|into| into < segment.mem_size))
}

fn is_called(module: &Module, name: &str) -> bool {
    let own = module.name();
    let unversioned = own.split(".so").next().unwrap_or(own);
    own == name
        || module.path() == name
        || own.strip_prefix(name).is_some_and(|version| version.starts_with('.'))
        || unversioned == name.trim_end_matches(".so")
        || (module.is_exe() && name == "a.out")
}

impl kcore_unwind::Modules for ModuleSet {
    fn cfi_at(&self, at: Addr) -> Option<&Cfi> {
        self.at(at)?.cfi()
    }

    fn is_code(&self, at: Addr) -> bool {
        if let Some(segment) = self.space.as_ref().and_then(|space| space.segment_at(at)) {
            return segment.flags & PF_X != 0;
        }
        self.at(at).is_some_and(|module| {
            module.file_bytes(at).is_some_and(|(_, segment)| segment.is_executable())
        })
    }

    fn is_in_module(&self, at: Addr) -> bool {
        self.at(at).is_some()
    }

    fn function_before(&self, at: Addr) -> Option<AddrRange> {
        let module = self.at(at)?;
        let svma = module.svma(at)?;
        let table = module.symbols().table();
        let symbol = table.find(svma).or_else(|| table.find_before(svma))?;
        Some(AddrRange::with_len(module.addr(symbol.value())?, symbol.extent()))
    }

    fn is_entry(&self, at: Addr) -> bool {
        let entry = self.at(at).and_then(Module::entry);
        let is_near = |entry: &Addr| AddrRange::with_len(*entry, MAX_ENTRY_SIZE).contains(at);
        entry.filter(is_near).is_some_and(|entry| match self.function_before(at) {
            Some(function) if function.start == entry => function.contains(at),
            function => {
                AddrRange::with_len(entry, ENTRY_SIZE).contains(at)
                    && function.is_none_or(|function| function.start < entry)
            }
        })
    }

    fn is_first_on_stack(&self, at: Addr) -> bool {
        self.at(at).is_some_and(|module| module.is_first_on_stack(at))
    }
}
