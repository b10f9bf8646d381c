//! PHP 8.4 that runs a function of C, which a method called: with an object, an array, a generator and a fiber.

use kcore_fuzz::{input::Output, memory::Memory, synthetic::words};

const GLOBALS: u64 = 0x20_0000;
const CALLS: u64 = 0x21_0000;
const METHOD: u64 = 0x22_0000;
const INTERNAL: u64 = 0x22_1000;
const CODE: u64 = 0x22_2000;
const NAMES: u64 = 0x22_3000;
const CLASS: u64 = 0x23_0000;
const PROPERTIES: u64 = 0x23_1000;
const OBJECT: u64 = 0x23_2000;
const ARRAY: u64 = 0x23_3000;
const STORE: u64 = 0x24_0000;
const GENERATOR: u64 = 0x24_1000;
const GENERATORS: u64 = 0x24_2000;
const FIBER: u64 = 0x24_4000;
const FIBERS: u64 = 0x24_5000;
const TEXTS: u64 = 0x25_0000;
const NATIVE: u64 = 0x7f_0000;

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("php8.4", seed())]
}

/// Words at offsets of a block.
fn at(size: usize, all: &[(usize, u64)]) -> Vec<u8> {
    let mut block = vec![0_u64; size / 8];
    all.iter().for_each(|(offset, word)| block[offset / 8] = *word);
    words(&block)
}

/// Strings, each at its own multiple of 64 bytes.
fn texts(all: &[&str]) -> Vec<u8> {
    let text = |text: &&str| {
        let mut bytes = [words(&[1, 0, text.len() as u64]), text.as_bytes().to_vec()].concat();
        bytes.resize(64, 0);
        bytes
    };
    all.iter().flat_map(text).collect()
}

fn seed() -> Vec<u8> {
    let head = Output::default().byte(5).word(GLOBALS).word(NATIVE);
    // What the host says of CPython: its version, and four addresses.
    let host = [0; 4].into_iter().fold(head.byte(0), Output::word);
    Memory(memory()).write(host).0
}

fn memory() -> Vec<(u64, Vec<u8>)> {
    let text = |index: u64| TEXTS + 64 * index;
    // The call of the function of C at 0, that of the method at 160, that of the generator at 320.
    let calls = [
        (24, INTERNAL),
        (40, 1 << 32),
        (48, CALLS + 160),
        (80, ARRAY),
        (88, 7),
        (160, CODE),
        (184, METHOD),
        (192, OBJECT),
        (200, 0x2_0008),
        (240, OBJECT),
        (248, 8),
        (320, CODE + 32),
        (344, METHOD),
    ];
    let method = [
        (0, 2),
        (8, text(0)),
        (16, CLASS),
        (32, 1),
        (88, 1 << 32),
        (96, 2),
        (104, CODE),
        (128, NAMES),
        (168, text(1)),
        (176, 1 | 9 << 32),
    ];
    let globals = [(488, CALLS), (856, STORE), (864, 4 | 4 << 32), (936, OBJECT)];
    let class = [(8, text(2)), (128, 0), (136, PROPERTIES), (144, 1 | 1 << 32)];
    vec![
        (GLOBALS, at(1984, &globals)),
        (CALLS, at(480, &calls)),
        (METHOD, at(256, &method)),
        (INTERNAL, at(160, &[(0, 1), (8, text(3)), (88, 0x40_0000)])),
        (CODE, at(64, &[(24, 5 | 62 << 32), (56, 6 | 160 << 32)])),
        (NAMES, words(&[text(4)])),
        (CLASS, at(256, &class)),
        // A bucket with what is known of the property, and that.
        (
            PROPERTIES,
            at(96, &[(0, PROPERTIES + 32), (8, 13), (24, text(5)), (32, 40), (40, text(5))]),
        ),
        (OBJECT, at(64, &[(16, CLASS), (40, text(4)), (48, 6)])),
        (
            ARRAY,
            at(
                128,
                &[
                    (8, 4),
                    (16, ARRAY + 64),
                    (24, 2 | 2 << 32),
                    (64, 9),
                    (72, 4),
                    (80, ARRAY),
                    (88, 7),
                ],
            ),
        ),
        (STORE, words(&[0, OBJECT, GENERATOR, FIBER])),
        (GENERATOR, at(280, &[(16, GENERATORS), (56, CALLS + 320)])),
        (GENERATORS, at(64, &[(0, 1), (8, text(6))])),
        (
            FIBER,
            at(
                328,
                &[
                    (16, FIBERS),
                    (64, NATIVE),
                    (96, FIBER + 304),
                    (104, 2),
                    (288, CALLS),
                    (304, NATIVE),
                    (312, 4096),
                ],
            ),
        ),
        (FIBERS, at(64, &[(0, 1), (8, text(7))])),
        (
            TEXTS,
            texts(&[
                "deposit",
                "/srv/a.php",
                "Account",
                "usort",
                "value",
                "message",
                "Generator",
                "Fiber",
            ]),
        ),
        (NATIVE, words(&[0; 64])),
    ]
}
