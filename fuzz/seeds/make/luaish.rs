//! States of Lua 5.4 and 5.1 that run one function each.

use kcore_fuzz::{input::Output, memory::Memory, synthetic::words};

const STATE: u64 = 0x20_0000;
const STACK: u64 = 0x21_0000;
const CALL: u64 = 0x22_0000;
const CLOSURE: u64 = 0x23_0000;
const PROTO: u64 = 0x23_1000;
const CODE: u64 = 0x23_2000;
const LINES: u64 = 0x23_3000;
const TEXT: u64 = 0x23_4000;
const NAMES: u64 = 0x23_5000;
const TABLE: u64 = 0x23_6000;
const NATIVE: u64 = 0x7f_0000;

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("lua5.4", seed(of_54())), ("lua5.1", seed(of_51()))]
}

fn seed(mut memory: Vec<(u64, Vec<u8>)>) -> Vec<u8> {
    memory.push((NATIVE, words(&[0, STATE, 0, 0, 0, 0, 0, 0])));
    let head = Output::default().word(NATIVE).byte(8);
    // What the host says of CPython: its version, and four addresses.
    let host = [0; 4].into_iter().fold(head.byte(0), Output::word);
    Memory(memory).write(host).0
}

/// Words at offsets of a block.
fn at(size: usize, all: &[(usize, u64)]) -> Vec<u8> {
    let mut block = vec![0_u64; size / 8];
    all.iter().for_each(|(offset, word)| block[offset / 8] = *word);
    words(&block)
}

fn text() -> Vec<u8> {
    [words(&[0, 4 | 6 << 24, 6]), b"@m.lua\0\0".to_vec()].concat()
}

fn of_54() -> Vec<(u64, Vec<u8>)> {
    let global = STATE + 200;
    let state = [
        (8, 8),
        (16, STACK + 64),
        (24, global),
        (32, CALL),
        (48, STACK),
        (88, NATIVE + 32),
        // The global state: its registry, its objects, its main thread.
        (264, TABLE),
        (272, 5),
        (312, STATE),
        (464, STATE),
    ];
    let call = [(0, STACK + 16), (16, STATE + 96), (32, CODE + 4), (56, 4 << 48)];
    let proto = [
        (16, 0),
        (24, 2 | 2 << 32),
        (32, 1 << 32),
        (40, 1 << 32),
        (64, CODE),
        (88, LINES),
        (104, NAMES),
        (112, TEXT),
    ];
    vec![
        (STATE, at(1616, &state)),
        (STACK, at(128, &[(16, CLOSURE), (24, 0x46), (32, 7), (40, 3), (48, TABLE), (56, 0x45)])),
        (CALL, at(64, &call)),
        (CLOSURE, at(40, &[(8, 6), (24, PROTO)])),
        (PROTO, at(128, &proto)),
        (CODE, words(&[0])),
        (LINES, words(&[0x0101])),
        (TEXT, text()),
        (NAMES, words(&[TEXT, 2 << 32])),
        (TABLE, at(56, &[(8, 5 | 2 << 32), (16, STACK + 32), (24, STACK + 64)])),
    ]
}

fn of_51() -> Vec<(u64, Vec<u8>)> {
    let global = STATE + 184;
    let state = [
        (8, 8),
        (16, STACK + 64),
        (32, global),
        (40, CALL + 40),
        (48, CODE + 4),
        (64, STACK),
        (80, CALL),
        (168, NATIVE + 32),
        // The global state: its objects, its registry, its main thread.
        (224, STATE),
        (344, TABLE),
        (352, 5),
        (360, STATE),
    ];
    let proto = [
        (24, CODE),
        (40, LINES),
        (48, NAMES),
        (64, TEXT),
        (80, 2 | 2 << 32),
        (88, 1 << 32),
        (96, 1),
    ];
    vec![
        (STATE, at(616, &state)),
        (STACK, at(128, &[(16, CLOSURE), (24, 6), (32, 7), (40, 3), (48, TABLE), (56, 5)])),
        (CALL, at(80, &[(40, STACK + 32), (48, STACK + 16)])),
        (CLOSURE, at(48, &[(8, 6), (32, PROTO)])),
        (PROTO, at(120, &proto)),
        (CODE, words(&[0])),
        (LINES, words(&[1 | 2 << 32])),
        (TEXT, text()),
        (NAMES, words(&[TEXT, 2 << 32])),
        (TABLE, at(64, &[(8, 5), (24, STACK + 32), (32, STACK + 64), (56, 2)])),
    ]
}
