//! LuaJIT of 2022 that runs a function of Lua, which calls a function of C: with a variable, an upvalue and a table.

use kcore_fuzz::{input::Output, memory::Memory, synthetic::words};

const STATE: u64 = 0x20_0000;
const GLOBAL: u64 = STATE + 96;
const STACK: u64 = 0x21_0000;
const CALLED: u64 = 0x22_0000;
const CLOSURE: u64 = 0x23_0000;
const PROTO: u64 = 0x23_1000;
const LINES: u64 = 0x23_2000;
const NAMES: u64 = 0x23_3000;
const TEXT: u64 = 0x23_4000;
const TABLE: u64 = 0x23_5000;
const NATIVE: u64 = 0x7f_0000;
/// Where the bits of a value are that tell its type.
const TAG: u32 = 47;

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("luajit2022", seed())]
}

fn seed() -> Vec<u8> {
    let head = Output::default().word(NATIVE).byte(16);
    // What the host says of CPython: its version, and four addresses.
    let host = [0; 4].into_iter().fold(head.byte(0), Output::word);
    Memory(memory()).write(host).0
}

/// Words at offsets of a block.
fn at(size: usize, all: &[(usize, u64)]) -> Vec<u8> {
    let mut block = vec![0_u64; size / 8];
    all.iter().for_each(|(offset, word)| block[offset / 8] = *word);
    words(&block)
}

const fn object(tag: u64, address: u64) -> u64 {
    !tag << TAG | address
}

fn memory() -> Vec<(u64, Vec<u8>)> {
    let code = PROTO + 104;
    let state = [
        (8, 6 << 8),
        (16, GLOBAL),
        (32, STACK + 64),
        (40, STACK + 72),
        (56, STACK),
        (80, NATIVE + 32),
        // The global state: its objects and its main thread.
        (96 + 40, TABLE),
        (96 + 184, 0xffff_ffff),
        (96 + 192, STATE),
    ];
    // The dummy at the bottom, the function of Lua with its variable, the function of C that it called.
    let stack = [
        (0, object(6, STATE)),
        (16, object(8, CLOSURE)),
        (24, 16 | 1),
        (32, object(11, TABLE)),
        (48, object(8, CALLED)),
        (56, code + 8),
    ];
    let proto = [
        (8, 7 << 8 | 1 << 16 | 2 << 32),
        (32, TABLE),
        (56, 1 << 32),
        (64, TEXT),
        (72, 3 | 5 << 32),
        (80, LINES),
        (88, NAMES),
        (96, NAMES),
        // A header, a call whose function lies behind the variable.
        (104, 66 << 32 | 2 << 40),
    ];
    let machine = [(40, 1 << 32), (48, STATE), (56, code + 8), (64, 0)];
    vec![
        (STATE, at(512, &state)),
        (STACK, at(128, &stack)),
        (CALLED, at(64, &[(8, 8 << 8 | 1 << 16), (40, 0x40_0020)])),
        (CLOSURE, at(64, &[(8, 8 << 8), (32, code), (40, TABLE)])),
        (PROTO, at(128, &proto)),
        (LINES, vec![1, 2]),
        (NAMES, b"value\0\0\x20\0".to_vec()),
        (TEXT, [words(&[0, 4 << 8, 6 << 32]), b"@m.lua\0\0".to_vec()].concat()),
        (TABLE, at(64, &[(8, 11 << 8), (16, STACK + 32), (40, STACK), (48, 1)])),
        (NATIVE, at(128, &machine)),
    ]
}
