//! A module of Go of one function, a goroutine that waits, and a processor with a timer that calls the function.

use kcore_fuzz::{input::Output, memory::Memory, synthetic::words};

const HEADER: u64 = 0x20_0000;
const NAMES: u64 = HEADER + 0x100;
const UNITS: u64 = HEADER + 0x200;
const FILES: u64 = HEADER + 0x300;
const VALUES: u64 = HEADER + 0x400;
const FUNCTIONS: u64 = HEADER + 0x500;
const CALLS: u64 = HEADER + 0x600;
const MODULE: u64 = 0x30_0000;
const SLICE: u64 = MODULE + 0x400;
const GOROUTINE: u64 = 0x31_0000;
const STACK: u64 = 0x32_0000;
const TEXT: u64 = 0x40_0000;
const PROCESSORS: u64 = 0x33_0000;
const PROCESSOR: u64 = 0x34_0000;
const TIMER: u64 = PROCESSORS + 0x100;

/// Since 1.20, of 1.27, and before, of 1.19.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("go1.27", seed(27)), ("go1.19", seed(19))]
}

fn seed(minor: u8) -> Vec<u8> {
    let head = Output::default().byte(minor).word(MODULE).word(SLICE).word(STACK + 0x100);
    let places = head.byte(3).word(TEXT + 0x10).word(TEXT + 0x21).word(PROCESSORS);
    // What the host says of CPython: its version, and four addresses.
    let host = [0; 4].into_iter().fold(places.byte(0), Output::word);
    let memory = [tables(minor), module(minor), goroutine(minor), timer(minor)].concat();
    Memory(memory).write(host).0
}

fn numbers(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A function, with a call that is inlined from 0x10 to 0x20.
fn tables(minor: u8) -> Vec<(u64, Vec<u8>)> {
    let magic = if minor < 20 { 0xffff_fff0 } else { 0xffff_fff1 };
    let head = [numbers(&[magic, 0x0801_0000]), words(&[1])].concat();
    let mut function = numbers(&[0, 1, 0, 0, 1, 16, 8, 3, 0]);
    if minor >= 20 {
        function.extend(numbers(&[9]));
    }
    function.extend([0, 0, 0, 4]);
    function.extend(numbers(&[0, 0, 20, u32::MAX, u32::MAX, u32::MAX, 0]));
    let call = match minor {
        ..20 => numbers(&[0xffff, 0, 7, 12, 8]),
        _ => numbers(&[0, 12, 8, 7]),
    };
    let values = [
        &[0, 2, 4, 32, 0x3c, 0, 0, 0, 22, 0x10, 20, 0x10, 17, 0x20, 0, 0][..],
        &[2, 0x40, 0, 0, 0, 0x10, 2, 0x10, 1, 0x20, 0],
    ];
    vec![
        (HEADER, head),
        (NAMES, b"\0main.outer\0main.inlined\0".to_vec()),
        (UNITS, vec![0; 4]),
        (FILES, b"a.go\0".to_vec()),
        (VALUES, values.concat()),
        (FUNCTIONS, [numbers(&[0, 0x10, 0x40, 0]), function].concat()),
        (CALLS, call),
    ]
}

fn module(minor: u8) -> Vec<(u64, Vec<u8>)> {
    let mut all = vec![0_u64; 45];
    all[0] = HEADER;
    let slices = [(0x100, NAMES), (1, UNITS), (0x10, FILES), (0x40, VALUES), (0x80, FUNCTIONS)];
    for (index, (len, at)) in slices.into_iter().enumerate() {
        all[1 + 3 * index..4 + 3 * index].copy_from_slice(&[at, len, len]);
    }
    all[16..19].copy_from_slice(&[FUNCTIONS, 2, 2]);
    all[22..24].copy_from_slice(&[TEXT, TEXT + 0x40]);
    all[if minor < 20 { 38 } else { 43 }] = CALLS;
    vec![(MODULE, words(&all)), (SLICE, words(&[SLICE + 0x20, 1, 1, 0, GOROUTINE]))]
}

fn goroutine(minor: u8) -> Vec<(u64, Vec<u8>)> {
    let mut all = vec![0_u64; 64];
    all[..2].copy_from_slice(&[STACK, STACK + 0x1000]);
    all[7..10].copy_from_slice(&[STACK + 0x100, TEXT + 0x21, GOROUTINE]);
    all[18..23].copy_from_slice(&[4, 17, 0, 0, 14]);
    let creator = if minor < 20 { 37 } else { 36 };
    all[creator..creator + 3].copy_from_slice(&[TEXT + 0x30, 0, TEXT]);
    let stack = vec![0; 0x1000];
    vec![(GOROUTINE, words(&all)), (STACK, stack)]
}

/// The list of processors, one of them with its heap, and a timer.
fn timer(minor: u8) -> Vec<(u64, Vec<u8>)> {
    let heap = if minor < 20 { 8840 } else { 13_680 };
    let listed = PROCESSORS + 0x80;
    let timer = match minor {
        ..20 => vec![0, 5, 0, TIMER + 0x60, 0, GOROUTINE, 0, 0, 1],
        _ => vec![0, 1 << 8, 0, 5, 0, TIMER + 0x60, 0, GOROUTINE],
    };
    vec![
        (PROCESSORS, words(&[PROCESSORS + 0x20, 1, 1, 0, PROCESSOR])),
        (PROCESSOR, words(&[0])),
        (PROCESSOR + heap, words(&[listed, 1, 1])),
        (listed, words(&[TIMER, 5])),
        (TIMER, words(&timer)),
        (TIMER + 0x60, words(&[TEXT])),
    ]
}
