//! A code cache of Java with the interpreter and a compiled method, a stack with a frame of each, and a thread.

use kcore_fuzz::{input::Output, java::VARIABLES, memory::Memory, synthetic::words};

const OBJECTS: u64 = 0x71_0000;
const CACHE: u64 = 0x72_0000;
const MAP: u64 = 0x73_0000;
const STACK: u64 = 0x74_0000;
const METHOD: u64 = 0x75_0000;
const NAMES: u64 = 0x76_0000;
/// Segments of 128 bytes.
const COMPILED: u64 = CACHE + 8 * 128;
const CODE: u64 = 0x180;

/// Numbers as JDK 17 writes them, and as JDK 21 does.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("java17", seed(17)), ("java21", seed(21))]
}

fn seed(major: u8) -> Vec<u8> {
    let head = Output::default().byte(major).word(STACK);
    let places = head.byte(2).word(CACHE + CODE + 0x10).word(COMPILED + CODE + 0x20);
    // What the host says of CPython: its version, and four addresses.
    let host = [0; 4].into_iter().fold(places.byte(0), Output::word);
    let memory = [variables(), cache(), method(), stack()].concat();
    Memory(memory).write(host).0
}

fn variables() -> Vec<(u64, Vec<u8>)> {
    let mut all = vec![0_u64; 22];
    for (index, value) in [(0, OBJECTS), (4, OBJECTS + 0x100), (6, OBJECTS + 0x200), (8, 2)] {
        all[index] = value;
    }
    let heap = [CACHE, CACHE + 0x1000, MAP, MAP + 32, 7];
    let arrays = [&[1, OBJECTS + 0x20, 0, 0, OBJECTS + 0x40, 0, 0, 0][..], &heap].concat();
    let thread = [1_u64 << 32, 0, OBJECTS + 0x140, 0, 0, 0, 0, 0, OBJECTS + 0x400];
    let flags = [OBJECTS + 0x300, NAMES + 0x100, 0, OBJECTS + 0x300, NAMES + 0x120, 0];
    vec![
        (VARIABLES, words(&all)),
        (OBJECTS, words(&arrays)),
        (OBJECTS + 0x100, words(&thread)),
        (OBJECTS + 0x200, words(&flags)),
        (OBJECTS + 0x300, vec![1; 8]),
        (OBJECTS + 0x400, words(&[0, 0, OBJECTS + 0x480, 0, 8, 0, 0, STACK + 0x1000, 0x1000])),
        (OBJECTS + 0x480, words(&[77])),
        (NAMES + 0x100, b"UseCompressedOops\0".to_vec()),
        (NAMES + 0x120, b"UseCompressedClassPointers\0".to_vec()),
    ]
}

/// A piece of the cache behind its header.
fn piece(name: u64, frame: u32, start: u64) -> Vec<u8> {
    let mut bytes = vec![0; 0x160];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(16, &(start + CODE).to_le_bytes());
    put(64, &name.to_le_bytes());
    put(72, &0x380_u32.to_le_bytes());
    put(88, &frame.to_le_bytes());
    put(112, &METHOD.to_le_bytes());
    put(120, &(start + 0x300).to_le_bytes());
    put(268, &0x340_u32.to_le_bytes());
    put(276, &0x2c0_u32.to_le_bytes());
    put(280, &0x2f0_u32.to_le_bytes());
    put(328, &[4]);
    bytes
}

fn cache() -> Vec<(u64, Vec<u8>)> {
    let map: Vec<u8> = (0..8).chain(0..8).chain([0xff; 16]).collect();
    let descriptions: Vec<u8> = [(-1, 0), (0x20, 1), (i32::MAX, 0)]
        .into_iter()
        .flat_map(|(pc, scope): (i32, i32)| [pc, scope, 0, 0])
        .flat_map(i32::to_le_bytes)
        .collect();
    vec![
        (MAP, map),
        (CACHE + 16, piece(NAMES, 0, CACHE)),
        (COMPILED + 16, piece(NAMES + 0x20, 4, COMPILED)),
        (COMPILED + 16 + 0x2c0, descriptions),
        (COMPILED + 0x300, vec![1, 1, 2, 5, 1, 1, 1, 3]),
        (NAMES, b"Interpreter\0".to_vec()),
        (NAMES + 0x20, b"nmethod\0".to_vec()),
    ]
}

/// `T.f` with a line for each of two places.
fn method() -> Vec<(u64, Vec<u8>)> {
    let mut constant = vec![0; 72];
    constant[8..16].copy_from_slice(&(METHOD + 0x100).to_le_bytes());
    constant[28] = 1;
    constant[34..40].copy_from_slice(&[8, 0, 1, 0, 2, 0]);
    constant[64..68].copy_from_slice(&[3, 4 << 3 | 2, 0, 0]);
    let mut pool = vec![0; 96];
    pool[24..32].copy_from_slice(&(METHOD + 0x200).to_le_bytes());
    pool[54] = 1;
    pool[60] = 3;
    pool[80..88].copy_from_slice(&(METHOD + 0x300).to_le_bytes());
    pool[88..96].copy_from_slice(&(METHOD + 0x300).to_le_bytes());
    vec![
        (METHOD, words(&[0, METHOD + 0x40])),
        (METHOD + 0x40, constant),
        (METHOD + 0x100, pool),
        (METHOD + 0x200, words(&[0, 0, 0, METHOD + 0x300])),
        (METHOD + 0x300, [&[0, 0, 0, 0, 1, 0][..], b"f"].concat()),
    ]
}

/// A frame of the interpreter: the place in the bytecodes, the method, the stack pointer of the caller and where it returns.
fn stack() -> Vec<(u64, Vec<u8>)> {
    let place = METHOD + 0x40 + 56 + 4;
    let frame = [place, 0, 0, 0, 0, METHOD, 0, STACK + 0x100, 0, COMPILED + CODE + 0x20];
    vec![(STACK, words(&frame)), (STACK + 0x100, words(&[0; 16]))]
}
