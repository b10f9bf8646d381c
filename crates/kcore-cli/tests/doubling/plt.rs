//! Entries of a linkage table that share a slot or a name.

use crate::case::Case;
use crate::dwarf::CODE;
use crate::elf::{BASE, Program, TEXT};
use crate::run::assert_linear;
use crate::synthetic::words;

/// Bytes of code, and of an entry.
const LEN: usize = 64;
const ENTRY: usize = 8;
/// Where slots lie.
const SLOTS: u64 = 0x90_0000;
/// The relocation of a slot that a resolver fills.
const IRELATIVE: u64 = 37;

/// A program of so many entries, which jump through slots `apart` bytes from each other, each of which the function
/// at the first byte of code fills. That has a name of `name` bytes.
fn program(entries: usize, apart: u64, name: usize) -> Program {
    let start = BASE + (TEXT as usize + LEN) as u64;
    let slot = |at: usize| SLOTS + apart * at as u64;
    let jump = |at: usize| {
        let behind = start + (ENTRY * at + 6) as u64;
        let distance = (slot(at) - behind) as u32;
        [&[0xff, 0x25][..], &distance.to_le_bytes(), &[0x66, 0x90]].concat()
    };
    let relocation = |at: usize| words(&[slot(at), IRELATIVE, CODE]);
    let mut table = vec![0; 24];
    table.extend([1, 0, 0, 0, 0x12, 0, 1, 0]);
    table.extend(words(&[CODE, LEN as u64]));
    Program::of_nops(LEN)
        .with_loaded(".plt", (0..entries).flat_map(jump).collect())
        .with(".rela.plt", (0..entries).flat_map(relocation).collect())
        .with_symbols(table, [vec![0], vec![b'a'; name], vec![0]].concat())
}

#[test]
fn entries_of_one_slot() {
    assert_linear("slot", 4000, |n| Case::of(&program(n, 0, n), "::stack"));
}

#[test]
fn slots_of_one_function() {
    assert_linear("slots", 4000, |n| Case::of(&program(n, 8, n), "::stack"));
}
