//! The tiny program as code that was registered: by an object, by a tree of two levels, by a file.

use kcore_fuzz::{input::Output, memory::Memory, synthetic::words};

use crate::tiny::Tiny;

/// Where what registers lies, and the file.
const AT: u64 = 0x10_0000;
const FILE: u64 = 0x20_0000;

pub fn seeds(tiny: &Tiny) -> Vec<(&'static str, Vec<u8>)> {
    let (eh_frame, bytes) = tiny.section(".eh_frame");
    let section = (eh_frame, [&bytes[..], &[0; 4]].concat());
    // Begin, two bases, the section, its kind, the next object; the second has an array of sections.
    let object = [0, 0, 0, eh_frame, 0, AT + 0x30, 0, 0, 0, AT + 0x60, 2, 0, eh_frame, 0];
    // A root of one child up to the highest address, its leaf of one object, and that: each node has a lock first.
    let root = [0, 1, u64::MAX, AT + 0x20];
    let leaf = [0, 1 | 1 << 32, 0x40_0000, 0x1000, AT + 0x50, 0];
    let only = [0, 0, 0, eh_frame, 0, 0];
    // A version, the entry made last and the first; that has no other, a file and its length.
    let descriptor = [1, AT + 0x20, AT + 0x20, 0, 0, 0, FILE, tiny.exe.len() as u64];
    let on_objects = |parts: &[&[u64]]| {
        let made = Memory(vec![(AT, words(&parts.concat())), section.clone()]);
        made.write(Output::default().byte(1).word(AT).byte(0)).0
    };
    let file = Memory(vec![(AT, words(&descriptor)), (FILE, tiny.exe.clone())]);
    vec![
        ("objects", on_objects(&[&object])),
        ("tree", on_objects(&[&root, &leaf, &only])),
        ("file", file.write(Output::default().byte(0).byte(1).word(AT)).0),
    ]
}
