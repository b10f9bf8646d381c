//! heap-google-tcmalloc: a program whose memory Google's tcmalloc hands out, and which knows all of its blocks. Four
//! threads allocate at many sizes and alignments, free most of it, a part of it each other's, and one of them ends.
//! `blocks.bin` has a line for each block: where, asked for, usable, and whether it is the program's still.
//! `statistics.txt` has what the allocator says of itself at the same moment. Neither of them allocates.

#[path = "../../include/truth.rs"]
mod truth;

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::fs::File;
use std::io::Write;
use std::sync::Barrier;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use tcmalloc_better::TCMalloc;

#[global_allocator]
static ALLOCATOR: TCMalloc = TCMalloc;

/// Which of the programs it is: caches of threads in place of those of processors, and one of few bytes sampled.
const NAME: &str = env!("CARGO_BIN_NAME");

const WORKERS: usize = 4;
/// Of each worker.
const BLOCKS: usize = 3000;
const HUGE_BYTES: usize = 40 << 20;

/// What tcmalloc says.
const PROPERTIES: &[&str] = &[
    "generic.current_allocated_bytes",
    "tcmalloc.central_cache_free",
    "tcmalloc.cpu_free",
    "tcmalloc.sharded_transfer_cache_free",
    "tcmalloc.transfer_cache_free",
    "tcmalloc.current_total_thread_cache_bytes",
    "tcmalloc.slack_bytes",
    "tcmalloc.per_cpu_caches_active",
];

unsafe extern "C" {
    fn TCMalloc_Internal_ForceCpuCacheActivation();
    fn MallocExtension_Internal_GetNumericProperty(name: *const u8, len: usize, value: *mut usize) -> bool;
    fn MallocExtension_Internal_SetProfileSamplingInterval(bytes: i64);
    fn MallocExtension_Internal_GetAllocatedSize(at: *const u8) -> usize;
}

/// A block as the program knows it, and as it stands in `blocks.bin`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Block {
    at: usize,
    asked: usize,
    usable: usize,
    live: usize,
}

/// Blocks of all workers, and how each is aligned. Each worker writes its own, and at other times its neighbour's.
static TABLE: AtomicPtr<Block> = AtomicPtr::new(std::ptr::null_mut());
static ALIGNMENTS: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
/// The number of the next worker.
static NEXT: AtomicUsize = AtomicUsize::new(0);
static STARTED: Barrier = Barrier::new(WORKERS);
static FILLED: Barrier = Barrier::new(WORKERS);
static FREED: Barrier = Barrier::new(WORKERS);
/// How many workers are done.
static RESTING: AtomicUsize = AtomicUsize::new(0);

struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize
    }

    /// Most blocks are small, and a few are large.
    fn size(&mut self) -> usize {
        let (die, value) = (self.next() % 1000, self.next());
        1 + match die {
            0..700 => value % 256,
            700..900 => value % 4096,
            900..996 => value % 20000,
            _ => value % (768 << 10),
        }
    }
}

fn memory<T>(count: usize) -> *mut T {
    let bytes = count * size_of::<T>();
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
    assert!(at != libc::MAP_FAILED);
    at.cast()
}

fn layout(index: usize) -> Layout {
    let block = unsafe { *TABLE.load(Relaxed).add(index) };
    let alignment = unsafe { *ALIGNMENTS.load(Relaxed).add(index) };
    Layout::from_size_align(block.asked, 1 << alignment).unwrap()
}

fn set(index: usize, at: *mut u8, asked: usize, alignment: u8) {
    let usable = unsafe { MallocExtension_Internal_GetAllocatedSize(at) };
    unsafe { at.write_volatile(1) };
    let block = Block { at: at.addr(), asked, usable, live: 1 };
    unsafe { *TABLE.load(Relaxed).add(index) = block };
    unsafe { *ALIGNMENTS.load(Relaxed).add(index) = alignment };
}

fn fill(index: usize, random: &mut Random) {
    let size = random.size();
    let plain = Layout::from_size_align(size, 8).unwrap();
    let half = Layout::from_size_align(size.div_ceil(2), 8).unwrap();
    let (at, alignment) = unsafe {
        match random.next() % 8 {
            0 => (alloc_zeroed(plain), 3),
            1 => (realloc(alloc(half), half, size), 3),
            2 => {
                let alignment = 4 + (random.next() % 9) as u8;
                (alloc(Layout::from_size_align(size, 1 << alignment).unwrap()), alignment)
            }
            _ => (alloc(plain), 3),
        }
    };
    set(index, at, size, alignment);
}

fn release(index: usize) {
    let block = unsafe { &mut *TABLE.load(Relaxed).add(index) };
    if block.live == 1 {
        unsafe { dealloc(std::ptr::with_exposed_provenance_mut(block.at), layout(index)) };
    }
    block.live = 0;
}

/// Allocates, frees 60 of 100 on the way, some more of the neighbour's, and fills a part of the gaps again.
fn work(number: usize) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number as u64 + 1));
    let (mine, other) = (number * BLOCKS, (number + 1) % WORKERS * BLOCKS);
    STARTED.wait();
    for index in 0..BLOCKS * 9 / 10 {
        fill(mine + index, &mut random);
        if random.next() % 10 < 6 {
            release(mine + random.next() % (index + 1));
        }
    }
    FILLED.wait();
    (0..BLOCKS).step_by(17).for_each(|index| release(other + index));
    FREED.wait();
    for index in BLOCKS * 9 / 10..BLOCKS {
        fill(mine + index, &mut random);
    }
    // One block of many huge pages, of which little is touched.
    release(mine);
    set(mine, unsafe { alloc(Layout::from_size_align(HUGE_BYTES, 8).unwrap()) }, HUGE_BYTES, 3);
}

#[inline(never)]
fn rest() -> u32 {
    RESTING.fetch_add(1, Relaxed);
    loop {
        thread::park();
        if std::hint::black_box(false) {
            return 1;
        }
    }
}

/// Waits until all workers but the one that is gone do nothing any more.
fn wait_for_rest() {
    while RESTING.load(Relaxed) < WORKERS - 1 {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(Duration::from_millis(200));
}

/// What is told of a thread is told before it works: nothing may be allocated afterwards.
#[inline(never)]
fn worker() {
    truth::thread("worker");
    truth::push("worker", file!(), 0, Some(false));
    truth::push("rest", file!(), 0, Some(false));
    truth::gap("std");
    work(NEXT.fetch_add(1, Relaxed));
    std::hint::black_box(rest());
}

fn tell_blocks() {
    let bytes = WORKERS * BLOCKS * size_of::<Block>();
    let blocks = unsafe { std::slice::from_raw_parts(TABLE.load(Relaxed).cast::<u8>(), bytes) };
    File::create("blocks.bin").unwrap().write_all(blocks).unwrap();
}

fn tell_statistics() {
    let mut file = File::create("statistics.txt").unwrap();
    for name in PROPERTIES {
        let mut value = 0;
        let len = name.len();
        if unsafe { MallocExtension_Internal_GetNumericProperty(name.as_ptr(), len, &mut value) } {
            writeln!(file, "{name} {value}").unwrap();
        }
    }
}

#[inline(never)]
fn end() {
    truth::write();
    tell_statistics();
    tell_blocks();
    unsafe { libc::abort() };
}

fn has_caches_of_threads() -> bool {
    NAME.ends_with("-threads")
}

/// The C library takes what tcmalloc's caches of processors need, unless it is told not to when the process begins.
fn without_libc_sequences() {
    const TUNABLES: &str = "GLIBC_TUNABLES";
    if has_caches_of_threads() || std::env::var_os(TUNABLES).is_some() {
        return;
    }
    let name = std::ffi::CString::new(std::env::args().next().unwrap()).unwrap();
    unsafe {
        std::env::set_var(TUNABLES, "glibc.pthread.rseq=0");
        libc::execl(c"/proc/self/exe".as_ptr(), name.as_ptr(), std::ptr::null::<libc::c_char>());
    }
    panic!("the program cannot begin anew");
}

fn main() {
    without_libc_sequences();
    truth::thread("main");
    truth::push("main", file!(), 0, Some(false));
    truth::push("end", file!(), 0, Some(false));
    truth::gap("libc");
    if !has_caches_of_threads() {
        unsafe { TCMalloc_Internal_ForceCpuCacheActivation() };
    }
    let interval = if NAME.ends_with("-prof") { 4096 } else { i64::MAX };
    unsafe { MallocExtension_Internal_SetProfileSamplingInterval(interval) };
    TABLE.store(memory(WORKERS * BLOCKS), Relaxed);
    ALIGNMENTS.store(memory(WORKERS * BLOCKS), Relaxed);
    let threads: Vec<_> = (0..WORKERS - 1).map(|_| thread::spawn(worker)).collect();
    // A worker whose thread is gone when the process dies.
    thread::spawn(|| work(NEXT.fetch_add(1, Relaxed))).join().unwrap();
    wait_for_rest();
    std::mem::forget(threads);
    end();
}
