//! A heap of AddressSanitizer with blocks in all states, a large one, and the stacks that allocated them.

use kcore_fuzz::{heap::RUNTIME, input::Output, memory::Memory, synthetic::words};

const DATA: u64 = 0x10_0000;
const LEAF: u64 = 0x20_0000;
const STACK: u64 = 0x30_0000;
const THREADS: u64 = 0x40_0000;
const LARGE: u64 = 0x50_0000;
const TABLE: u64 = 0x60_0000;
const BASE: u64 = 0x6000_0000_0000;
/// The region of 48 bytes, and what describes all regions.
const REGION: u64 = BASE + (3 << 36);
const INFOS: u64 = BASE + (64 << 36);
const MOVED: u64 = 0xcc6e_96b9_cc6e_96b9;

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("asan", seed(region(), leaf())),
        ("asan_store", seed(region(), nodes())),
        ("asan_torn", seed(torn(), leaf())),
    ]
}

fn seed(region: Vec<u64>, leaf: Vec<u64>) -> Vec<u8> {
    let memory = Memory(vec![
        (DATA, words(&data())),
        (LEAF, words(&leaf)),
        (STACK, words(&[2, DATA + 8, DATA + 16, 0, 1, DATA + 4])),
        (THREADS, words(&threads())),
        (LARGE, words(&large())),
        (TABLE, words(&[LARGE])),
        (REGION, words(&region)),
        (INFOS, words(&infos())),
    ]);
    memory.write(Output::default().word(0).byte(RUNTIME)).0
}

fn put(target: &mut [u64], at: usize, values: &[u64]) {
    target[at / 8..at / 8 + values.len()].copy_from_slice(values);
}

/// The allocator, the leaf of the depot's map, a store of one block, and the vector of threads.
fn data() -> Vec<u64> {
    let mut data = vec![0; 512];
    put(&mut data, 0x100, &[BASE, (64 << 36) + 0x2000, 0, 0, 0, 0, INFOS, 0, 4096, TABLE]);
    put(&mut data, 0x178, &[1]);
    put(&mut data, 0x400, &[LEAF, 0, STACK]);
    put(&mut data, 0x500, &[THREADS, 4096, 1]);
    data
}

/// Stacks by pointers, as GCC 12 has them.
fn leaf() -> Vec<u64> {
    vec![0, STACK, STACK + 32]
}

/// Stacks by nodes, as LLVM has them: each says the place of its stack, counted from 1, in the second half of its second word.
fn nodes() -> Vec<u64> {
    vec![0, 0, 7, 1 << 32, 9, 5 << 32]
}

fn threads() -> Vec<u64> {
    let mut threads = vec![0; 16];
    threads[0] = THREADS + 64;
    threads[12] = 1;
    threads
}

fn large() -> Vec<u64> {
    let mut large = vec![0; 0x300];
    put(&mut large, 0, &[LARGE, 0x1800, 0x700, 0]);
    put(&mut large, 0x1000, &[MOVED, LARGE + 0x10f0]);
    put(&mut large, 0x10f0, &[2 | 0x700 << 32, 1]);
    large
}

fn region() -> Vec<u64> {
    let mut region = vec![0; 24];
    put(&mut region, 0, &[2 | 20 << 32, 1]);
    put(&mut region, 48, &[3 | 32 << 32, 1, 2]);
    put(&mut region, 96, &[MOVED, REGION + 112, 2 | 16 << 32, 2]);
    region
}

fn torn() -> Vec<u64> {
    let mut region = region();
    region[0] = u64::from_le_bytes(*b"textover");
    region
}

fn infos() -> Vec<u64> {
    let mut infos = vec![0; 0x400];
    put(&mut infos, 3 * 128, &[0, 0, 1, 4096, 192, 0, 4096, 0, 0, 3, 0]);
    infos
}
