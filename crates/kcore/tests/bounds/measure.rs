//! What a piece of work allocates, and a dog that barks when it does not end.
#![allow(unsafe_code, reason = "a global allocator is one")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

/// Far more than any round takes on the slowest machine.
const DEADLINE: Duration = Duration::from_secs(60);

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn count(bytes: usize) {
    TOTAL.fetch_add(bytes, Relaxed);
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that some work allocated.
#[derive(Clone, Copy, Debug)]
pub struct Allocated {
    /// At one time, at most.
    pub peak: usize,
    /// In all: what was copied, and how often.
    pub total: usize,
}

/// Runs `work` while nothing else is measured. When it does not end in time, the program ends and
/// says `name`.
pub fn measure<T>(name: &str, work: impl FnOnce() -> T) -> (T, Allocated) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (done, watched) = channel::<()>();
    let told = name.to_owned();
    let dog = thread::spawn(move || {
        if watched.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{told}: no end after {DEADLINE:?}");
            std::process::abort();
        }
    });
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    TOTAL.store(0, Relaxed);
    let result = work();
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    let total = TOTAL.load(Relaxed);
    drop(done);
    dog.join().expect("the dog");
    (result, Allocated { peak, total })
}
