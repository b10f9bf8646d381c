//! A core around notes and memory, so that a target spends its time behind the ELF header.

use kcore_mem::{Arch, Target};

/// Bytes of an ELF header and of a program header.
const HEADER: usize = 64;
const SEGMENT: usize = 56;

/// A 64-bit little-endian core of x86-64.
pub fn core(notes: &[u8], memory: &[(u64, Vec<u8>)]) -> Vec<u8> {
    core_for(Target::X86_64, notes, memory)
}

/// The same for another machine, which must be 64-bit and little-endian too.
pub fn core_for(target: Target, notes: &[u8], memory: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let notes_at = HEADER + SEGMENT * (memory.len() + 1);
    let mut segments = segment(4, notes_at, 0, notes.len());
    let mut offset = notes_at + notes.len();
    for (start, part) in memory {
        segments.extend(segment(1, offset, *start, part.len()));
        offset += part.len();
    }
    let rest = memory.iter().flat_map(|(_, part)| part);
    let rest: Vec<u8> = notes.iter().chain(rest).copied().collect();
    with_segments(target, &segments, &rest)
}

/// A core of these program headers, with `rest` right behind them. When they are too many for the
/// header, their number stands in a section header at the end, as the kernel writes it.
pub fn with_segments(target: Target, segments: &[u8], rest: &[u8]) -> Vec<u8> {
    const PN_XNUM: u16 = 0xffff;
    let count = segments.len() / SEGMENT;
    let in_header = u16::try_from(count).unwrap_or(PN_XNUM);
    let sections = HEADER + segments.len() + rest.len();
    let sections = if in_header == PN_XNUM { sections as u64 } else { 0 };
    let mut bytes = header(target, in_header, sections);
    bytes.extend([segments, rest].concat());
    if in_header == PN_XNUM {
        let mut section = [0; HEADER];
        section[44..48].copy_from_slice(&(count as u32).to_le_bytes());
        bytes.extend(section);
    }
    bytes
}

fn header(target: Target, segments: u16, sections: u64) -> Vec<u8> {
    let machine: u16 = if target.arch == Arch::Aarch64 { 183 } else { 62 };
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for half in [4, machine, 1, 0] {
        bytes.extend(half.to_le_bytes());
    }
    for word in [0, HEADER as u64, sections] {
        bytes.extend(word.to_le_bytes());
    }
    for half in [0, 0, HEADER as u16, SEGMENT as u16, segments, HEADER as u16, 0, 0] {
        bytes.extend(half.to_le_bytes());
    }
    bytes
}

/// A program header: `kind`, offset in the file, address, bytes in the file and in memory.
pub fn segment(kind: u32, offset: usize, start: u64, len: usize) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    // Readable, writable and executable: whatever is asked about it may be true.
    bytes.extend(7_u32.to_le_bytes());
    for word in [offset as u64, start, 0, len as u64, len as u64, 1] {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

/// A note.
pub fn note(owner: &str, kind: u32, desc: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [owner.len() as u32 + 1, desc.len() as u32, kind] {
        bytes.extend(word.to_le_bytes());
    }
    for part in [[owner.as_bytes(), b"\0"].concat(), desc.to_vec()] {
        bytes.extend(&part);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// Numbers of 64 bits.
pub fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
