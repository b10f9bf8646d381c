//! Which rows of `NT_FILE` make a module where no header of a file was dumped.

use kcore_mem::Target;

use super::*;
use crate::core_file::{
    head::{Head, Segment},
    written_note,
};

const R: u32 = 4;
const X: u32 = 5;
const W: u32 = 6;
const NONE: u32 = 0;

struct NoFiles;

impl ModuleFiles for NoFiles {
    fn find(&self, _: &[u8], _: bool, _: &dyn Fn(&Image) -> bool) -> Option<Arc<Image>> {
        None
    }
}

/// The modules of a core with these mappings of one file: start, length, offset in pages, access.
fn modules(rows: &[(u64, u64, u64, u32)]) -> Vec<MappedModule> {
    let segments = rows.iter().map(|(start, len, _, flags)| Segment {
        range: AddrRange::with_len(Addr::new(*start), *len),
        flags: *flags,
        file_size: 0,
    });
    let segments: Vec<_> = segments.collect();
    let mut desc = vec![rows.len() as u64, 0x1000];
    desc.extend(
        rows.iter().flat_map(|(start, len, offset, _)| [*start, start.wrapping_add(*len), *offset]),
    );
    let mut desc: Vec<u8> = desc.into_iter().flat_map(u64::to_le_bytes).collect();
    desc.extend(rows.iter().flat_map(|_| *b"/lib/a.so\0"));
    let note = written_note(b"CORE", 0x4649_4c45, &desc, Target::X86_64);
    let head = Head::new(Target::X86_64, &note, &segments, 1);
    let core = CoreFile::parse(head.bytes.into()).unwrap();
    let space = CoreSpace::new(&core);
    modules_of(&core, &space, &NoFiles)
}

#[test]
fn data_behind_what_nobody_may_access_belongs_to_the_code_before_it() {
    // As glibc's loader maps a library whose segments are aligned to 64 KiB.
    let found = modules(&[
        (0x7000_0000, 0x4000, 0, X),
        (0x7000_4000, 0xf000, 4, NONE),
        (0x7001_3000, 0x1000, 3, R),
        (0x7001_4000, 0x1000, 4, W),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].span().len(), 0x1_5000);
}

#[test]
fn a_small_file_lies_twice_in_pages_of_64_kib() {
    let found = modules(&[(0x40_0000, 0x1_0000, 0, X), (0x41_0000, 0x1_0000, 0, W)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].ranges.len(), 2);
}

#[test]
fn code_that_is_mapped_again_is_another_copy() {
    let found = modules(&[(0x40_0000, 0x1_0000, 0, X), (0x41_0000, 0x1_0000, 0, X)]);
    assert_eq!(found.len(), 2, "{found:?}");
}
