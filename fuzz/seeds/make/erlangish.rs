//! Erlang/OTP 25 with one process that a scheduler runs: a module of one function, a message with a map, a table.

use kcore_fuzz::{
    erlang::{hidden, variable},
    input::Output,
    memory::Memory,
    synthetic::words,
};

const PROCESS: u64 = 0x20_0000;
const HEAP: u64 = 0x21_0000;
const SLOTS: u64 = 0x22_0000;
const ATOMS: u64 = 0x23_0000;
const CODE: u64 = 0x24_0000;
const LINES: u64 = 0x25_0000;
const RANGES: u64 = 0x26_0000;
const MESSAGE: u64 = 0x27_0000;
const TABLE: u64 = 0x28_0000;
const SCHEDULER: u64 = 0x29_0000;
const BLOCK: u64 = 0x7f_0000;

/// The atoms `a` and `b`, a process, a small number.
const A: u64 = 0x0b;
const B: u64 = 0x4b;
const PID: u64 = (87 << 4) | 3;
const SMALL: u64 = (5 << 4) | 15;
const NIL: u64 = 0x3b;

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("erlang25", seed(false)), ("erlang25-running", seed(true))]
}

/// Words at offsets of a block.
fn at(size: usize, all: &[(usize, u64)]) -> Vec<u8> {
    let mut block = vec![0_u64; size / 8];
    all.iter().for_each(|(offset, word)| block[offset / 8] = *word);
    words(&block)
}

fn seed(is_running: bool) -> Vec<u8> {
    let head = Output::default().word(BLOCK).word(HEAP + 2);
    Memory(memory(is_running)).write(head).0
}

fn memory(is_running: bool) -> Vec<(u64, Vec<u8>)> {
    let state = if is_running { 1 << 15 } else { 0 };
    let process = [
        (0, PID),
        (88, HEAP + 0x100),
        (128, HEAP),
        (136, HEAP + 0x180),
        (152, 48),
        (256, CODE + 0x200),
        (328, MESSAGE),
        (448, A),
        (456, B),
        (464, 1),
        (472, CODE + 0x110),
        (592, TABLE + 0x200),
        (640, state),
    ];
    // A tuple of a list, a map, a binary in the heap and a process; then return addresses.
    let heap = [
        (0, 4 << 6),
        (8, HEAP + 0x30 + 1),
        (16, HEAP + 0x40 + 2),
        (24, HEAP + 0x70 + 2),
        (32, PID),
        (0x30, SMALL),
        (0x38, NIL),
        (0x40, 15 << 2),
        (0x48, 1),
        (0x50, HEAP + 0x60 + 2),
        (0x58, SMALL),
        (0x60, 1 << 6),
        (0x68, A),
        (0x70, 9 << 2),
        (0x78, 3),
        (0x80, 0x63_6261),
        (0x100, CODE + 0x204),
        (0x108, SMALL),
        (0x110, CODE + 0x208),
    ];
    let code = [
        (0, 1),
        (72, LINES),
        (96, CODE + 0x100),
        (104, CODE + 0x280),
        (0x110, A),
        (0x118, B),
        (0x120, 1),
    ];
    let lines = [
        (8, 2),
        (16, LINES + 0x40),
        (24, LINES + 0x80),
        (32, LINES + 0x90),
        (0x40, 7 | 8 << 16),
        (0x80, CODE + 0x100),
        (0x88, CODE + 0x202),
        (0x90, CODE + 0x280),
    ];
    let table = [(32, TABLE), (176, PID), (208, A), (224, variable("db_hash")), (232, 2), (240, 9)];
    let proc = [(136, 1), (192, SLOTS), (208, 16), (248, 1), (272, 776)];
    let atoms = [(112, 2 << 32), (120, ATOMS)];
    let atom_text = [
        (0, ATOMS + 0x40),
        (0x40, ATOMS + 0x80),
        (0x48, ATOMS + 0xc0),
        (0x80 + 24, 1),
        (0x80 + 32, ATOMS + 0x100),
        (0xc0 + 24, 1),
        (0xc0 + 32, ATOMS + 0x108),
        (0x100, 0x61),
        (0x108, 0x62),
    ];
    let ranges = [RANGES, 1, 4, RANGES].repeat(3);
    vec![
        (variable("etp_otp_release"), b"25\0".to_vec()),
        (variable("etp_erts_version"), b"13.1.5\0".to_vec()),
        (variable("etp_beamasm"), words(&[1])),
        (variable("erts_frame_layout"), words(&[0])),
        (variable("erts_proc"), at(320, &proc)),
        (variable("erts_atom_table"), at(128, &atoms)),
        (variable("the_active_code_index"), words(&[0])),
        (variable("erts_aligned_scheduler_data"), words(&[SCHEDULER])),
        (variable("erts_no_schedulers"), words(&[1])),
        (hidden(), words(&ranges)),
        (PROCESS, at(776, &process)),
        (HEAP, at(0x180, &heap)),
        (SLOTS, at(128, &[(8, PROCESS)])),
        (ATOMS, at(0x110, &atom_text)),
        (CODE, at(0x280, &code)),
        (LINES, at(0x98, &lines)),
        (RANGES, words(&[CODE, CODE + 0x280])),
        (MESSAGE, at(24, &[(16, HEAP + 2)])),
        (TABLE, at(0x250, &[&table[..], &[(0x230, TABLE)]].concat())),
        (SCHEDULER, at(256, &[(32, BLOCK), (168, PROCESS), (184, 1)])),
    ]
}
