//! Where tracers wait for each other while a process stands still.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

/// Looks at the count before a tracer sleeps between two.
const EAGER_LOOKS: u32 = 2000;
const NAP: Duration = Duration::from_micros(20);

/// A gate that opens once all have come. Who waits gives its processor away, so that threads that
/// have to reach their stop get it; being woken by the system would take longer than most waits.
#[derive(Debug)]
pub struct Gate {
    missing: AtomicUsize,
}

impl Gate {
    /// A gate for so many.
    pub const fn new(count: usize) -> Self {
        Self { missing: AtomicUsize::new(count) }
    }

    /// Whether all have come.
    pub fn is_open(&self) -> bool {
        self.missing.load(Ordering::Acquire) == 0
    }

    /// Comes, and waits for the others; not beyond `until`, so that a tracer that was lost does not
    /// keep the process stopped.
    pub fn pass(&self, until: Instant) {
        self.missing.fetch_sub(1, Ordering::AcqRel);
        let mut looks: u32 = 0;
        while !self.is_open() {
            looks = looks.saturating_add(1);
            if looks < EAGER_LOOKS {
                std::thread::yield_now();
            } else if Instant::now() > until {
                return;
            } else {
                std::thread::sleep(NAP);
            }
        }
    }
}
