//! Perl 5.36 that runs a sub, which a block of `eval` in the program called: with `@_`, an array, a hash and an object.

use kcore_fuzz::{input::Output, memory::Memory, synthetic::words};

const STACK: u64 = 0x7f_0000;
const INTERPRETER: u64 = 0x20_0000;
const INFO: u64 = 0x20_2000;
const CONTEXTS: u64 = 0x20_3000;
const STATEMENT: u64 = 0x21_0000;
const CODE: u64 = 0x22_0000;
const GLOB: u64 = 0x23_0000;
const SYMBOLS: u64 = 0x24_0000;
const PADS: u64 = 0x25_0000;
const VALUES: u64 = 0x26_0000;
const TEXTS: u64 = 0x27_0000;

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("perl5.36", seed())]
}

/// Words at offsets of a block.
fn at(size: usize, all: &[(usize, u64)]) -> Vec<u8> {
    let mut block = vec![0_u64; size / 8];
    all.iter().for_each(|(offset, word)| block[offset / 8] = *word);
    words(&block)
}

/// Names with their lengths, each at its own multiple of 64 bytes.
fn names(all: &[&str]) -> Vec<u8> {
    let name = |text: &&str| {
        let mut bytes = [words(&[(text.len() as u64) << 32]), text.as_bytes().to_vec()].concat();
        bytes.resize(64, 0);
        bytes
    };
    all.iter().flat_map(name).collect()
}

fn seed() -> Vec<u8> {
    let head = Output::default().byte(3).word(STACK).byte(64);
    // What the host says of CPython: its version, and four addresses.
    let host = [0; 4].into_iter().fold(head.byte(0), Output::word);
    Memory(memory()).write(host).0
}

fn memory() -> Vec<(u64, Vec<u8>)> {
    let name = |index: u64| TEXTS + 64 * index;
    let interpreter = [(192, SYMBOLS), (208, STATEMENT), (216, VALUES), (224, INFO), (1800, CODE)];
    let info = [(0, VALUES), (8, CONTEXTS), (32, 1 | 9 << 32), (40, 1 << 32)];
    // A block of eval, and in it a sub with arguments.
    let contexts = [
        (0, 11 | 0x40),
        (16, STATEMENT),
        (48, STATEMENT),
        (104, 9 | 0x20),
        (120, STATEMENT),
        (104 + 72, CODE),
    ];
    vec![
        (STACK, words(&[INTERPRETER; 64])),
        (INTERPRETER, at(3768, &interpreter)),
        (INFO, at(64, &info)),
        (CONTEXTS, at(208, &contexts)),
        (STATEMENT, at(88, &[(32, 195 | 7 << 32), (48, name(0) + 8), (56, 9 << 32)])),
        // The head of a sub, and its body.
        (CODE, at(160, &[(0, CODE + 32), (8, 1 | 13 << 32), (88, GLOB), (104, PADS)])),
        // A glob, its body, and what it holds.
        (
            GLOB,
            at(
                192,
                &[
                    (0, GLOB + 32),
                    (8, 1 | 9 << 32),
                    (16, GLOB + 96),
                    (64, name(1)),
                    (72, SYMBOLS),
                    (96, VALUES + 24),
                    (152, GLOB),
                ],
            ),
        ),
        // A package with one entry, its body and its name.
        (
            SYMBOLS,
            at(
                192,
                &[
                    (0, SYMBOLS + 32),
                    (8, 1 | 0x0200_000c << 32),
                    (16, SYMBOLS + 128),
                    (64, name(2)),
                    (128, SYMBOLS + 136),
                    (144, name(3)),
                    (152, GLOB),
                ],
            ),
        ),
        // The pads of the sub: names, then values, of which the first is `@_`.
        (
            PADS,
            at(
                256,
                &[
                    (0, 1),
                    (8, PADS + 16),
                    (16, PADS + 32),
                    (24, VALUES),
                    (32, 1),
                    (40, PADS + 56),
                    (64, PADS + 80),
                    (80, name(4) + 8),
                    (104, 1 | 0xff << 32),
                    (120, 2),
                ],
            ),
        ),
        // An array of an array and text, and their bodies.
        (
            VALUES,
            at(
                256,
                &[
                    (0, VALUES + 72),
                    (8, 1 | 11 << 32),
                    (16, VALUES + 128),
                    (24, VALUES + 160),
                    (32, 1 | 0x4403 << 32),
                    (40, name(5) + 8),
                    (88, 1),
                    (104, VALUES + 128),
                    (128, VALUES),
                    (136, VALUES + 24),
                    (176, 4),
                ],
            ),
        ),
        (TEXTS, names(&["main.pl", "deposit", "main", "@", "$x", "text"])),
    ]
}
