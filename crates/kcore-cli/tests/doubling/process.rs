//! Modules that share a file, and files that share memory.

use crate::case::{Case, STACK, Stands, file_note};
use crate::dwarf::CODE;
use crate::elf::{BASE, Program};
use crate::frames::eh_frame_of_functions;
use crate::run::assert_linear;
use crate::synthetic::{core, note, segment, with_segments, words};
use kcore_mem::Target;

/// Where the modules lie, and how far from each other.
const PLACE: u64 = 0x1000_0000;
const APART: u64 = 0x10_0000;

/// A core whose modules are one file, each with a frame on the stack.
fn modules(n: usize, symbols: usize, has_file: bool) -> Case {
    let mut table = vec![0; 24];
    for at in 0..symbols as u64 {
        table.extend([1, 0, 0, 0, 0x12, 0, 1, 0]);
        table.extend(words(&[CODE + at, 1]));
    }
    let program = Program::of_nops(64 + symbols)
        .with_loaded(".eh_frame", eh_frame_of_functions(symbols, 1))
        .with_symbols(table, b"\0name\0".to_vec());
    let memory = program.memory();
    let place = |at: usize| PLACE + APART * at as u64;
    let code = CODE - BASE;
    let mut stack: Vec<u64> = (1..n).flat_map(|at| [place(at) + code + 16, 0]).collect();
    stack.extend([0; 32]);
    let stack = words(&stack);
    let len = memory.len() as u64;
    let rows: Vec<_> = (0..n).map(|at| (place(at), len, &b"/nowhere/program"[..])).collect();
    let mut notes = Stands::at(place(0) + code, STACK).note(1);
    notes.extend(file_note(&rows));
    notes.extend(note("CORE", 6, &words(&[0, 0])));
    let notes_at = 64 + 56 * (n + 2);
    let (memory_at, stack_at) = (notes_at + notes.len(), notes_at + notes.len() + memory.len());
    let mut segments = segment(4, notes_at, 0, notes.len());
    (0..n).for_each(|at| segments.extend(segment(1, memory_at, place(at), memory.len())));
    segments.extend(segment(1, stack_at, STACK, stack.len()));
    let core = with_segments(Target::X86_64, &segments, &[notes, memory, stack].concat());
    let beside = if has_file { vec![("program".into(), program.file())] } else { Vec::new() };
    Case { beside, ..Case::core(core, "::stack; ::objects") }
}

#[test]
fn modules_of_one_file() {
    assert_linear("modules of one file", 400, |n| modules(n, n * 10, true));
}

#[test]
fn modules_of_one_file_that_is_not_there() {
    assert_linear("modules without a file", 400, |n| modules(n, n * 10, false));
}

/// As many files as segments, each of which says that it is mapped over all of these.
fn files(n: usize, commands: &'static str) -> Case {
    let path = |at: usize| format!("/nowhere/{at}").into_bytes();
    let paths: Vec<Vec<u8>> = (0..n).map(path).collect();
    let rows: Vec<(u64, u64, &[u8])> = (0..n)
        .map(|at| (PLACE + APART * at as u64, APART * 2 * n as u64, paths[at].as_slice()))
        .collect();
    let notes = [Stands::at(PLACE, STACK).note(1), file_note(&rows)].concat();
    let segments: Vec<_> = (0..n).map(|at| (PLACE + APART * at as u64, vec![0x90; 64])).collect();
    Case::core(core(&notes, &segments), commands)
}

#[test]
fn files_that_are_mapped_over_one_another() {
    for commands in ["::mappings; ::objects", "::status", "10000010::whatis"] {
        assert_linear(commands, 400, |n| files(n, commands));
    }
}
