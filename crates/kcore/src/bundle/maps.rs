//! The mappings of a core as a live process would tell them: segments with a part of the memory no longer do.

use std::fmt::Write;

use crate::{Mapping, MappingKind};

/// The text of `/proc/PID/maps` (proc(5)), of which the inode of files says only that there is one; `None` where the
/// core does not tell all permissions.
pub fn text_of(mappings: &[Mapping]) -> Option<String> {
    let mut text = String::new();
    for mapping in mappings {
        let (inode, offset, name) = match &mapping.kind {
            MappingKind::File { path, offset } => (1, offset.get(), &**path),
            kind => (0, 0, name_of(kind)),
        };
        let (start, end) = (mapping.range.start.get(), mapping.range.end.get());
        let permissions = mapping.permissions()?;
        // The system writes a line feed in a path so.
        let name = name.replace('\n', "\\012");
        let _ = writeln!(text, "{start:x}-{end:x} {permissions}p {offset:x} 0:0 {inode} {name}");
    }
    Some(text)
}

const fn name_of(kind: &MappingKind) -> &'static str {
    match kind {
        MappingKind::Stack => "[stack]",
        MappingKind::Heap => "[heap]",
        MappingKind::Vdso => "[vdso]",
        MappingKind::Vsyscall => "[vsyscall]",
        MappingKind::File { .. } | MappingKind::ThreadStack(_) | MappingKind::Anonymous => "",
    }
}

#[cfg(test)]
mod tests {
    use kcore_elf::core_file::parse_maps;
    use kcore_mem::{Addr, AddrRange, FileOff};

    use super::*;

    fn mapping(start: u64, flags: Option<u32>, kind: MappingKind) -> Mapping {
        Mapping { range: AddrRange::with_len(Addr::new(start), 0x1000), flags, dumped: 0, kind }
    }

    #[test]
    fn what_is_written_is_read() {
        let file = MappingKind::File { path: "/a b\n/c".into(), offset: FileOff::new(0x3000) };
        let mappings =
            [mapping(0x1000, Some(5), file), mapping(0x4000, Some(6), MappingKind::Heap)];
        let lines = parse_maps(text_of(&mappings).unwrap().as_bytes());
        assert!(lines[0].is_file() && !lines[0].shared && !lines[1].is_file());
        assert_eq!((&lines[0].name[..], lines[0].offset.get()), (&b"/a b\n/c"[..], 0x3000));
        assert_eq!((&lines[1].name[..], lines[1].flags), (&b"[heap]"[..], 6));
        assert_eq!((lines[0].range, lines[0].flags), (mappings[0].range, 5));
    }

    #[test]
    fn unknown_permissions_are_not_made_up() {
        assert_eq!(text_of(&[mapping(0x1000, None, MappingKind::Anonymous)]), None);
    }
}
