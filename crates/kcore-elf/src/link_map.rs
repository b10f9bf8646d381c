//! The dynamic linker's list of what it loaded.
//!
//! `DT_DEBUG` of the executable points to `struct r_debug` (glibc `elf/link.h`, musl
//! `include/link.h`): `r_version` int, `r_map`, `r_brk`, `r_state` int, `r_ldbase`, and, from
//! version 2 on, `r_next`, the next namespace. A `struct link_map` begins with `l_addr`, `l_name`,
//! `l_ld`, `l_next`.

use std::collections::HashSet;

use kcore_mem::{Addr, AddrRange, AddressSpace, FileOff};

use crate::{
    CoreSpace, MappedModule, MappedRange, MemoryImage, ModuleFiles,
    dynamic::{debug_structure, fits_memory},
    modules::ranges_of,
    with_exe::WithExe,
};

/// Entries of a list, and namespaces that are read, at most.
const MAX_ENTRIES: usize = 1 << 16;
const MAX_NAMESPACES: u32 = 64;
const MAX_PATH: usize = 4096;
/// Bytes of all paths, at most: entries may all name one long path.
const MAX_PATHS: usize = 16 << 20;

/// One entry of the link map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkMapEntry {
    /// Where its `struct link_map` lies.
    pub at: Addr,
    /// `l_addr`: the bias, modulo 2^64.
    pub bias: u64,
    /// `l_name`; empty for the executable.
    pub path: Vec<u8>,
    /// `l_ld`: where its dynamic section lies.
    pub dynamic: Addr,
    /// Which namespace, 0 being the program's own.
    pub namespace: u32,
}

impl LinkMapEntry {
    /// The module that this entry describes, for a core that lists no mapped files. Its header is
    /// looked for where the first page of a library lies, at the bias; else in its file. Without
    /// both it still has its name and its place.
    pub(crate) fn module(
        &self,
        space: &WithExe<'_>,
        files: &dyn ModuleFiles,
    ) -> Option<MappedModule> {
        let image = MemoryImage::load(space, Addr::new(self.bias))
            .or_else(|| self.image_by_file(space, files));
        let ranges = match &image {
            Some(image) => ranges_of(image),
            None => vec![self.range_up_to_dynamic(space.core)?],
        };
        Some(MappedModule {
            path: self.path.clone(),
            ranges,
            image,
            copy_of: None,
            namespace: self.namespace,
            is_exe: false,
            is_vdso: false,
        })
    }

    /// From the bias, where libraries begin, up to the end of the segment that holds the dynamic
    /// section.
    fn range_up_to_dynamic(&self, space: &CoreSpace) -> Option<MappedRange> {
        let start = Addr::new(self.bias);
        space.segment_at(start)?;
        let end = space.segment_at(self.dynamic)?.range.end;
        let range = AddrRange::new(start, end);
        (!range.is_empty() && !self.path.is_empty())
            .then_some(MappedRange { range, offset: FileOff::new(0) })
    }

    fn image_by_file(
        &self,
        space: &dyn AddressSpace,
        files: &dyn ModuleFiles,
    ) -> Option<MemoryImage> {
        let bias = self.bias.cast_signed();
        let file = files.find(&self.path, false, &|file| {
            let dynamic = file.dynamic().map(|(at, _)| at.get().wrapping_add_signed(bias));
            dynamic == Some(self.dynamic.get()) && fits_memory(space, file, bias)
        })?;
        Some(MemoryImage::of_file(&file, bias))
    }
}

/// Walks the link maps of all namespaces, as far as memory holds them. A cycle ends the walk.
pub fn link_map(space: &dyn AddressSpace, exe: &MemoryImage) -> Vec<LinkMapEntry> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    let mut left = MAX_PATHS;
    let mut debug = debug_structure(space, exe);
    let mut namespace = 0;
    while let Some(at) = debug.filter(|at| at.get() != 0 && namespace < MAX_NAMESPACES) {
        walk_namespace(space, at, namespace, &mut seen, &mut left, &mut entries);
        debug = next_namespace(space, at).filter(|next| *next != at);
        namespace = namespace.saturating_add(1);
    }
    entries
}

fn word(space: &dyn AddressSpace, base: Addr, index: u64) -> Option<u64> {
    let size = u64::from(space.target().word);
    space.read_word(base.checked_add(index.checked_mul(size)?)?).ok()
}

/// `r_next`, which exists from version 2 on.
fn next_namespace(space: &dyn AddressSpace, debug: Addr) -> Option<Addr> {
    let version = space.read_uint(debug, 4).ok()?;
    if version < 2 {
        return None;
    }
    word(space, debug, 5).map(Addr::new)
}

fn walk_namespace(
    space: &dyn AddressSpace,
    debug: Addr,
    namespace: u32,
    seen: &mut HashSet<Addr>,
    left: &mut usize,
    entries: &mut Vec<LinkMapEntry>,
) {
    let mut next = word(space, debug, 1).map(Addr::new);
    while let Some(at) = next.filter(|at| at.get() != 0) {
        if !seen.insert(at) || entries.len() >= MAX_ENTRIES || *left == 0 {
            return;
        }
        let Some((entry, following)) = read_entry(space, at, namespace) else { return };
        *left = left.saturating_sub(entry.path.len());
        entries.push(entry);
        next = Some(following);
    }
}

fn read_entry(space: &dyn AddressSpace, at: Addr, namespace: u32) -> Option<(LinkMapEntry, Addr)> {
    let bias = word(space, at, 0)?;
    let name = Addr::new(word(space, at, 1)?);
    let dynamic = Addr::new(word(space, at, 2)?);
    let next = Addr::new(word(space, at, 3)?);
    let path = space.read_cstr(name, MAX_PATH).unwrap_or_default();
    Some((LinkMapEntry { at, bias, path, dynamic, namespace }, next))
}
