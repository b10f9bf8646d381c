//! The ELF file: header, one segment, the sections and their headers.

use kcore_mem::{Endian, Svma, Target};

use crate::target_bytes::TargetBytes;

const PT_LOAD: u32 = 1;
const SHT_PROGBITS: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_NOBITS: u32 = 8;
/// Allocated, executable.
const CODE: u64 = 6;

/// A section with its bytes.
pub struct ElfSection {
    pub name: &'static str,
    pub kind: SectionKind,
    pub bytes: Vec<u8>,
}

/// What a section is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SectionKind {
    /// Debug information.
    Debug,
    /// Symbols: bytes of each. The next section has their names.
    Symbols(usize),
    /// Strings.
    Strings,
}

/// Where code lies: its first address, and how many bytes of it there may be.
#[derive(Clone, Copy)]
pub struct Code {
    pub base: Svma,
    pub len: u64,
}

/// A file of these sections, for code that is in another file.
pub fn file(target: Target, code: Code, mut sections: Vec<ElfSection>) -> Vec<u8> {
    let (names, places) = section_names(&sections);
    sections.push(ElfSection { name: ".shstrtab", kind: SectionKind::Strings, bytes: names });
    let count = sections.len().saturating_add(2);
    let layout = Layout::of(target);
    let first = layout.header.saturating_add(layout.segment);
    let table = sections.iter().fold(first, |at, it| at.saturating_add(it.bytes.len()));
    let table = table.next_multiple_of(8);
    let mut out = TargetBytes::new(target);
    elf_header(&mut out, table, count);
    segment(&mut out, code);
    sections.iter().for_each(|section| _ = out.raw(&section.bytes));
    out.zeros_to(table);
    out.zeros_to(table.saturating_add(layout.section));
    let text = [SHT_NOBITS.into(), CODE, code.base.get(), first as u64, code.len, 0, 0];
    section_header(&mut out, 1, text);
    let mut at = first;
    for (number, (section, name)) in sections.iter().zip(places).enumerate() {
        let (kind, link, entry) = match section.kind {
            SectionKind::Debug => (SHT_PROGBITS, 0, 0),
            SectionKind::Symbols(size) => (SHT_SYMTAB, number.saturating_add(3), size),
            SectionKind::Strings => (SHT_STRTAB, 0, 0),
        };
        let len = section.bytes.len();
        let words = [kind.into(), 0, 0, at as u64, len as u64, link as u64, entry as u64];
        section_header(&mut out, name, words);
        at = at.saturating_add(len);
    }
    out.finish()
}

/// Bytes of the headers.
struct Layout {
    header: usize,
    segment: usize,
    section: usize,
}

impl Layout {
    const fn of(target: Target) -> Self {
        match target.word_size() {
            8 => Self { header: 64, segment: 56, section: 64 },
            _ => Self { header: 52, segment: 32, section: 40 },
        }
    }
}

/// The names of the sections, and where each begins, the last being that of the names themselves. The first is `.text`.
fn section_names(sections: &[ElfSection]) -> (Vec<u8>, Vec<u32>) {
    let mut names = b"\0.text\0".to_vec();
    let mut places = Vec::new();
    for name in sections.iter().map(|section| section.name).chain([".shstrtab"]) {
        places.push(u32::try_from(names.len()).unwrap_or(0));
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    (names, places)
}

fn elf_header(out: &mut TargetBytes, table: usize, count: usize) {
    let target = out.target();
    let layout = Layout::of(target);
    let class = if target.word_size() == 8 { 2 } else { 1 };
    let order = if target.endian == Endian::Little { 1 } else { 2 };
    let half = |value: usize| u16::try_from(value).unwrap_or(0);
    out.raw(b"\x7fELF").raw(&[class, order, 1]).zeros_to(16);
    out.u16(3).u16(target.arch.elf_machine()).u32(1);
    out.word(0).word(layout.header as u64).word(table as u64).u32(0);
    out.u16(half(layout.header)).u16(half(layout.segment)).u16(1);
    out.u16(half(layout.section)).u16(half(count)).u16(half(count.saturating_sub(1)));
}

/// All code as one segment, which tells where the file would be mapped.
fn segment(out: &mut TargetBytes, code: Code) {
    let is_wide = out.target().word_size() == 8;
    out.u32(PT_LOAD);
    if is_wide {
        out.u32(5);
    }
    out.word(0).word(code.base.get()).word(code.base.get()).word(code.len).word(code.len);
    if !is_wide {
        out.u32(5);
    }
    out.word(0x1000);
}

/// Type, flags, address, offset, size, link, size of an entry.
fn section_header(out: &mut TargetBytes, name: u32, words: [u64; 7]) {
    let [kind, flags, addr, offset, size, link, entry] = words;
    out.u32(name).uint(kind, 4).word(flags).word(addr).word(offset).word(size);
    out.uint(link, 4).u32(0).word(1).word(entry);
}
