//! The dynamic linker's list of what it loaded.
//!
//! `DT_DEBUG` of the executable points to `struct r_debug` (glibc `elf/link.h`, musl
//! `include/link.h`): `r_version` int, `r_map`, `r_brk`, `r_state` int, `r_ldbase`, and, from
//! version 2 on, `r_next`, the next namespace. A `struct link_map` begins with `l_addr`, `l_name`,
//! `l_ld`, `l_next`.

use std::collections::HashSet;

use kcore_mem::{Addr, AddressSpace};

use crate::{CoreSpace, MappedModule, MemoryImage, modules::ranges_of};

const DT_DEBUG: u64 = 21;
/// Entries of a dynamic section, of a list, and namespaces that are read, at most.
const MAX_DYNAMIC: u64 = 4096;
const MAX_ENTRIES: usize = 1 << 16;
const MAX_NAMESPACES: u32 = 64;
const MAX_PATH: usize = 4096;
/// Bytes of all paths, at most: entries may all name one long path.
const MAX_PATHS: usize = 16 << 20;

/// One entry of the link map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkMapEntry {
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
    /// looked for where the first page of a library lies: at the bias.
    pub fn module(&self, space: &CoreSpace) -> Option<MappedModule> {
        let image = MemoryImage::load(space, Addr::new(self.bias))?;
        Some(MappedModule {
            path: self.path.clone(),
            ranges: ranges_of(&image),
            image: Some(image),
            namespace: self.namespace,
            is_exe: false,
            is_vdso: false,
        })
    }
}

/// Walks the link maps of all namespaces, as far as memory holds them. A cycle ends the walk.
pub fn link_map(space: &dyn AddressSpace, exe: &MemoryImage) -> Vec<LinkMapEntry> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    let mut left = MAX_PATHS;
    let mut debug = find_debug(space, exe);
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

fn find_debug(space: &dyn AddressSpace, exe: &MemoryImage) -> Option<Addr> {
    let dynamic = exe.addr(exe.dynamic()?);
    for index in 0..MAX_DYNAMIC {
        let pair = index.checked_mul(2)?;
        match word(space, dynamic, pair)? {
            0 => return None,
            DT_DEBUG => return word(space, dynamic, pair.checked_add(1)?).map(Addr::new),
            _ => {}
        }
    }
    None
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
    Some((LinkMapEntry { bias, path, dynamic, namespace }, next))
}
