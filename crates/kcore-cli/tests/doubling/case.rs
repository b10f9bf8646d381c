//! What kcore is asked about: a core, and mostly the program that it is of.

use crate::elf::{BASE, Program, TEXT};
use crate::synthetic::{core, note, words};

/// Where stacks lie.
pub const STACK: u64 = 0x7000_0000_0000;

/// Registers of a thread by their places in the core's note.
const RBP: usize = 4;
const RIP: usize = 16;
const RSP: usize = 19;

/// Files that kcore is started on, and what it is asked.
pub struct Case {
    /// The program, if it has a file.
    pub program: Option<Vec<u8>>,
    /// Files beside it, by name.
    pub beside: Vec<(String, Vec<u8>)>,
    /// The core.
    pub core: Vec<u8>,
    /// The commands.
    pub commands: &'static str,
}

/// Where a thread stands.
#[derive(Clone, Copy)]
pub struct Stands {
    /// Its program counter.
    pub pc: u64,
    /// Its stack pointer.
    pub sp: u64,
    /// Its frame pointer.
    pub frame: u64,
}

impl Case {
    /// A program whose one thread stands at the beginning of its code, on a stack of zeros.
    pub fn of(program: &Program, commands: &'static str) -> Self {
        let at = Stands::at(BASE + TEXT, STACK);
        Self::with_stack(program, &[at], vec![0; 256], commands)
    }

    /// A program whose threads have one stack.
    pub fn with_stack(
        program: &Program,
        threads: &[Stands],
        stack: Vec<u8>,
        commands: &'static str,
    ) -> Self {
        let memory = program.memory();
        let mut notes: Vec<u8> = (1..).zip(threads).flat_map(|(tid, at)| at.note(tid)).collect();
        notes.extend(file_note(&[(BASE, memory.len() as u64, b"/nowhere/program")]));
        notes.extend(note("CORE", 6, &words(&[3, BASE + 64, 5, 2, 9, BASE + TEXT, 0, 0])));
        let core = core(&notes, &[(BASE, memory), (STACK, stack)]);
        Self { program: Some(program.file()), beside: Vec::new(), core, commands }
    }

    /// A core alone.
    pub const fn core(core: Vec<u8>, commands: &'static str) -> Self {
        Self { program: None, beside: Vec::new(), core, commands }
    }

    /// The bytes of all files.
    pub fn len(&self) -> usize {
        let beside: usize = self.beside.iter().map(|(_, bytes)| bytes.len()).sum();
        self.core.len() + self.program.as_ref().map_or(0, Vec::len) + beside
    }
}

impl Stands {
    /// With the same stack pointer and frame pointer.
    pub const fn at(pc: u64, sp: u64) -> Self {
        Self { pc, sp, frame: sp }
    }

    /// `NT_PRSTATUS`.
    pub fn note(self, tid: u32) -> Vec<u8> {
        let mut desc = vec![0; 336];
        desc[32..36].copy_from_slice(&tid.to_le_bytes());
        for (register, value) in [(RBP, self.frame), (RIP, self.pc), (RSP, self.sp)] {
            let at = 112 + register * 8;
            desc[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        note("CORE", 1, &desc)
    }
}

/// `NT_FILE`: where files are mapped, for how many bytes, and their paths.
pub fn file_note(rows: &[(u64, u64, &[u8])]) -> Vec<u8> {
    let mut desc = words(&[rows.len() as u64, 1]);
    for (start, len, _) in rows {
        desc.extend(words(&[*start, start + len, 0]));
    }
    for (_, _, path) in rows {
        desc.extend([path, &b"\0"[..]].concat());
    }
    note("CORE", 0x4649_4c45, &desc)
}
