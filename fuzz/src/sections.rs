//! ELF files that have debug sections and nothing else.

use crate::{
    input::{Input, Output},
    synthetic::words,
};

/// What a module's own file may have.
pub const MAIN: [&str; 15] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_str",
    ".debug_line_str",
    ".debug_str_offsets",
    ".debug_addr",
    ".debug_rnglists",
    ".debug_ranges",
    ".debug_loclists",
    ".debug_loc",
    ".debug_types",
    ".debug_line",
    ".debug_aranges",
    ".debug_names",
    ".gdb_index",
];

/// What the file of a split unit, or a package of them, may have.
pub const SPLIT: [&str; 11] = [
    ".debug_info.dwo",
    ".debug_abbrev.dwo",
    ".debug_str.dwo",
    ".debug_str_offsets.dwo",
    ".debug_rnglists.dwo",
    ".debug_loclists.dwo",
    ".debug_loc.dwo",
    ".debug_types.dwo",
    ".debug_line.dwo",
    ".debug_cu_index",
    ".debug_tu_index",
];

/// Bytes of an ELF header and of a section header.
const HEADER: usize = 64;

/// Reads a part for each section; empty ones are left out.
pub fn read(input: &mut Input<'_>, names: &[&'static str]) -> Vec<u8> {
    let sections: Vec<_> = names.iter().map(|name| (*name, input.part())).collect();
    let kept: Vec<_> = sections.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
    elf(&kept)
}

/// The other way round.
pub fn write(names: &[&str], bytes_of: impl Fn(&str) -> Vec<u8>, output: Output) -> Output {
    names.iter().fold(output, |output, name| output.part(&bytes_of(name)))
}

/// A 64-bit little-endian file of x86-64 with these sections.
pub fn elf(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut names, mut bytes) = (vec![0], vec![0; HEADER]);
    let mut headers = vec![0; HEADER];
    for (name, data) in sections {
        headers.extend(header(1, names.len(), bytes.len(), data.len()));
        names.extend(name.bytes().chain([0]));
        bytes.extend(*data);
    }
    // The names' own section has the empty name.
    headers.extend(header(3, 0, bytes.len(), names.len()));
    bytes.extend(names);
    let at = bytes.len() as u64;
    bytes.extend(headers);
    bytes[..HEADER].copy_from_slice(&file_header(at, sections.len() as u16 + 2));
    bytes
}

fn file_header(sections_at: u64, count: u16) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend([2, 62, 1, 0].iter().flat_map(|half: &u16| half.to_le_bytes()));
    bytes.extend(words(&[0, 0, sections_at]));
    let halves = [0, 0, HEADER as u16, 56, 0, HEADER as u16, count, count - 1];
    bytes.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
    bytes
}

fn header(kind: u32, name: usize, at: usize, len: usize) -> Vec<u8> {
    let mut bytes = (name as u32).to_le_bytes().to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(words(&[0, 0, at as u64, len as u64, 0, 1, 0]));
    bytes
}
