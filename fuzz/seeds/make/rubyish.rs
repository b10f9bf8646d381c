//! A VM of Ruby 3.3 with one thread, which runs one method.

use kcore_fuzz::{input::Output, memory::Memory, synthetic::words};

const VM: u64 = 0x20_0000;
const RACTOR: u64 = 0x21_0000;
const THREAD: u64 = 0x22_0000;
const NATIVE: u64 = 0x22_1000;
const FIBER: u64 = 0x23_0000;
const STACK: u64 = 0x24_0000;
const CODE: u64 = 0x25_0000;
const BODY: u64 = 0x25_1000;
const TEXT: u64 = 0x25_2000;
const INSTRUCTIONS: u64 = 0x25_3000;
const LINES: u64 = 0x25_4000;
const IDENT: u64 = 0x7000;
const NIL: u64 = 4;

/// Of 3.3, the fifth of the versions.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("ruby3.3", seed())]
}

fn seed() -> Vec<u8> {
    let head = Output::default().byte(4).word(VM).word(0).word(0).word(STACK);
    let values = head.byte(3).word(TEXT).word(NIL).word(15);
    // What the host says of CPython: its version, and four addresses.
    let host = [0, 0, 0, IDENT].into_iter().fold(values.byte(0), Output::word);
    Memory(memory()).write(host).0
}

fn memory() -> Vec<(u64, Vec<u8>)> {
    let at = |size: usize, all: &[(usize, u64)]| {
        let mut block = vec![0_u64; size / 8];
        all.iter().for_each(|(offset, word)| block[offset / 8] = *word);
        words(&block)
    };
    let context = FIBER + 80;
    let end = STACK + 512;
    let text = [words(&[5, 0, 4]), b"main\0\0\0\0".to_vec()].concat();
    vec![
        (VM, at(1312, &[(8, RACTOR + 432), (40, THREAD)])),
        (
            RACTOR,
            at(448, &[(8, 1), (256, THREAD), (328, THREAD), (344, RACTOR + 344), (432, VM + 8)]),
        ),
        (THREAD, at(456, &[(0, RACTOR + 256), (32, VM), (40, NATIVE), (48, context), (432, NIL)])),
        (NATIVE, at(32, &[(16, IDENT)])),
        (
            FIBER,
            at(
                768,
                &[
                    (0, 1),
                    (80, STACK),
                    (88, 64),
                    (96, end - 112),
                    (120, FIBER),
                    (128, THREAD),
                    (200, NIL),
                ],
            ),
        ),
        (
            STACK,
            at(
                512,
                &[
                    (24, 0x1111_0023),
                    (400, INSTRUCTIONS + 8),
                    (416, CODE),
                    (424, TEXT),
                    (432, STACK + 24),
                ],
            ),
        ),
        (CODE, words(&[0x701a, 0, BODY])),
        (
            BODY,
            at(
                312,
                &[
                    (0, 1 | 4 << 32),
                    (8, INSTRUCTIONS),
                    (64, TEXT),
                    (72, TEXT),
                    (80, TEXT),
                    (88, 7),
                    (112, LINES),
                    (128, 1),
                    (168, CODE),
                ],
            ),
        ),
        (TEXT, text),
        (INSTRUCTIONS, words(&[0; 4])),
        (LINES, words(&[7, 0])),
    ]
}
