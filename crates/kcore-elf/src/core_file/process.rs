//! Notes about the whole process: `NT_PRPSINFO`, `NT_AUXV`, `NT_FILE`.

use kcore_mem::{Addr, AddrRange, Cursor, FileOff, Target};

/// Entries of NT_FILE read, at most: the system's own limit on mappings is 65,530 by default.
const MAX_FILES: u64 = 1 << 22;

/// `NT_PRPSINFO`: what the process was called. Layout of `struct elf_prpsinfo`, Linux
/// `include/linux/elfcore.h`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Process id, in the pid namespace of the dumper.
    pub pid: u32,
    /// Parent process id.
    pub parent: u32,
    /// Process group.
    pub group: u32,
    /// Session.
    pub session: u32,
    /// Real user id.
    pub uid: u32,
    /// Real group id.
    pub gid: u32,
    /// `pr_sname`: the letter of its state, if the dumper wrote one.
    pub state: Option<char>,
    /// `pr_zomb`: whether it had ended already.
    pub zombie: bool,
    /// `pr_nice`.
    pub nice: i8,
    /// `pr_flag`: the kernel's flags of the task.
    pub flags: u64,
    /// `pr_fname`: the name of the program, cut at 16 bytes.
    pub name: Vec<u8>,
    /// `pr_psargs`: the arguments joined by blanks, cut at 80 bytes.
    pub args: Vec<u8>,
}

impl ProcessInfo {
    /// Reads the descriptor; `None` when it is too short.
    pub fn parse(desc: &[u8], target: Target) -> Option<Self> {
        let mut cursor = Cursor::new(desc, target);
        cursor.skip(1).ok()?;
        let letter = char::from(cursor.u8().ok()?);
        let zombie = cursor.u8().ok()? != 0;
        let nice = cursor.u8().ok()?.cast_signed();
        cursor.align(target.word_size());
        let flags = cursor.word().ok()?;
        // The oldest 32-bit architectures have pr_uid and pr_gid of 16 bits, by which the whole is
        // shorter: 124 bytes and not 128.
        let id_size = if target.word == 4 && desc.len() < 128 { 2 } else { 4 };
        let uid = u32::try_from(cursor.uint(id_size).ok()?).ok()?;
        let gid = u32::try_from(cursor.uint(id_size).ok()?).ok()?;
        let [pid, parent, group, session] =
            [cursor.u32().ok()?, cursor.u32().ok()?, cursor.u32().ok()?, cursor.u32().ok()?];
        let name = until_nul(cursor.bytes(16).ok()?).to_vec();
        let args = until_nul(cursor.bytes(80).ok()?).trim_ascii_end().to_vec();
        let state = letter.is_ascii_graphic().then_some(letter);
        Some(Self { pid, parent, group, session, uid, gid, state, zombie, nice, flags, name, args })
    }
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// One entry of the auxiliary vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuxEntry {
    /// `a_type`, an `AT_*` number.
    pub kind: u64,
    /// `a_val`.
    pub value: u64,
}

/// Reads `NT_AUXV`, up to `AT_NULL` or the end of the descriptor.
pub fn parse_auxv(desc: &[u8], target: Target) -> Vec<AuxEntry> {
    let mut cursor = Cursor::new(desc, target);
    let mut entries = Vec::new();
    while let (Ok(kind), Ok(value)) = (cursor.word(), cursor.word()) {
        if kind == 0 {
            break;
        }
        entries.push(AuxEntry { kind, value });
    }
    entries
}

/// One entry of `NT_FILE`: a mapping of a named file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFile {
    /// The addresses.
    pub range: AddrRange,
    /// Offset in the file of the first byte.
    pub offset: FileOff,
    /// The path as the kernel knew it, ` (deleted)` included.
    pub path: Vec<u8>,
}

/// `NT_FILE`, and the page size by which it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedFiles {
    /// Bytes in a page.
    pub page_size: u64,
    /// The mappings, as many as the descriptor holds with their names.
    pub files: Vec<MappedFile>,
}

/// Reads `NT_FILE` (Linux `fs/binfmt_elf.c`, `fill_files_note`): `count`, `page_size`, `count`
/// triples `start end file_ofs`, the offset in pages, then `count` NUL-terminated names.
///
/// Kernels of 64 bits write words of 64 bits for programs of MIPS whose words have 32.
pub fn parse_files(desc: &[u8], target: Target) -> Option<MappedFiles> {
    // The upper half of a count or of a page size is 0.
    let fits = |it: &MappedFiles| it.page_size.is_power_of_two() && !it.files.is_empty();
    let own = parse_files_of(desc, target);
    if target.word == 8 || own.as_ref().is_some_and(fits) {
        return own;
    }
    parse_files_of(desc, Target { word: 8, ..target }).filter(fits).or(own)
}

fn parse_files_of(desc: &[u8], target: Target) -> Option<MappedFiles> {
    let mut rows = Cursor::new(desc, target);
    let count = rows.word().ok()?;
    let page_size = rows.word().ok()?;
    let row_size = (target.word as u64).checked_mul(3)?;
    if count > MAX_FILES || count.checked_mul(row_size)? > rows.rest().len() as u64 {
        return None;
    }
    let mut names = rows;
    names.skip(usize::try_from(count.checked_mul(row_size)?).ok()?).ok()?;
    let mut files = Vec::new();
    for _ in 0..count {
        let range = AddrRange::new(Addr::new(rows.word().ok()?), Addr::new(rows.word().ok()?));
        let offset = rows.word().ok()?.saturating_mul(page_size);
        let Ok(path) = names.cstr() else { break };
        files.push(MappedFile { range, offset: FileOff::new(offset), path: path.to_vec() });
    }
    Some(MappedFiles { page_size, files })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn file_offsets_are_counted_in_pages() {
        let mut desc = words(&[2, 0x1000, 0x40_0000, 0x40_1000, 0, 0x7000, 0x8000, 3]);
        desc.extend_from_slice(b"/bin/app\0/lib/a.so (deleted)\0");
        let files = parse_files(&desc, Target::X86_64).unwrap().files;
        assert_eq!(files[1].offset, FileOff::new(0x3000));
        assert_eq!(files[1].path, b"/lib/a.so (deleted)");
        assert_eq!(files[0].range.len(), 0x1000);
    }

    #[test]
    fn words_may_be_wider_than_those_of_the_program() {
        let mut desc = words(&[1, 0x1000, 0x1000_0000, 0x1000_1000, 0]);
        desc.extend_from_slice(b"/bin/app\0");
        let mips = Target { arch: kcore_mem::Arch::Mips, word: 4, ..Target::X86_64 };
        let found = parse_files(&desc, mips).unwrap();
        assert_eq!((found.page_size, &*found.files[0].path), (0x1000, &b"/bin/app"[..]));
        let big = desc[..40].chunks(8).flat_map(|word| word.iter().rev().copied());
        let big: Vec<u8> = big.chain(desc[40..].iter().copied()).collect();
        let target = Target { endian: kcore_mem::Endian::Big, ..mips };
        assert_eq!(parse_files(&big, target), Some(found));
    }

    #[test]
    fn a_count_that_the_note_cannot_hold_is_refused() {
        assert_eq!(parse_files(&words(&[u64::MAX, 0x1000, 1, 2, 3]), Target::X86_64), None);
        assert_eq!(parse_files(&words(&[1 << 40, 0x1000]), Target::X86_64), None);
    }

    #[test]
    fn names_that_are_cut_off_leave_the_rows_before_them() {
        let mut desc = words(&[2, 0x1000, 1, 2, 0, 3, 4, 0]);
        desc.extend_from_slice(b"/a\0/b");
        assert_eq!(parse_files(&desc, Target::X86_64).unwrap().files.len(), 1);
    }

    #[test]
    fn the_auxiliary_vector_ends_at_null_or_with_the_bytes() {
        let desc = words(&[33, 0x7fff_0000, 6, 0x1000, 0, 0, 9, 9]);
        assert_eq!(parse_auxv(&desc, Target::X86_64).len(), 2);
        assert_eq!(parse_auxv(&desc[..20], Target::X86_64).len(), 1);
    }

    #[test]
    fn process_info_has_its_fields_at_the_kernels_offsets() {
        let mut desc = vec![0; 136];
        desc[..4].copy_from_slice(&[0, b'R', 0, 0xfb]);
        desc[8..12].copy_from_slice(&0x40_0600_u32.to_le_bytes());
        desc[16..20].copy_from_slice(&1000_u32.to_le_bytes());
        desc[20..24].copy_from_slice(&100_u32.to_le_bytes());
        desc[24..28].copy_from_slice(&4711_u32.to_le_bytes());
        desc[28..32].copy_from_slice(&1_u32.to_le_bytes());
        desc[32..36].copy_from_slice(&4700_u32.to_le_bytes());
        desc[36..40].copy_from_slice(&4000_u32.to_le_bytes());
        desc[40..43].copy_from_slice(b"app");
        desc[56..63].copy_from_slice(b"app -n ");
        let info = ProcessInfo::parse(&desc, Target::X86_64).unwrap();
        assert_eq!((info.pid, info.parent, info.group, info.session), (4711, 1, 4700, 4000));
        assert_eq!((info.uid, info.gid), (1000, 100));
        assert_eq!((info.state, info.zombie, info.nice), (Some('R'), false, -5));
        assert_eq!(info.flags, 0x40_0600);
        assert_eq!((&info.name[..], &info.args[..]), (&b"app"[..], &b"app -n"[..]));
        assert_eq!(ProcessInfo::parse(&desc[..100], Target::X86_64), None);
    }
}
