//! The mappings of a process of which the system itself told.

use std::sync::Arc;

use kcore_elf::{CoreSpace, core_file::MapLine};

use crate::{Mapping, MappingKind};

/// The mappings, and how much of each `space` holds. Both are in the order of addresses.
pub fn mappings(maps: &[MapLine], space: &CoreSpace) -> Vec<Mapping> {
    let mut segments = space.segments().iter().peekable();
    let mut held_below = |map: &MapLine| {
        let mut held: u64 = 0;
        while let Some(segment) = segments.next_if(|segment| segment.range.start < map.range.end) {
            if segment.range.start >= map.range.start {
                held = held.saturating_add(segment.file_size);
            }
        }
        held
    };
    maps.iter()
        .map(|map| Mapping {
            range: map.range,
            flags: Some(map.flags),
            dumped: held_below(map),
            kind: kind_of(map),
        })
        .collect()
}

fn kind_of(map: &MapLine) -> MappingKind {
    // What the kernel itself maps for a descriptor has a name that is no path: `anon_inode:[io_uring]`.
    let is_named = map.inode != 0 && !map.name.is_empty() && !map.name.starts_with(b"[");
    if is_named {
        let path: Arc<str> = String::from_utf8_lossy(&map.name).into();
        return MappingKind::File { path, offset: map.offset };
    }
    match map.name.as_slice() {
        b"[stack]" => MappingKind::Stack,
        b"[heap]" => MappingKind::Heap,
        b"[vdso]" => MappingKind::Vdso,
        b"[vsyscall]" => MappingKind::Vsyscall,
        _ => MappingKind::Anonymous,
    }
}
