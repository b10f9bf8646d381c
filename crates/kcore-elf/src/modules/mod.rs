//! Which modules were mapped, and where: from `NT_FILE`, the link map, the auxiliary vector and
//! what memory shows.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use kcore_mem::{Addr, AddrRange, AddressSpace, FileOff, Svma};

use crate::{
    CoreFile, CoreSpace, Image, ImageSegment, MemoryImage,
    core_file::MappedFile,
    dynamic::fits_memory,
    link_map::link_map,
    memory_image::has_header,
    with_exe::{PlacedFile, WithExe},
};

const AT_PHDR: u64 = 3;
const AT_PHNUM: u64 = 5;
const AT_PAGESZ: u64 = 6;
const AT_ENTRY: u64 = 9;
const AT_EXECFN: u64 = 31;
const AT_SYSINFO_EHDR: u64 = 33;
const PF_X: u32 = 1;
const PF_W: u32 = 2;
/// All flags of a segment that tell of access.
const ACCESS: u32 = 7;
/// Bytes of a page where the core does not say.
const PAGE: u64 = 4096;
/// Rows of a file among which its program headers are looked for, at most: linkers write some five.
const MAX_ROWS: usize = 64;
/// Bytes of a path that are read from memory, at most (`PATH_MAX`).
const MAX_PATH: usize = 4096;

/// Where a part of a module is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedRange {
    /// The addresses.
    pub range: AddrRange,
    /// Offset in the module's file of the first byte.
    pub offset: FileOff,
}

/// A module as the core shows it, before anybody looks for its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedModule {
    /// Path as the kernel or the dynamic linker knew it; empty for the vdso.
    pub path: Vec<u8>,
    /// Its mappings, lowest first. Without `NT_FILE` they follow from its program headers.
    pub ranges: Vec<MappedRange>,
    /// Its header as mapped, if that was dumped; without `NT_FILE` else that of its file.
    pub image: Option<MemoryImage>,
    /// Of code that is mapped once more, apart from the rest of its file: the header as it is mapped
    /// elsewhere with the whole file.
    pub copy_of: Option<MemoryImage>,
    /// Which link-map namespace it was loaded into, 0 being the program's own.
    pub namespace: u32,
    /// Whether it is the executable.
    pub is_exe: bool,
    /// Whether it is the vdso, which the kernel maps and no file holds.
    pub is_vdso: bool,
}

impl MappedModule {
    /// The lowest address of its mappings.
    pub fn base(&self) -> Addr {
        self.ranges.first().map(|mapped| mapped.range.start).unwrap_or_default()
    }

    /// From its lowest to its highest address; other mappings may lie between.
    pub fn span(&self) -> AddrRange {
        let end = self.ranges.iter().map(|mapped| mapped.range.end).max().unwrap_or_default();
        AddrRange::new(self.base(), end)
    }
}

/// Finds files of modules of which the core holds neither mappings nor headers. Which file belongs
/// to a module is not decided here.
pub trait ModuleFiles {
    /// The first file for this path that `fits` what memory holds.
    fn find(&self, path: &[u8], is_exe: bool, fits: &dyn Fn(&Image) -> bool) -> Option<Arc<Image>>;
}

/// The modules of a core, lowest address first, the executable marked. `files` are asked only
/// where the core has no `NT_FILE`.
pub fn modules_of(
    core: &CoreFile,
    space: &CoreSpace,
    files: &dyn ModuleFiles,
) -> Vec<MappedModule> {
    let mut modules = from_file_note(core, space);
    let mut known = WithExe { core: space, exe: None };
    let headers = core.aux(AT_PHDR).map(Addr::new);
    add_vdso(core, space, &mut modules);
    if core.files().is_none() {
        let exe = exe_by_headers(core, space, files);
        modules.extend(exe.map(|(module, file)| {
            known.exe = file;
            module
        }));
    }
    if let Some(at) = headers {
        mark_exe(core, at, &mut modules);
    }
    known.exe = known.exe.or_else(|| complete_exe(core, space, files, &mut modules));
    add_link_map(core, &known, files, &mut modules);
    modules.sort_by_key(MappedModule::base);
    modules
}

/// Rows of `NT_FILE` that belong together, and the header that is mapped at the first of them.
struct Group<'a> {
    rows: Vec<&'a MappedFile>,
    image: Option<MemoryImage>,
    /// Whether an ELF header is mapped there, though its program headers may not have been dumped.
    is_elf: bool,
}

/// Groups the rows of `NT_FILE`: a module is a run of rows of one path that its program headers
/// account for. Files that were mapped whole are read as data.
fn from_file_note(core: &CoreFile, space: &CoreSpace) -> Vec<MappedModule> {
    let Some(files) = core.files() else { return Vec::new() };
    let mut rows: Vec<&MappedFile> = files.files.iter().collect();
    rows.sort_by_key(|row| row.range.start);
    // No two mappings begin at one address; what says so would be read again and again.
    rows.dedup_by_key(|row| row.range.start);
    let page = core.aux(AT_PAGESZ).unwrap_or(PAGE);
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        match groups.last_mut().filter(|group| group.continues_with(row, space, page)) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group::begin(space, row, rows.get(index..).unwrap_or_default())),
        }
    }
    groups.retain(|group| !group.is_read_whole(space));
    let whole: HashMap<&[u8], &MemoryImage> = groups.iter().filter_map(Group::whole).collect();
    let copies: Vec<Option<MemoryImage>> = groups
        .iter()
        .map(|group| {
            whole.get(group.path()?).copied().filter(|_| group.is_copied_code(space)).cloned()
        })
        .collect();
    let modules = groups.into_iter().zip(copies).filter_map(|(group, copy)| match copy {
        Some(_) => Some(MappedModule { copy_of: copy, ..group.into_module()? }),
        None => module_of(group, space),
    });
    modules.collect()
}

impl<'a> Group<'a> {
    /// A group that begins with a row; `following` are that and the rows behind it.
    fn begin(space: &CoreSpace, row: &'a MappedFile, following: &[&MappedFile]) -> Self {
        let base = row.range.start;
        let of_file = following.iter().take(MAX_ROWS).take_while(|next| next.path == row.path);
        let places = |offset: FileOff| {
            let holding = of_file.clone().filter_map(|row| {
                let into = offset.get().checked_sub(row.offset.get())?;
                (into < row.range.len()).then(|| row.range.start.saturating_add(into))
            });
            holding.collect()
        };
        let image = MemoryImage::load_placed(space, base, &places);
        let is_elf = image.is_some() || (row.offset.get() == 0 && has_header(space, base));
        Self { rows: vec![row], image, is_elf }
    }
}

impl Group<'_> {
    fn path(&self) -> Option<&[u8]> {
        self.rows.first().map(|row| row.path.as_slice())
    }

    /// Its header, by its path.
    fn whole(&self) -> Option<(&[u8], &MemoryImage)> {
        Some((self.path()?, self.image.as_ref()?))
    }

    /// Whether it is code alone, from the middle of a file: where that file is mapped whole elsewhere,
    /// this is a second mapping of it. V8 maps its builtins so, to have them near the code that it makes.
    fn is_copied_code(&self, space: &CoreSpace) -> bool {
        let is_code = |row: &&MappedFile| {
            space.segment_at(row.range.start).is_none_or(|segment| segment.flags & PF_X != 0)
        };
        // A file that is mapped to be read is mapped from its beginning.
        self.image.is_none() && self.rows.iter().all(|row| row.offset.get() != 0 && is_code(row))
    }

    /// Whether a file was mapped whole by who reads it, and not loaded: the mapping of its beginning reaches
    /// over code, and may not be executed.
    fn is_read_whole(&self, space: &CoreSpace) -> bool {
        let (Some(first), Some(image)) = (self.rows.first(), &self.image) else { return false };
        let end = first.offset.get().saturating_add(first.range.len());
        let is_code_in_it = |segment: &ImageSegment| {
            let code_end = segment.offset.get().saturating_add(segment.file_size);
            segment.is_load() && segment.flags & PF_X != 0 && code_end <= end
        };
        let segment = space.segment_at(first.range.start);
        segment.is_some_and(|segment| segment.flags & PF_X == 0)
            && image.segments.iter().any(is_code_in_it)
    }

    fn into_module(self) -> Option<MappedModule> {
        let first = self.rows.first()?;
        let ranges =
            self.rows.iter().map(|row| MappedRange { range: row.range, offset: row.offset });
        Some(MappedModule {
            path: first.path.clone(),
            ranges: ranges.collect(),
            image: self.image,
            copy_of: None,
            namespace: 0,
            is_exe: false,
            is_vdso: false,
        })
    }

    /// File offsets grow within a module, and what they stand for is mapped once, but for a page that two segments
    /// share; one that begins again begins another copy of the file, unless a segment maps the file's first page
    /// once more, as linkers that do not separate code from data let it. Where no header is mapped, the same offset
    /// is another copy too: each isolate of V8 has its own of V8's builtins.
    fn continues_with(&self, row: &MappedFile, space: &CoreSpace, page: u64) -> bool {
        self.rows.last().is_some_and(|last| {
            let again = row.offset == last.offset && !self.is_elf;
            let end = last.offset.get().saturating_add(last.range.len());
            // A linker leaves holes of the file between segments, up to where the next one begins.
            let is_next = last.range.end == row.range.start && !self.is_read_whole(space);
            let goes_on = is_next || row.offset.get().saturating_add(page) >= end;
            let grows = row.offset.get() != 0 && row.offset >= last.offset && goes_on && !again;
            last.path == row.path
                && (grows || self.has_segment_at(row) || self.ends_without_header(row, space))
        })
    }

    /// Whether a row holds the data of a module whose header was not dumped: right behind what the loader reserved and
    /// nobody may access, or the file's first page once more, to be written, as pages of 64 KiB are that hold code and
    /// data.
    fn ends_without_header(&self, row: &MappedFile, space: &CoreSpace) -> bool {
        let flags = |at: Addr| space.segment_at(at).map(|segment| segment.flags & ACCESS);
        let Some(last) = self.rows.last().filter(|_| self.image.is_none()) else { return false };
        let is_reserved = flags(last.range.start) == Some(0) && last.range.end == row.range.start;
        let is_code = |at: Addr| flags(at).is_some_and(|it| it & PF_X != 0 && it & PF_W == 0);
        let is_data = |at: Addr| flags(at).is_some_and(|it| it & PF_W != 0);
        let is_shared = row.offset.get() == 0
            && last.offset.get() == 0
            && is_code(last.range.start)
            && is_data(row.range.start);
        (is_reserved && row.offset.get() != 0) || is_shared
    }

    fn has_segment_at(&self, row: &MappedFile) -> bool {
        let Some(image) = &self.image else { return false };
        image.segments.iter().filter(|segment| segment.is_load()).any(|segment| {
            let into_row = image.addr(segment.svma).offset_from(row.range.start);
            let into_file = segment.offset.get().checked_sub(row.offset.get());
            into_row == into_file && into_row.is_some_and(|into| into < row.range.len())
        })
    }
}

/// A group of rows is a module if it begins with ELF's headers, or, where these or some of them were not dumped,
/// if part of it was executable. Mapped data files are neither. gdb writes no segment for what it leaves out, so
/// what was executable is lost: there several rows make a module, since a data file has one.
fn module_of(group: Group<'_>, space: &CoreSpace) -> Option<MappedModule> {
    let first = group.rows.first()?;
    let several = group.rows.len() > 1;
    let executable = |row: &&MappedFile| match space.segment_at(row.range.start) {
        Some(segment) => segment.flags & PF_X != 0,
        None => several,
    };
    let may_be_one = group.is_elf || space.slice(first.range.start).is_err();
    let is_one = group.image.is_some() || (may_be_one && group.rows.iter().any(executable));
    is_one.then(|| group.into_module())?
}

fn add_vdso(core: &CoreFile, space: &CoreSpace, modules: &mut Vec<MappedModule>) {
    let Some(base) = core.aux(AT_SYSINFO_EHDR).map(Addr::new) else { return };
    let Some(segment) = space.segment_at(base) else { return };
    let range = AddrRange::new(base, segment.range.end);
    modules.push(MappedModule {
        path: Vec::new(),
        ranges: vec![MappedRange { range, offset: FileOff::new(0) }],
        // Its memory is missing where the end of the core is.
        image: MemoryImage::load(space, base),
        copy_of: None,
        namespace: 0,
        is_exe: false,
        is_vdso: true,
    });
}

/// The executable by what the auxiliary vector says of its program headers, which are read from
/// memory, or, where that was not dumped, from its file.
fn exe_by_headers(
    core: &CoreFile,
    space: &CoreSpace,
    files: &dyn ModuleFiles,
) -> Option<(MappedModule, Option<PlacedFile>)> {
    let path = exe_path(core, space);
    let (image, by_file) = exe_image(core, space, &path, files)?;
    let module = MappedModule {
        path,
        ranges: ranges_of(&image),
        image: Some(image),
        copy_of: None,
        namespace: 0,
        is_exe: true,
        is_vdso: false,
    };
    Some((module, by_file))
}

/// Gives the executable its headers, if its own were not dumped with the file's first page, and its file if they
/// were had from there.
fn complete_exe(
    core: &CoreFile,
    space: &CoreSpace,
    files: &dyn ModuleFiles,
    modules: &mut [MappedModule],
) -> Option<PlacedFile> {
    let exe = modules.iter_mut().find(|module| module.is_exe && module.image.is_none())?;
    let (image, by_file) = exe_image(core, space, &exe.path, files)?;
    exe.image = Some(image);
    by_file
}

/// What the executable's headers say, by where the auxiliary vector says that they lie; and its file, if they
/// were had from there.
fn exe_image(
    core: &CoreFile,
    space: &CoreSpace,
    path: &[u8],
    files: &dyn ModuleFiles,
) -> Option<(MemoryImage, Option<PlacedFile>)> {
    let at = Addr::new(core.aux(AT_PHDR)?);
    let in_memory = u16::try_from(core.aux(AT_PHNUM)?).ok();
    let in_memory = in_memory.and_then(|count| MemoryImage::from_program_headers(space, at, count));
    if let Some(image) = in_memory {
        return Some((image, None));
    }
    let exe = exe_by_file(core, space, path, files)?;
    Some((MemoryImage::of_file(&exe.file, exe.bias), Some(exe)))
}

/// The path that was executed; where the stack's first page was not dumped, the first word of the
/// command line as the kernel kept it.
fn exe_path(core: &CoreFile, space: &CoreSpace) -> Vec<u8> {
    let path = core.aux(AT_EXECFN).and_then(|at| space.read_cstr(Addr::new(at), MAX_PATH).ok());
    path.filter(|path| !path.is_empty()).unwrap_or_else(|| {
        let arguments = core.process().map(|process| process.args.as_slice());
        let first = arguments.unwrap_or_default().split(|byte| *byte == b' ').next();
        first.unwrap_or_default().to_vec()
    })
}

/// The executable's file, and its bias. It fits when its program headers and its entry lie where
/// the auxiliary vector says.
fn exe_by_file(
    core: &CoreFile,
    space: &CoreSpace,
    path: &[u8],
    files: &dyn ModuleFiles,
) -> Option<PlacedFile> {
    let fits = |file: &Image| {
        let bias = exe_bias(core, file);
        let entry = bias.map(|bias| file.entry().get().wrapping_add_signed(bias));
        entry == core.aux(AT_ENTRY)
            && core.aux(AT_PHNUM) == Some(file.segments().len() as u64)
            && bias.is_some_and(|bias| fits_memory(space, file, bias))
    };
    let file = files.find(path, true, &fits)?;
    let bias = exe_bias(core, &file)?;
    Some(PlacedFile { file, bias })
}

/// The bias by which the program headers of a file come to lie where the auxiliary vector says.
fn exe_bias(core: &CoreFile, file: &Image) -> Option<i64> {
    let headers = file.program_headers();
    let holder = file.segments().iter().filter(|segment| segment.is_load()).find(|segment| {
        headers.get().checked_sub(segment.offset.get()).is_some_and(|into| into < segment.file_size)
    })?;
    let into = headers.get().wrapping_sub(holder.offset.get());
    let svma = holder.svma.get().wrapping_add(into);
    Some(core.aux(AT_PHDR)?.wrapping_sub(svma).cast_signed())
}

/// The executable is the module that holds the program headers of the auxiliary vector.
fn mark_exe(core: &CoreFile, headers: Addr, modules: &mut [MappedModule]) {
    let holds = |module: &&mut MappedModule| {
        module.ranges.iter().any(|mapped| mapped.range.contains(headers))
    };
    if let Some(exe) = modules.iter_mut().find(holds) {
        exe.is_exe = true;
        if exe.path.is_empty() {
            exe.path = core.process().map(|process| process.name.clone()).unwrap_or_default();
        }
    }
}

/// Adds what only the dynamic linker knows: namespaces, and modules that no note lists.
fn add_link_map(
    core: &CoreFile,
    space: &WithExe<'_>,
    files: &dyn ModuleFiles,
    modules: &mut Vec<MappedModule>,
) {
    let Some(exe) = modules.iter().find(|module| module.is_exe) else { return };
    let Some(image) = &exe.image else { return };
    let entries = link_map(space, image);
    let mut index = RangeIndex::default();
    modules.iter().enumerate().for_each(|(at, module)| index.add(at, module));
    for entry in entries {
        match index.find(entry.dynamic).and_then(|at| modules.get_mut(at)) {
            Some(module) => module.namespace = entry.namespace,
            // Whoever loads libraries into memory of its own leaves no mapping of a file.
            None if core.files().is_none() || !entry.path.is_empty() => {
                let Some(module) = entry.module(space, files) else { continue };
                index.add(modules.len(), &module);
                modules.push(module);
            }
            None => {}
        }
    }
}

/// The ranges of modules by their first address: end and the module's place in the list. Where two
/// begin at one address, the first counts.
#[derive(Default)]
struct RangeIndex(BTreeMap<Addr, (Addr, usize)>);

impl RangeIndex {
    fn add(&mut self, at: usize, module: &MappedModule) {
        for mapped in &module.ranges {
            self.0.entry(mapped.range.start).or_insert((mapped.range.end, at));
        }
    }

    fn find(&self, at: Addr) -> Option<usize> {
        let (_, (end, module)) = self.0.range(..=at).next_back()?;
        (at < *end).then_some(*module)
    }
}

/// The mappings that follow from the loaded segments of an image, in whole pages.
pub(crate) fn ranges_of(image: &MemoryImage) -> Vec<MappedRange> {
    const PAGE: u64 = 0x1000;
    let loads = image.segments.iter().filter(|segment| segment.is_load());
    let mapped = loads.map(|segment| {
        let into_page = segment.svma.get() % PAGE;
        let start = image.addr(Svma::new(segment.svma.get().saturating_sub(into_page)));
        let end = image.addr(segment.svma).saturating_add(segment.mem_size);
        let end = Addr::new(end.get().checked_next_multiple_of(PAGE).unwrap_or(u64::MAX));
        let offset = FileOff::new(segment.offset.get().saturating_sub(into_page));
        MappedRange { range: AddrRange::new(start, end), offset }
    });
    mapped.collect()
}

#[cfg(test)]
mod tests;
