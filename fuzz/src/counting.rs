//! What a piece of work allocates.
#![allow(unsafe_code, reason = "a global allocator is one")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which counts. A target that asks [`measure`] has it as its own.
pub struct Counting;

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TOTAL.fetch_add(layout.size(), Relaxed);
        let now = NOW.fetch_add(layout.size(), Relaxed).wrapping_add(layout.size());
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Bytes that some work allocated.
#[derive(Clone, Copy, Debug)]
pub struct Allocated {
    /// At one time, at most.
    pub peak: usize,
    /// In all.
    pub total: usize,
}

/// Runs `work`, which nothing else runs beside.
pub fn measure(work: impl FnOnce()) -> Allocated {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    TOTAL.store(0, Relaxed);
    work();
    let peak = PEAK.load(Relaxed).saturating_sub(before);
    Allocated { peak, total: TOTAL.load(Relaxed) }
}
