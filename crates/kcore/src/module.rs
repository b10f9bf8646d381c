//! A module: where it is mapped, which files belong to it, and what they tell, each found when it
//! is first asked for.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use kcore_elf::{
    ArmCodes, BuildId, CoreSpace, FileBytes, Image, ImageSegment, MappedModule, MappedRange,
    dynamic_symbols, fits_memory,
};
use kcore_files::{
    CacheDir, Finder, FoundFile, SearchResult, SearchedPlace, Tried, WantedModule, WantedSymbols,
    has_debug_info, mini_debug, supplementary_id,
};
use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, Budget, Built, Svma, Target};
use kcore_symbols::{ModuleSymbols, RawSymbol, SymbolTable};
use kcore_unwind::Cfi;

use crate::{
    by_file::{CfiByFile, SymbolsByFile},
    debug_context, go_stacks, module_cfi,
};

/// The vdso is two pages on x86-64 and aarch64; more than this is not copied for it.
const MAX_VDSO: u64 = 1 << 20;

/// What every module needs to find its files and read its memory.
pub(crate) struct ModuleContext {
    pub(crate) target: Target,
    pub(crate) space: Option<Arc<CoreSpace>>,
    pub(crate) finder: Finder,
    pub(crate) symbols: Arc<SymbolsByFile>,
    pub(crate) cfi: CfiByFile,
    pub(crate) cache: Option<CacheDir>,
    /// Build-ids that the core tells without the memory of modules, by where these begin.
    pub(crate) noted_build_ids: BTreeMap<Addr, BuildId>,
}

/// A loaded executable or library.
pub struct Module {
    mapped: MappedModule,
    name: String,
    context: Arc<ModuleContext>,
    found: OnceLock<SearchResult>,
    debug: Built<SearchResult>,
    supplementary: Built<SearchResult>,
    symbols: Built<Arc<ModuleSymbols>>,
    cfi: Built<Option<Cfi>>,
    first_on_stack: Built<Vec<AddrRange>>,
    arm_codes: OnceLock<ArmCodes>,
}

/// Where a module's file was found, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Found, and its build-id is the one that was mapped.
    Verified(PathBuf),
    /// Found, but nothing in the core tells whether it is the file that was mapped.
    Unverified(PathBuf),
    /// Not found: what was tried, in order, and why each was refused.
    Missing(Vec<String>),
    /// The kernel's own module, which lies in the core.
    InCore,
}

impl Module {
    pub(crate) fn new(mapped: MappedModule, context: Arc<ModuleContext>) -> Self {
        Self {
            name: name_of(&mapped),
            mapped,
            context,
            found: OnceLock::new(),
            debug: Built::new(),
            supplementary: Built::new(),
            symbols: Built::new(),
            cfi: Built::new(),
            first_on_stack: Built::new(),
            arm_codes: OnceLock::new(),
        }
    }

    /// A module whose file is at hand already: an executable that nobody ran.
    pub(crate) fn with_file(
        mapped: MappedModule,
        context: Arc<ModuleContext>,
        found: SearchResult,
    ) -> Self {
        let module = Self::new(mapped, context);
        Self { found: OnceLock::from(found), ..module }
    }

    /// Its file name without directories; `[vdso]` for the vdso.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its path as the kernel or the dynamic linker knew it; invalid UTF-8 is replaced.
    pub fn path(&self) -> String {
        if self.mapped.is_vdso {
            return self.name.clone();
        }
        String::from_utf8_lossy(&self.mapped.path).into_owned()
    }

    /// Its lowest address.
    pub fn base(&self) -> Addr {
        self.mapped.base()
    }

    /// From its lowest to its highest address.
    pub fn span(&self) -> AddrRange {
        self.mapped.span()
    }

    /// Its mappings, lowest first.
    pub fn ranges(&self) -> impl Iterator<Item = AddrRange> {
        self.mapped.ranges.iter().map(|mapped| mapped.range)
    }

    /// Whether it is the executable.
    pub const fn is_exe(&self) -> bool {
        self.mapped.is_exe
    }

    /// Whether it is the vdso.
    pub const fn is_vdso(&self) -> bool {
        self.mapped.is_vdso
    }

    /// The link-map namespace that it was loaded into, 0 being the program's own.
    pub const fn namespace(&self) -> u32 {
        self.mapped.namespace
    }

    /// Whether its path was unlinked or replaced while it was mapped.
    pub fn is_deleted(&self) -> bool {
        self.mapped.path.ends_with(b" (deleted)")
    }

    /// Its build-id as the process had it mapped.
    pub fn build_id(&self) -> Option<&BuildId> {
        let in_memory = self.mapped.image.as_ref().or(self.mapped.copy_of.as_ref());
        let in_memory = in_memory.and_then(|image| image.build_id.as_ref());
        in_memory.or_else(|| self.context.noted_build_ids.get(&self.base()))
    }

    /// The file that belongs to it, if one was found.
    pub fn image(&self) -> Option<&Arc<Image>> {
        self.found().file.as_ref().map(|file| &file.image)
    }

    /// Bytes of code, as its headers say.
    pub(crate) fn executable_size(&self) -> u64 {
        let code = self.segments().iter().filter(|segment| segment.is_executable());
        code.fold(0, |sum, segment| segment.mem_size.saturating_add(sum))
    }

    /// Its program headers: as memory has them, else those of its file.
    pub(crate) fn segments(&self) -> &[ImageSegment] {
        let in_memory = self.mapped.image.as_ref().map(|image| image.segments.as_slice());
        in_memory.or_else(|| self.image().map(|image| image.segments())).unwrap_or_default()
    }

    /// Where its exception table lies (`PT_ARM_EXIDX`), on the machine that has one.
    pub(crate) fn exception_table(&self) -> Option<AddrRange> {
        const PT_ARM_EXIDX: u32 = 0x7000_0001;
        (self.target().arch == Arch::Arm).then_some(())?;
        let segment = self.segments().iter().find(|segment| segment.kind == PT_ARM_EXIDX)?;
        Some(AddrRange::with_len(self.addr(segment.svma)?, segment.mem_size))
    }

    /// The path of that file.
    pub fn file_path(&self) -> Option<&Path> {
        self.found().file.as_ref().map(|file| file.path.as_path())
    }

    /// Whether the file is known to be the one that was mapped.
    pub fn is_verified(&self) -> bool {
        self.found().file.as_ref().is_some_and(|file| file.verified)
    }

    /// Where its file was found, or why not.
    pub fn file_state(&self) -> FileState {
        if self.mapped.is_vdso {
            return match self.mapped.image {
                Some(_) => FileState::InCore,
                None => FileState::Missing(vec!["its memory is not in the core".to_owned()]),
            };
        }
        match &self.found().file {
            Some(file) if file.verified => FileState::Verified(file.path.clone()),
            Some(file) => FileState::Unverified(file.path.clone()),
            None => FileState::Missing(self.tried().iter().map(refusal).collect()),
        }
    }

    /// What was looked at for its file and refused, in order.
    pub fn tried(&self) -> &[Tried] {
        &self.found().tried
    }

    /// What is added to an address of its file, modulo 2^64; `None` when neither the core nor the
    /// file tells.
    pub fn bias(&self) -> Option<i64> {
        match &self.mapped.image {
            Some(image) => Some(image.bias),
            None => {
                let file = self.image().or_else(|| self.breakpad_image());
                bias_of(self.mapped.ranges.first()?, file?)
            }
        }
    }

    /// The address of the file that lies at `at`.
    pub fn svma(&self, at: Addr) -> Option<Svma> {
        self.bias().map(|bias| Svma::new(at.get().wrapping_add_signed(bias.wrapping_neg())))
    }

    /// Where an address of the file lies in the process.
    pub fn addr(&self, svma: Svma) -> Option<Addr> {
        self.bias().map(|bias| Addr::new(svma.get().wrapping_add_signed(bias)))
    }

    /// Its entry point.
    pub fn entry(&self) -> Option<Addr> {
        let from_memory = self.mapped.image.as_ref().map(|image| image.entry);
        let entry = from_memory.filter(|entry| entry.get() != 0);
        let entry = entry.or_else(|| self.image().map(|image| image.entry()))?;
        (entry.get() != 0).then(|| self.addr(entry))?
    }

    /// Which instruction sets its code is in, if it is one of 32-bit Arm and its files are at hand.
    pub(crate) fn arm_codes(&self) -> &ArmCodes {
        self.arm_codes.get_or_init(|| {
            // Breakpad writes where functions begin, and not in which instruction set.
            let debug = self.debug_image().filter(|_| self.breakpad_image().is_none());
            let images = [self.image(), debug].into_iter().flatten();
            ArmCodes::of(&images.map(|image| &**image).collect::<Vec<_>>())
        })
    }

    /// Its symbols and lines.
    pub fn symbols(&self) -> &ModuleSymbols {
        self.symbols.get_or_build(self.budget(), || self.shared_symbols())
    }

    /// The same, if somebody asked for them before.
    pub(crate) fn known_symbols(&self) -> Option<&ModuleSymbols> {
        self.symbols.get().map(AsRef::as_ref)
    }

    /// Who finds its files.
    pub(crate) fn finder(&self) -> &Finder {
        &self.context.finder
    }

    /// The budget of the commands that read it.
    pub(crate) fn budget(&self) -> &Budget {
        self.context.finder.budget()
    }

    /// Its unwind information.
    pub fn cfi(&self) -> Option<&Cfi> {
        self.cfi.get_or_build(self.budget(), || module_cfi::load(self)).as_ref()
    }

    /// Whether the code at `at` belongs to a function that has no caller on its stack, whatever unwind information says.
    pub(crate) fn is_first_on_stack(&self, at: Addr) -> bool {
        let load = || go_stacks::first_functions(self);
        let functions = self.first_on_stack.get_or_build(self.budget(), load);
        functions.iter().any(|function| function.contains(at))
    }

    /// The bytes of the file from `at` on, and whether that part of the file is mapped writable.
    pub(crate) fn file_bytes(&self, at: Addr) -> Option<(&[u8], &ImageSegment)> {
        let image = self.image()?;
        let svma = self.svma(at)?;
        let segment =
            image.segments().iter().filter(|segment| segment.is_load()).find(|segment| {
                svma.offset_from(segment.svma).is_some_and(|into| into < segment.file_size)
            })?;
        Some((image.bytes_at(svma)?, segment))
    }

    /// The unwind information of its file at its own place; `load` gives it where no module with that file asked
    /// before.
    pub(crate) fn shared_cfi(&self, bias: i64, load: impl FnOnce() -> Cfi) -> Cfi {
        match self.file_path() {
            Some(path) => self.context.cfi.get(path, self.budget(), load).at(bias),
            None => load(),
        }
    }

    pub(crate) const fn mapped(&self) -> &MappedModule {
        &self.mapped
    }

    pub(crate) fn space(&self) -> Option<&CoreSpace> {
        self.context.space.as_deref()
    }

    pub(crate) fn target(&self) -> Target {
        self.context.target
    }

    /// The separate debug file, if one was found.
    pub(crate) fn debug_image(&self) -> Option<&Arc<Image>> {
        self.debug_found().file.as_ref().map(|file| &file.image)
    }

    pub(crate) fn debug_found(&self) -> &SearchResult {
        self.debug.get_or_build(self.budget(), || match (self.image(), self.file_path()) {
            (Some(image), Some(path)) => {
                let found = self.context.finder.find_debug(image, path, image.build_id().as_ref());
                or_mini_debug(self.or_breakpad(found), image, path)
            }
            _ => self.or_breakpad(self.debug_without_file()),
        })
    }

    /// What was found, or else the symbol file of Breakpad, where the module's own file has no debug information.
    fn or_breakpad(&self, found: SearchResult) -> SearchResult {
        if found.file.is_some() || self.has_own_debug_info() {
            return found;
        }
        let own = self.image().and_then(|image| image.build_id());
        let Some(build_id) = self.build_id().or(own.as_ref()) else { return found };
        let first = self.segments().iter().filter(|segment| segment.is_load());
        let wanted = WantedSymbols {
            path: Path::new(OsStr::from_bytes(&self.mapped.path)),
            build_id,
            base: first.map(|segment| segment.svma).min().unwrap_or(Svma::new(0)),
            target: self.context.target,
        };
        let symbols = self.context.finder.find_breakpad(&wanted);
        let tried = found.tried.into_iter().chain(symbols.tried).collect();
        SearchResult { file: symbols.file, tried }
    }

    /// What was made of the symbol file of Breakpad, if that is the debug file.
    pub(crate) fn breakpad_image(&self) -> Option<&Arc<Image>> {
        let file = self.debug_found().file.as_ref();
        file.filter(|file| file.place == SearchedPlace::Breakpad).map(|file| &file.image)
    }

    /// The debug file of a module whose own file is gone.
    fn debug_without_file(&self) -> SearchResult {
        let id = self.build_id().filter(|_| !self.mapped.is_vdso);
        id.map(|id| self.context.finder.find_debug_by_id(id)).unwrap_or_default()
    }

    /// What was found of its files so far; nothing is looked for.
    pub(crate) fn files_found(&self) -> [Option<&SearchResult>; 3] {
        [self.found.get(), self.debug.get(), self.supplementary.get()]
    }

    /// Where its separate debug file was found, and what was tried for it. It is looked for if nobody needed it before.
    pub fn debug_search(&self) -> &SearchResult {
        self.debug_found()
    }

    /// Whether its file has debug information itself.
    pub fn has_own_debug_info(&self) -> bool {
        self.image().is_some_and(|image| has_debug_info(image))
    }

    /// The kind of place where its file was found.
    pub fn place(&self) -> Option<SearchedPlace> {
        self.found().file.as_ref().map(|file| file.place)
    }

    /// The build-id of the file that several debug files share, as the debug information has it.
    pub(crate) fn supplementary_id(&self) -> Option<BuildId> {
        let debug = self.debug_found().file.as_ref().map(|file| &file.image);
        supplementary_id(debug.or(self.image())?)
    }

    /// The file that several debug files share, if the debug information names one.
    pub(crate) fn supplementary_image(&self) -> Option<&Arc<Image>> {
        let found = self.supplementary.get_or_build(self.budget(), || {
            let debug = self.debug_found().file.as_ref();
            // A file that was stripped of its debug information may still name what that shared.
            let file = debug.or(self.found().file.as_ref()).filter(|it| has_debug_info(&it.image));
            let find =
                |file: &FoundFile| self.context.finder.find_supplementary(&file.image, &file.path);
            file.map(find).unwrap_or_default()
        });
        found.file.as_ref().map(|file| &file.image)
    }

    fn found(&self) -> &SearchResult {
        self.found.get_or_init(|| self.find_file())
    }

    fn find_file(&self) -> SearchResult {
        if self.mapped.is_vdso {
            return self.image_in_core().unwrap_or_default();
        }
        let wanted = WantedModule {
            path: Path::new(OsStr::from_bytes(&self.mapped.path)),
            build_id: self.build_id(),
            is_exe: self.mapped.is_exe,
            arch: self.context.target.arch,
        };
        self.context.finder.find_fitting(&wanted, &|file| self.fits(file))
    }

    /// Whether memory has nothing against a file that no build-id proves.
    fn fits(&self, file: &Image) -> bool {
        let whole = self.mapped.image.as_ref().or(self.mapped.copy_of.as_ref());
        let bias = match (whole, self.mapped.ranges.first()) {
            (Some(whole), _) => Some(whole.bias),
            (None, first) => first.and_then(|first| bias_of(first, file)),
        };
        let space = self.context.space.as_deref().zip(bias);
        space.is_none_or(|(space, bias)| {
            !self.maps_dynamic(file, bias) || fits_memory(space, file, bias)
        })
    }

    /// Whether it maps the part of the file that memory is compared with. V8 maps its builtins a
    /// second time, and nothing else of its file.
    fn maps_dynamic(&self, file: &Image, bias: i64) -> bool {
        let Some((svma, _)) = file.dynamic() else { return false };
        let at = Addr::new(svma.get().wrapping_add_signed(bias));
        self.ranges().any(|range| range.contains(at))
    }

    /// The vdso is dumped whole: its file is the memory.
    fn image_in_core(&self) -> Option<SearchResult> {
        let space = self.context.space.as_ref()?;
        let span = self.span();
        let mut bytes = vec![0; usize::try_from(span.len().min(MAX_VDSO)).ok()?];
        let (read, _) = space.read_partial(span.start, &mut bytes);
        bytes.truncate(read);
        let image = Image::parse(FileBytes::from(bytes)).ok()?;
        let image = image.within(self.context.finder.budget(), &*self.name);
        Some(found_file(Path::new(&self.name), Arc::new(image)))
    }

    /// The symbols of its file, which other modules may have as well.
    fn shared_symbols(&self) -> Arc<ModuleSymbols> {
        match self.file_path() {
            Some(path) => self.context.symbols.get(path, self.budget(), || self.load_symbols()),
            None => Arc::new(self.load_symbols()),
        }
    }

    fn load_symbols(&self) -> ModuleSymbols {
        let debug = self.debug_image().cloned();
        match self.image() {
            Some(image) => {
                let supplementary = self.supplementary_image().cloned();
                let context = debug_context::context(&self.context, self.file_path());
                ModuleSymbols::with_supplementary(
                    Some(image.clone()),
                    debug,
                    supplementary,
                    context,
                )
            }
            None if debug.is_some() => {
                let supplementary = self.supplementary_image().cloned();
                let path = self.debug_found().file.as_ref().map(|file| file.path.as_path());
                let context = debug_context::context(&self.context, path);
                ModuleSymbols::with_supplementary(None, debug, supplementary, context)
            }
            None => ModuleSymbols::from_table(self.symbols_in_memory()),
        }
    }

    fn symbols_in_memory(&self) -> SymbolTable {
        let symbols = match (&self.context.space, &self.mapped.image) {
            (Some(space), Some(image)) => dynamic_symbols(space.as_ref(), image),
            _ => Vec::new(),
        };
        let raw = (1..).zip(symbols).map(|(index, symbol)| RawSymbol {
            index,
            name: symbol.name,
            value: symbol.value,
            size: symbol.size,
            kind: symbol.kind,
            binding: symbol.binding,
            other: symbol.other,
            section: symbol.section,
        });
        SymbolTable::from_raw(raw.collect())
    }
}

/// What is added to addresses of a file when the part that begins at an offset lies at an address.
fn bias_of(mapped: &MappedRange, file: &Image) -> Option<i64> {
    let segment = file.segments().iter().find(|segment| {
        let page = segment.offset.get() & !0xfff;
        segment.is_load()
            && (page..segment.offset.get().saturating_add(segment.file_size))
                .contains(&mapped.offset.get())
    })?;
    let file_start = mapped.range.start.get().wrapping_sub(mapped.offset.get());
    let svma_start = segment.svma.get().wrapping_sub(segment.offset.get());
    Some(file_start.wrapping_sub(svma_start).cast_signed())
}

/// What was found, or else the mini debug information that a file has itself.
fn or_mini_debug(found: SearchResult, image: &Image, path: &Path) -> SearchResult {
    let is_wanted = found.file.is_none() && !has_debug_info(image);
    let mini = if is_wanted { mini_debug(image) } else { None };
    let mini = mini.map(|mini| FoundFile {
        path: path.to_owned(),
        image: Arc::new(mini),
        verified: true,
        place: SearchedPlace::Within,
    });
    SearchResult { file: found.file.or(mini), tried: found.tried }
}

/// A path that was tried, and why it was refused.
fn refusal(tried: &Tried) -> String {
    format!("{}: {}", tried.path.display(), tried.why)
}

/// A file that needs no search, being the thing itself.
pub(crate) fn found_file(path: &Path, image: Arc<Image>) -> SearchResult {
    let file =
        FoundFile { path: path.to_owned(), image, verified: true, place: SearchedPlace::Given };
    SearchResult { file: Some(file), tried: Vec::new() }
}

fn name_of(mapped: &MappedModule) -> String {
    if mapped.is_vdso {
        return "[vdso]".to_owned();
    }
    let path = mapped.path.strip_suffix(b" (deleted)").unwrap_or(&mapped.path);
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    String::from_utf8_lossy(name).into_owned()
}
