//! Which modules were mapped, and where: from `NT_FILE`, the link map, the auxiliary vector and
//! what memory shows.

mod file_note;

use std::{collections::BTreeMap, sync::Arc};

use kcore_mem::{Addr, AddrRange, AddressSpace, FileOff, Svma};

use crate::{
    CoreFile, CoreSpace, Image, MemoryImage,
    dynamic::fits_memory,
    link_map::link_map,
    with_exe::{PlacedFile, WithExe},
};
use file_note::from_file_note;

const AT_PHDR: u64 = 3;
const AT_PHNUM: u64 = 5;
const AT_PAGESZ: u64 = 6;
const AT_ENTRY: u64 = 9;
const AT_EXECFN: u64 = 31;
const AT_SYSINFO_EHDR: u64 = 33;
const PF_X: u32 = 1;
/// Bytes of a page where the core does not say.
const PAGE: u64 = 4096;
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
