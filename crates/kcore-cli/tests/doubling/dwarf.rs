//! Debug information, byte by byte.

use crate::elf::{BASE, TEXT, leb};

/// Tags (DWARF 5, table 7.3).
pub mod tag {
    pub const UNIT: u64 = 0x11;
    pub const STRUCTURE: u64 = 0x13;
    pub const INLINED: u64 = 0x1d;
    pub const SUBPROGRAM: u64 = 0x2e;
    pub const VARIABLE: u64 = 0x34;
    pub const SKELETON: u64 = 0x4a;
}

/// Attributes (table 7.5).
pub mod at {
    pub const LOCATION: u64 = 0x02;
    pub const NAME: u64 = 0x03;
    pub const BYTE_SIZE: u64 = 0x0b;
    pub const STMT_LIST: u64 = 0x10;
    pub const LOW_PC: u64 = 0x11;
    pub const HIGH_PC: u64 = 0x12;
    pub const ABSTRACT_ORIGIN: u64 = 0x31;
    pub const EXTERNAL: u64 = 0x3f;
    pub const RANGES: u64 = 0x55;
    pub const DWO_NAME: u64 = 0x76;
}

/// Forms (table 7.6).
pub mod form {
    pub const ADDR: u64 = 0x01;
    pub const DATA8: u64 = 0x07;
    pub const STRING: u64 = 0x08;
    pub const DATA1: u64 = 0x0b;
    pub const STRP: u64 = 0x0e;
    pub const REF_ADDR: u64 = 0x10;
    pub const SEC_OFFSET: u64 = 0x17;
    pub const FLAG_PRESENT: u64 = 0x19;
}

/// Bytes of the header of a unit of [`unit`], before its root.
pub const UNIT_HEADER: usize = 11;

/// The first address of the code.
pub const CODE: u64 = BASE + TEXT;

/// A declaration of a shape of entries.
pub fn abbreviation(code: u64, tag: u64, has_children: bool, attributes: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes = [leb(code), leb(tag), vec![u8::from(has_children)]].concat();
    for (name, form) in attributes {
        bytes.extend([leb(*name), leb(*form)].concat());
    }
    bytes.extend([0, 0]);
    bytes
}

/// A unit of DWARF 4, whose abbreviations begin at `abbreviations`.
pub fn unit(abbreviations: usize, entries: &[u8]) -> Vec<u8> {
    let len = (UNIT_HEADER - 4 + entries.len()) as u32;
    let mut bytes = len.to_le_bytes().to_vec();
    bytes.extend(4_u16.to_le_bytes());
    bytes.extend((abbreviations as u32).to_le_bytes());
    bytes.push(8);
    bytes.extend(entries);
    bytes
}

/// An entry: its code, then its attributes.
pub fn entry(code: u64, attributes: &[&[u8]]) -> Vec<u8> {
    [&leb(code)[..], &attributes.concat()].concat()
}

/// An offset into a section.
pub fn offset(at: usize) -> [u8; 4] {
    (at as u32).to_le_bytes()
}

/// Ranges of `.debug_ranges`, from the first byte of code on, with gaps, and their end.
pub fn ranges(count: usize) -> Vec<u8> {
    let places = (0..count as u64).map(|at| CODE + 8 * at);
    let mut bytes: Vec<u8> =
        places.flat_map(|at| [at.to_le_bytes(), (at + 4).to_le_bytes()]).flatten().collect();
    bytes.extend([0; 16]);
    bytes
}

/// A line program of so many rows, for code from its first byte on. `skipped` bytes between its header
/// and its operations are left out.
pub fn line_program(skipped: usize, operations: &[u8]) -> Vec<u8> {
    let mut header = vec![1, 1, 0xfb, 14, 13];
    header.extend([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
    header.extend(b"\0file.c\0\0\0\0\0");
    let mut body = 3_u16.to_le_bytes().to_vec();
    body.extend(((header.len() + skipped) as u32).to_le_bytes());
    body.extend(header);
    let len = (body.len() + skipped + operations.len()) as u32;
    [&len.to_le_bytes()[..], &body, operations].concat()
}

/// Operations that make so many rows.
pub fn rows(count: usize) -> Vec<u8> {
    let mut bytes = vec![0, 9, 2];
    bytes.extend(CODE.to_le_bytes());
    bytes.extend(vec![0x14; count]);
    bytes.extend([0, 1, 1]);
    bytes
}
