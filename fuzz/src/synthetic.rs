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
    let mut bytes = header(target, memory.len() + 1);
    let mut offset = HEADER + SEGMENT * (memory.len() + 1);
    bytes.extend(segment(4, offset, 0, notes.len()));
    offset += notes.len();
    for (start, part) in memory {
        bytes.extend(segment(1, offset, *start, part.len()));
        offset += part.len();
    }
    bytes.extend(notes);
    memory.iter().for_each(|(_, part)| bytes.extend(part));
    bytes
}

fn header(target: Target, segments: usize) -> Vec<u8> {
    let machine: u16 = if target.arch == Arch::Aarch64 { 183 } else { 62 };
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for half in [4, machine, 1, 0] {
        bytes.extend(half.to_le_bytes());
    }
    for word in [0, HEADER as u64, 0] {
        bytes.extend(word.to_le_bytes());
    }
    for half in [0, 0, HEADER as u16, SEGMENT as u16, segments as u16, 0, 0, 0] {
        bytes.extend(half.to_le_bytes());
    }
    bytes
}

fn segment(kind: u32, offset: usize, start: u64, len: usize) -> Vec<u8> {
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
