//! Opening a core, or an executable alone.

#[cfg(feature = "live")]
mod later;

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsStr,
    fmt,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, atomic::AtomicBool},
};

use kcore_elf::{
    BuildId, CoreFile, CoreSpace, FileBytes, Image, LinkMapEntry, MappedModule, MappedRange,
    ModuleFiles, ParseError, modules_of,
};
use kcore_files::bundle::is_bundle_file;
use kcore_files::{
    CacheDir, CoreSource, FilePlace, FilesError, Finder, Format, OpenedCore, Progress, Reach,
    SYSTEM_DEBUG_DIR, SearchPaths, SearchedPlace, WantedModule, open_core, open_regular,
};
#[cfg(feature = "live")]
use kcore_live::LiveError;
use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, Budget, Built, Target};
use kcore_runtimes::{
    ANCHORS, Anchors, FindAnchor, PROBES, Probe, Runtimes, TASK_PROBES, TaskProbe,
};
use kcore_unwind::{Knowledge, Machine, machine};

use crate::{
    FileView, FoundContext, Module, ModuleSet, ProcessSpace, ProcessView, Stack, Thread, Tid,
    Waits,
    by_file::{CfiByFile, SymbolsByFile},
    code_scope::LastScope,
    location_cache::LocationCache,
    made_names::MadeNames,
    mapping::Mapping,
    module::{ModuleContext, found_file},
    native_heap::HeapCache,
    process_code::ProcessCode,
    snapshot::LiveParts,
    source_maps::SourceMapFiles,
    stack_owners::StackOwners,
    tail_calls::TailCallCache,
    task::Tasks,
    thread::threads_of,
    tls::{Linker, ThreadAreas},
    variables::ScopesCache,
    vtable_cache::VtableCache,
};

/// What to open, and where to look for its files.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The core; `-` is standard input. `None`: the executable alone.
    pub core: Option<PathBuf>,
    /// The executable, when the core's own record of it is wrong or gone.
    pub exe: Option<PathBuf>,
    /// The root of the file system that the process saw: its files are those under this directory, and no others
    /// but what lies beside the core, the executable that is named here, and what has the right build-id in
    /// `debug_dirs`.
    pub sysroot: Option<PathBuf>,
    /// With a sysroot: files of this machine are looked at too, after those under it.
    pub host_files: bool,
    /// Nobody trusts the core: no file is read but those under the sysroot, in the folder of the core and in
    /// `debug_dirs`, and no link there leads out of them.
    pub untrusted: bool,
    /// More directories in the build-id layout.
    pub debug_dirs: Vec<PathBuf>,
    /// Folders of the process, and the folders that have their files and sources here.
    pub path_map: Vec<(PathBuf, PathBuf)>,
    /// The layers of the container that the process ran in, the lowest first: folders, or tar archives of a layer or of
    /// an image. As with a sysroot, files of this machine count no more.
    pub layers: Vec<PathBuf>,
    /// The places where files are looked for, in this order, and no others; `None`: [`SearchedPlace::IN_ORDER`].
    pub searched: Option<Vec<SearchedPlace>>,
    /// Places of the program's own where files are looked for that no other place has.
    pub places: Vec<Arc<dyn FilePlace>>,
    /// Files that name code which a JIT made: `perf-PID.map` or `jit-PID.dump`, whatever they are called. Those of the
    /// core's process that lie beside it are read without being named.
    pub code_maps: Vec<PathBuf>,
    /// Source maps of scripts, and folders of them. Those that the scripts hold themselves, and that lie beside them, are
    /// read without being named.
    pub source_maps: Vec<PathBuf>,
    /// Where to keep what is costly to work out: indexes of big debug information. `None`: nowhere.
    pub cache_dir: Option<PathBuf>,
    /// The runtimes that are looked for: all that kcore knows, and whatever an embedder adds.
    pub probes: Probes,
    /// Whether runtimes of versions whose layouts are not known are decoded by those of the nearest
    /// one; see [`Core::set_nearest_layouts`].
    pub nearest_layouts: bool,
    /// The limits of commands about the core.
    pub budget: Budget,
}

impl OpenOptions {
    /// A core, whose files are looked for where it says, beside it, and in the system's folder of debug files.
    pub fn of_core(path: impl Into<PathBuf>) -> Self {
        Self { core: Some(path.into()), ..Self::default() }
    }

    /// An executable alone.
    pub fn of_exe(path: impl Into<PathBuf>) -> Self {
        Self { exe: Some(path.into()), ..Self::default() }
    }

    /// The same with a place of the program's own for files.
    #[must_use]
    pub fn with_place(mut self, place: impl FilePlace + 'static) -> Self {
        self.places.push(Arc::new(place));
        self
    }

    /// The same with other probes for runtimes.
    #[must_use]
    pub fn with_probes(self, probes: Probes) -> Self {
        Self { probes, ..self }
    }
}

/// Probes for runtimes; by default those that kcore has.
#[derive(Clone, Copy)]
pub struct Probes {
    /// For runtimes of languages.
    pub runtimes: &'static [Probe],
    /// For libraries that keep stacks alone.
    pub tasks: &'static [TaskProbe],
    /// For the way out of code of runtimes of which nothing is decoded.
    pub anchors: &'static [FindAnchor],
}

impl Probes {
    /// Nothing is looked for: all frames are native ones.
    pub const NONE: Self = Self { runtimes: &[], tasks: &[], anchors: &[] };
}

impl Default for Probes {
    fn default() -> Self {
        Self { runtimes: PROBES, tasks: TASK_PROBES, anchors: ANCHORS }
    }
}

impl fmt::Debug for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = self.tasks.iter().map(|task| &task.probe);
        f.debug_list().entries(self.runtimes.iter().chain(tasks).map(|probe| probe.name)).finish()
    }
}

/// Why nothing could be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Neither a core nor an executable was named.
    #[error("no core and no executable was named")]
    Nothing,
    /// A file could not be opened or unpacked.
    #[error(transparent)]
    File(#[from] FilesError),
    /// A file is not what it should be.
    #[error("{path}: {error}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ParseError,
    },
    /// A live process cannot be looked at.
    #[cfg(feature = "live")]
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The executable could not be read.
    #[error("{path}: {error}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

/// What only a core has, and an executable alone has not.
pub(crate) struct CoreParts {
    pub(crate) file: CoreFile,
    pub(crate) space: Arc<CoreSpace>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) thread_index: HashMap<Tid, usize>,
    pub(crate) path: Option<PathBuf>,
    /// How the core was compressed, if it was.
    pub(crate) compressed: Option<Format>,
    /// What its format cannot hold, if that is another one than a core's.
    pub(crate) lacks: Option<&'static str>,
    /// What went wrong while it was unpacked.
    pub(crate) unpack_note: Option<String>,
    /// What belongs to the snapshot of a live process alone.
    pub(crate) live: Option<LiveParts>,
}

/// An opened core: a process as it was. It never changes, and threads may share it.
///
/// An executable alone opens as well: it has modules, symbols and code, and no threads.
pub struct Core {
    target: Target,
    pub(crate) machine: Option<Box<dyn Machine>>,
    pub(crate) parts: Option<CoreParts>,
    modules: Arc<ModuleSet>,
    space: Arc<ProcessSpace>,
    /// What the walker asks about code.
    code: ProcessCode,
    pub(crate) mappings: OnceLock<Vec<Mapping>>,
    /// The stack pointers of all threads, lowest first.
    pub(crate) stack_pointers: OnceLock<Vec<(Addr, Tid)>>,
    /// Where the long stacks of the command lie.
    pub(crate) stack_owners: StackOwners,
    pub(crate) locations: Arc<LocationCache>,
    pub(crate) tail_calls: Arc<TailCallCache>,
    pub(crate) scopes: ScopesCache,
    pub(crate) vtables: VtableCache,
    pub(crate) last_scope: LastScope,
    pub(crate) knowledge: Arc<Knowledge>,
    pub(crate) finder: Finder,
    pub(crate) source_map_files: SourceMapFiles,
    pub(crate) link_map: OnceLock<Vec<LinkMapEntry>>,
    pub(crate) linker: Built<Linker>,
    pub(crate) thread_areas: Built<ThreadAreas>,
    pub(crate) probes: Probes,
    untrusted: bool,
    pub(crate) runtimes: Built<Arc<Runtimes>>,
    pub(crate) anchors: Built<Arc<Anchors>>,
    pub(crate) task_runtimes: Built<Runtimes>,
    pub(crate) tasks: Built<Tasks>,
    pub(crate) waits: Built<Waits>,
    pub(crate) found_contexts: Built<Vec<FoundContext>>,
    pub(crate) native_heaps: HeapCache,
    /// How runtimes are decoded, not what the process is: a session may change it.
    pub(crate) nearest_layouts: AtomicBool,
    /// Stacks that the threads walked themselves.
    pub(crate) walked: HashMap<Tid, Stack>,
}

impl<'c> FileView<'c> {
    /// How the core file is compressed, if it is.
    pub fn compression(self) -> Option<String> {
        self.core.parts.as_ref()?.compressed.map(|format| format.to_string())
    }

    /// Files of [`OpenOptions::code_maps`] that name no code. They are read for that.
    pub fn code_maps_without_names(self) -> Vec<&'c Path> {
        self.core.code.names.nameless()
    }
}

impl FileView<'_> {
    /// Files of [`OpenOptions::source_maps`] that are no source maps, and why. They are read for that.
    pub fn refused_source_maps(self) -> Vec<(PathBuf, String)> {
        let refused = self.core.source_map_files.refused();
        refused.map(|(path, why)| (path.to_owned(), why.to_owned())).collect()
    }
}

impl<'c> ProcessView<'c> {
    /// The build-id of the executable as it was mapped.
    pub fn build_id(self) -> Option<&'c BuildId> {
        self.core.modules.exe()?.build_id()
    }
}

impl Core {
    /// Opens a core, or an executable alone.
    ///
    /// # Errors
    /// When the file cannot be read, or is not ELF. Damage within a core is no error: see
    /// [`Core::doubts`].
    pub fn open(options: &OpenOptions) -> Result<Self, OpenError> {
        Self::open_with_progress(options, &mut |_| {})
    }

    /// As [`Core::open`], telling how far the unpacking of a compressed core has come.
    ///
    /// # Errors
    /// As [`Core::open`].
    pub fn open_with_progress(
        options: &OpenOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, OpenError> {
        match (&options.core, &options.exe) {
            (Some(core), _) => Self::open_core(core, options, progress),
            (None, Some(exe)) => Self::open_exe(exe, options),
            (None, None) => Err(OpenError::Nothing),
        }
    }

    fn open_core(
        path: &Path,
        options: &OpenOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, OpenError> {
        let source = if path == Path::new("-") {
            CoreSource::Stdin
        } else {
            CoreSource::Path(path.to_owned())
        };
        let of_bundle = source != CoreSource::Stdin && is_bundle_file(path);
        let options = &if of_bundle { with_layer(options, path) } else { options.clone() };
        let OpenedCore { bytes, compressed, note, lacks } = open_core(&source, progress)?;
        let file = CoreFile::parse(bytes)
            .map_err(|error| OpenError::Parse { path: path.to_owned(), error })?;
        let space = Arc::new(CoreSpace::new(&file));
        let threads = threads_of(&file);
        let thread_index =
            threads.iter().enumerate().map(|(index, thread)| (thread.tid, index)).collect();
        let parts = CoreParts {
            space,
            threads,
            thread_index,
            path: Some(path.to_owned()),
            compressed,
            unpack_note: note,
            lacks,
            live: None,
            file,
        };
        // A core from standard input lies in no folder: its files are looked for in the one at hand, unless nobody
        // trusts it.
        let is_placed = source != CoreSource::Stdin || !options.untrusted;
        let core_dir = path.parent().filter(|_| is_placed).map(Path::to_owned);
        let pid = parts.file.process().map(|process| process.pid);
        let paths = SearchPaths { core_dir, pid, ..search_paths(options) };
        let finder = finder(options, paths);
        Ok(Self::of_parts(parts, finder, options))
    }

    pub(crate) fn of_parts(parts: CoreParts, finder: Finder, options: &OpenOptions) -> Self {
        Self::of_parts_sharing(parts, finder, options, Arc::default())
    }

    /// The same with symbols that were loaded before.
    pub(crate) fn of_parts_sharing(
        parts: CoreParts,
        finder: Finder,
        options: &OpenOptions,
        symbols: Arc<SymbolsByFile>,
    ) -> Self {
        let target = parts.file.target();
        let context = Arc::new(ModuleContext {
            target,
            space: Some(parts.space.clone()),
            finder,
            symbols,
            cfi: CfiByFile::default(),
            cache: options.cache_dir.clone().map(CacheDir::new),
            noted_build_ids: parts.file.noted_build_ids().clone(),
        });
        let files = FinderFiles { finder: &context.finder, arch: target.arch };
        let mapped = modules_of(&parts.file, &parts.space, &files);
        let modules = mapped.into_iter().map(|mapped| Module::new(mapped, context.clone()));
        let modules = Arc::new(ModuleSet::new(modules.collect(), Some(parts.space.clone())));
        let space = ProcessSpace::new(target, Some(parts.space.clone()), modules.clone());
        let space = match &parts.live {
            Some(live) => space.of_snapshot(live),
            None if parts.file.is_copied_by_kcore() => space.of_snapshot(&LiveParts::default()),
            None => space,
        };
        let finder = context.finder.clone();
        Self::new(target, Some(parts), modules, space, finder, options)
    }

    fn open_exe(path: &Path, options: &OpenOptions) -> Result<Self, OpenError> {
        let read = |error| OpenError::Read { path: path.to_owned(), error };
        let file = open_regular(path).map_err(read)?;
        let image = FileBytes::map(&file).map_err(read).and_then(|bytes| {
            Image::parse(bytes).map_err(|error| OpenError::Parse { path: path.to_owned(), error })
        })?;
        let image = image.within(&options.budget, path.display().to_string());
        let target = image.target();
        let mapped = as_if_mapped(&image, path);
        let context = Arc::new(ModuleContext {
            target,
            space: None,
            finder: finder(
                options,
                SearchPaths {
                    core_dir: path.parent().map(Path::to_owned),
                    ..search_paths(options)
                },
            ),
            symbols: Arc::default(),
            cfi: CfiByFile::default(),
            cache: options.cache_dir.clone().map(CacheDir::new),
            noted_build_ids: BTreeMap::new(),
        });
        let finder = context.finder.clone();
        let found = found_file(path, Arc::new(image));
        let module = Module::with_file(mapped, context, found);
        let modules = Arc::new(ModuleSet::new(vec![module], None));
        let space = ProcessSpace::new(target, None, modules.clone());
        Ok(Self::new(target, None, modules, space, finder, options))
    }

    fn new(
        target: Target,
        parts: Option<CoreParts>,
        modules: Arc<ModuleSet>,
        space: ProcessSpace,
        finder: Finder,
        options: &OpenOptions,
    ) -> Self {
        let code_mask = parts.as_ref().and_then(|parts| parts.file.code_mask());
        let names = made_names(options, parts.as_ref());
        let space = Arc::new(space);
        Self {
            code: ProcessCode::new(modules.clone(), space.clone(), Arc::default(), names),
            target,
            machine: machine(target, code_mask),
            parts,
            modules,
            space,
            mappings: OnceLock::new(),
            stack_pointers: OnceLock::new(),
            stack_owners: StackOwners::default(),
            locations: Arc::default(),
            tail_calls: Arc::default(),
            scopes: ScopesCache::default(),
            vtables: VtableCache::default(),
            last_scope: LastScope::default(),
            knowledge: Arc::default(),
            finder,
            source_map_files: SourceMapFiles::new(&options.source_maps),
            link_map: OnceLock::new(),
            linker: Built::new(),
            thread_areas: Built::new(),
            probes: options.probes,
            untrusted: options.untrusted,
            runtimes: Built::new(),
            anchors: Built::new(),
            task_runtimes: Built::new(),
            tasks: Built::new(),
            waits: Built::new(),
            found_contexts: Built::new(),
            native_heaps: HeapCache::default(),
            nearest_layouts: AtomicBool::new(options.nearest_layouts),
            walked: HashMap::new(),
        }
    }

    /// Architecture, word size, byte order.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Architecture.
    pub fn arch(&self) -> Arch {
        self.target.arch
    }

    /// Whether it was opened as one that nobody trusts: see [`OpenOptions::untrusted`]. Then nothing outside of the
    /// folders that were named is to be read, written or run on its behalf.
    pub const fn is_untrusted(&self) -> bool {
        self.untrusted
    }

    /// The memory of the process.
    pub fn space(&self) -> &dyn AddressSpace {
        &*self.space
    }

    /// What the walker asks about the code of the process.
    pub(crate) const fn code(&self) -> &ProcessCode {
        &self.code
    }

    /// The budget of the current command. Whoever runs a command begins it ([`Budget::begin`]).
    pub const fn budget(&self) -> &Budget {
        self.finder.budget()
    }

    /// The modules of the process.
    pub fn modules(&self) -> &ModuleSet {
        &self.modules
    }

    /// The core file; `None` for an executable alone. A snapshot of a live process is a core that
    /// never was a file.
    pub fn file(&self) -> Option<&CoreFile> {
        self.parts.as_ref().map(|parts| &parts.file)
    }

    /// The path of the core file as it was named; a snapshot has none.
    pub fn path(&self) -> Option<&Path> {
        self.parts.as_ref()?.path.as_deref()
    }
}

/// Where names of code lie that a JIT wrote.
fn made_names(options: &OpenOptions, parts: Option<&CoreParts>) -> MadeNames {
    let is_placed = |core: &&PathBuf| !options.untrusted || core.as_path() != Path::new("-");
    let core_dir = options.core.as_ref().filter(is_placed).and_then(|core| core.parent());
    let pid = parts.and_then(|parts| parts.file.process()).map(|process| process.pid);
    MadeNames::new(&options.code_maps, core_dir, pid)
}

/// The options for a bundle, which has the files of its core.
fn with_layer(options: &OpenOptions, path: &Path) -> OpenOptions {
    let layers = options.layers.iter().cloned().chain([path.to_owned()]).collect();
    OpenOptions { layers, ..options.clone() }
}

/// Who searches these paths, in the places that the options name.
pub(crate) fn finder(options: &OpenOptions, paths: SearchPaths) -> Finder {
    let finder = match &options.searched {
        Some(places) => Finder::with_places(paths, places.clone()),
        None => Finder::new(paths),
    };
    finder.with_added(options.places.clone()).within(&options.budget)
}

/// Where files are searched for, whatever is opened.
pub(crate) fn search_paths(options: &OpenOptions) -> SearchPaths {
    let has_root = options.sysroot.is_some() || !options.layers.is_empty();
    let reach = match options.untrusted {
        true => Reach::Beneath,
        false if has_root && !options.host_files => Reach::Named,
        false => Reach::Host,
    };
    let system = [PathBuf::from(SYSTEM_DEBUG_DIR)];
    let mut debug_dirs = options.debug_dirs.clone();
    // The system's directory is one that no user named: as all others, it is that of the target.
    let root_debug_dirs = match reach {
        Reach::Host => {
            debug_dirs.extend(system);
            Vec::new()
        }
        Reach::Named | Reach::Beneath => system.to_vec(),
    };
    SearchPaths {
        exe: options.exe.clone(),
        sysroot: options.sysroot.clone(),
        path_map: options.path_map.clone(),
        layers: options.layers.clone(),
        debug_dirs,
        root_debug_dirs,
        reach,
        ..SearchPaths::default()
    }
}

/// Files of modules that only their own headers describe.
struct FinderFiles<'a> {
    finder: &'a Finder,
    arch: Arch,
}

impl ModuleFiles for FinderFiles<'_> {
    fn find(&self, path: &[u8], is_exe: bool, fits: &dyn Fn(&Image) -> bool) -> Option<Arc<Image>> {
        let path = Path::new(OsStr::from_bytes(path));
        let wanted = WantedModule { path, build_id: None, is_exe, arch: self.arch };
        self.finder.find_fitting(&wanted, fits).file.map(|file| file.image)
    }
}

/// An executable that nobody ran lies where its file says.
fn as_if_mapped(image: &Image, path: &Path) -> MappedModule {
    let ranges = image.segments().iter().filter(|segment| segment.is_load()).map(|segment| {
        let start = Addr::new(segment.svma.get());
        MappedRange { range: AddrRange::with_len(start, segment.mem_size), offset: segment.offset }
    });
    MappedModule {
        path: path.as_os_str().as_encoded_bytes().to_vec(),
        ranges: ranges.collect(),
        image: None,
        copy_of: None,
        namespace: 0,
        is_exe: true,
        is_vdso: false,
    }
}
