//! A heap of Google's tcmalloc with a page of listed blocks, one with a bitmap, a large block and one that was freed, and
//! a processor's cache.

use kcore_fuzz::{input::Output, memory::Memory};

const DATA: u64 = 0x3000;
/// The map's root lies at the end of the data, which is all of it that there is.
const ROOT: usize = 0xff8;
const DESCRIPTORS: u64 = 0x8000;
const SLABS: u64 = 0xa000;
const LEAF: u64 = 0x1_0000;
const PAGE: u64 = 1 << 13;
const HEAP: u64 = 256 * PAGE;
/// The classes of 48 and of 64 bytes.
const LISTED: u64 = 6;
const MAPPED: u64 = 8;

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let memory = Memory(vec![
        (DATA, data()),
        (DESCRIPTORS, descriptors()),
        (SLABS, slabs()),
        (LEAF, leaf()),
        (HEAP, heap()),
    ]);
    vec![("google_tcmalloc", memory.write(Output::default().word(0).byte(0)).0)]
}

fn put(bytes: &mut [u8], at: usize, words: &[u64]) {
    for (index, word) in words.iter().enumerate() {
        bytes[at + index * 8..][..8].copy_from_slice(&word.to_le_bytes());
    }
}

fn put_halves(bytes: &mut [u8], at: usize, halves: &[u16]) {
    for (index, half) in halves.iter().enumerate() {
        bytes[at + index * 2..][..2].copy_from_slice(&half.to_le_bytes());
    }
}

fn descriptor(number: u64) -> u64 {
    DESCRIPTORS + number * 64
}

/// The allocator of descriptors, the sizes of classes, where the caches of processors are, and the root of the map.
fn data() -> Vec<u8> {
    let mut data = vec![0; 4096];
    let text = b"TEST_ONLY_TCMALLOC_POW2_SIZECLASS";
    data[0x100..0x100 + text.len()].copy_from_slice(text);
    put(&mut data, 0x800, &[DATA + 0x10, 0, descriptor(3), 3, 4]);
    for class in 0..25_u16 {
        put_halves(&mut data, 0x900 + usize::from(class) * 4, &[class * 8]);
    }
    put_halves(&mut data, 0x900 + 25 * 4, &[7]);
    put(&mut data, 0xa00, &[SLABS | 12, SLABS + 0x1100, SLABS + 0x1200]);
    put(&mut data, ROOT, &[LEAF]);
    data
}

fn descriptors() -> Vec<u8> {
    let mut bytes = vec![0; 4 * 64];
    let first = |number: u64| HEAP / PAGE + number;
    put(&mut bytes, 16, &[0, first(0), 1, 0]);
    put_halves(&mut bytes, 16, &[2, 2 * 6, 170 - 5, 2]);
    put_halves(&mut bytes, 40, &[0, 6]);
    put(&mut bytes, 64 + 16, &[(128 - 1) << 32, first(1), 1, 1 << 5, 0]);
    put(&mut bytes, 128 + 16, &[0, first(2), 2]);
    put(&mut bytes, 192 + 16, &[0, first(4), 1]);
    bytes
}

fn slabs() -> Vec<u8> {
    let mut bytes = vec![0; 0x1300];
    let begin = |class: usize| if class as u64 <= MAPPED { 14 } else { 17 };
    for class in 1..25 {
        let has_room = u16::from(class as u64 == MAPPED);
        put_halves(&mut bytes, class * 4, &[begin(class) + has_room, begin(class) + 2 * has_room]);
        put_halves(&mut bytes, 0x1200 + class * 2, &[begin(class)]);
    }
    put(&mut bytes, 13 * 8, &[(SLABS + 13 * 8) | 1, HEAP + PAGE + 7 * 64]);
    put(&mut bytes, 0x1000, &[0x1234_5678]);
    bytes
}

fn leaf() -> Vec<u8> {
    let mut bytes = vec![0; (1 << 15) + 8 * 264];
    (bytes[256], bytes[257]) = (LISTED as u8, MAPPED as u8);
    let listed = LISTED << 48 | descriptor(0);
    let mapped = MAPPED << 48 | descriptor(1);
    put(&mut bytes, (1 << 15) + 256 * 8, &[listed, mapped, descriptor(2), 0, descriptor(3)]);
    bytes
}

fn heap() -> Vec<u8> {
    let mut bytes = vec![0; 512];
    put_halves(&mut bytes, 2 * 48, &[u16::MAX, 3 * 6, 4 * 6]);
    bytes
}
