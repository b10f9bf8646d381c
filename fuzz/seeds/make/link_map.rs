//! A process of the dynamic linker, written by hand: an executable, `r_debug`, two libraries.

use kcore_fuzz::{
    input::Output,
    memory::Memory,
    synthetic::{note, words},
};

const EXE: u64 = 0x40_0000;
const DEBUG: u64 = 0x7000_0000;
const LIBRARY: u64 = 0x7f00_0000_0000;

/// What the target `modules` reads.
pub fn seed() -> Vec<u8> {
    let auxv = words(&[3, EXE + 64, 5, 3, 0, 0]);
    let parts = vec![
        (EXE, [header(3), program_headers(), dynamic(&[21, DEBUG])].concat()),
        (
            DEBUG,
            [debug(), entry(0, 0x80, EXE + 0xe8, 0x68), entry(LIBRARY, 0x88, LIBRARY + 0xe8, 0)]
                .concat(),
        ),
        (LIBRARY, [header(3), program_headers(), symbols()].concat()),
    ];
    Memory(parts).write(Output::default().part(&note("CORE", 6, &auxv))).0
}

fn header(elf_type: u16) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend([elf_type, 62, 1, 0].iter().flat_map(|half| half.to_le_bytes()));
    bytes.extend(words(&[0x100, 64, 0]));
    bytes.extend([0, 0, 64, 56, 3, 64, 0, 0_u16].iter().flat_map(|half| half.to_le_bytes()));
    bytes
}

/// `PT_LOAD`, `PT_DYNAMIC` behind the headers, `PT_GNU_EH_FRAME`.
fn program_headers() -> Vec<u8> {
    let segments = [(1_u32, 0, 0x1000), (2, 0xe8, 0x60), (0x6474_e550, 0x180, 0x20)];
    let header = |(kind, at, len): (u32, u64, u64)| {
        let words = words(&[at, at, 0, len, len, 8]);
        [&kind.to_le_bytes()[..], &5_u32.to_le_bytes(), &words].concat()
    };
    segments.into_iter().flat_map(header).collect()
}

fn dynamic(entries: &[u64]) -> Vec<u8> {
    words(&[entries, &[0, 0]].concat())
}

/// `r_debug` of version 1.
fn debug() -> Vec<u8> {
    words(&[1, DEBUG + 0x28, 0, 0, 0])
}

/// A `link_map` whose name and successor lie in the same part; 0 is no successor.
fn entry(bias: u64, name: u64, dynamic: u64, next: u64) -> Vec<u8> {
    let next = if next == 0 { 0 } else { DEBUG + next };
    words(&[bias, DEBUG + name, dynamic, next, 0, 0, 0, 0])
}

/// A dynamic section with `DT_SYMTAB`, `DT_STRTAB` and `DT_HASH`, then the tables.
fn symbols() -> Vec<u8> {
    let at = LIBRARY + 0xe8 + 0x40;
    let dynamic = dynamic(&[6, at, 5, at + 0x30, 4, at + 0x40]);
    let symbol = [&1_u32.to_le_bytes()[..], &[0x12, 0, 1, 0], &words(&[0x100, 0x20])].concat();
    let strings = b"\0fuzzed\0\0\0\0\0\0\0\0\0".to_vec();
    let hash: Vec<u8> = [1_u32, 2, 1, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    [dynamic, vec![0; 24], symbol, strings, hash].concat()
}
