//! A heap of glibc 2.36 with an arena, a thread's cache, a fast bin and chunks in all states.

use kcore_fuzz::{input::Output, memory::Memory, synthetic::words};

const DATA: u64 = 0x10_0000;
const HEAP: u64 = 0x20_0000;
const THREAD: u64 = 0x30_0000;
/// `main_arena` and `mp_` in the data, in words.
const ARENA: usize = 64;
const PAR: usize = 16;
/// Bytes that the arena had from the system.
const SYSTEM: u64 = 0x2_1000;

pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    vec![("glibc2.36", seed(heap())), ("torn", seed(torn()))]
}

fn seed(heap: Vec<u64>) -> Vec<u8> {
    let memory = Memory(vec![
        (DATA, words(&data())),
        (HEAP, words(&heap)),
        (THREAD - 512, words(&thread())),
    ]);
    memory.write(Output::default().word(THREAD).byte(0)).0
}

fn address(index: usize) -> u64 {
    DATA + index as u64 * 8
}

/// `mp_` and `main_arena` (`malloc.c` of 2.36): all bins are empty but the unsorted one, which has a chunk.
fn data() -> Vec<u64> {
    let mut data = vec![0; ARENA + 280];
    let par = [
        0x2_0000,
        0x2_0000,
        0x2_0000,
        8,
        0,
        0,
        0,
        0,
        0x1_0000 << 32,
        0,
        0,
        0,
        HEAP,
        64,
        1032,
        7,
        0,
    ];
    data[PAR..PAR + par.len()].copy_from_slice(&par);
    // `n_mmaps` lies at 60: the second half of a word, and `n_mmaps_max` behind it.
    (data[PAR + 7], data[PAR + 8]) = (0, 0x1_0000);
    data[ARENA + 4] = HEAP + 0x2d0;
    data[ARENA + 12] = HEAP + 0x390;
    for bin in 0..127 {
        let header = address(ARENA + 14 + bin * 2 - 2);
        data[ARENA + 14 + bin * 2] = header;
        data[ARENA + 15 + bin * 2] = header;
    }
    (data[ARENA + 14], data[ARENA + 15]) = (HEAP + 0x310, HEAP + 0x310);
    (data[ARENA + 270], data[ARENA + 272]) = (address(ARENA), 1);
    (data[ARENA + 273], data[ARENA + 274]) = (SYSTEM, SYSTEM);
    data
}

/// A cache with one block, a used chunk, one in a fast bin, a free one, another used one, and the rest.
fn heap() -> Vec<u64> {
    let mut heap = vec![0; 0x400 / 8];
    let mut put = |at: usize, value: u64| heap[at / 8] = value;
    put(0x8, 0x291);
    put(0x10, 1);
    put(0x90, HEAP + 0x2a0);
    put(0x298, 0x21);
    put(0x2a0, (HEAP + 0x2a0) >> 12);
    put(0x2b8, 0x21);
    put(0x2d8, 0x41);
    put(0x2e0, (HEAP + 0x2e0) >> 12);
    put(0x318, 0x41);
    let unsorted = address(ARENA + 12);
    put(0x320, unsorted);
    put(0x328, unsorted);
    put(0x350, 0x40);
    put(0x358, 0x40);
    put(0x398, SYSTEM - 0x390 + 1);
    heap
}

fn torn() -> Vec<u64> {
    let mut heap = heap();
    heap[0x2d8 / 8] = u64::from_le_bytes(*b"textover");
    heap
}

/// `tcache` lies below the thread pointer, and so does `thread_arena`.
fn thread() -> Vec<u64> {
    let mut thread = vec![0; 64];
    (thread[64 - 9], thread[64 - 7]) = (HEAP + 0x10, address(ARENA));
    thread
}
