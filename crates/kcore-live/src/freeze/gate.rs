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

    /// Comes, and does not wait.
    pub fn leave(&self) {
        self.missing.fetch_sub(1, Ordering::AcqRel);
    }

    /// Comes, and waits for the others; not beyond `until`, so that a tracer that was lost does not
    /// keep the process stopped. Says whether all have come.
    pub fn pass(&self, until: Instant) -> bool {
        self.leave();
        let mut looks: u32 = 0;
        while !self.is_open() {
            looks = looks.saturating_add(1);
            if looks < EAGER_LOOKS {
                std::thread::yield_now();
            } else if Instant::now() > until {
                return false;
            } else {
                std::thread::sleep(NAP);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_alone_is_told_so() {
        let gate = Gate::new(2);
        assert!(!gate.pass(Instant::now()) && !gate.is_open());
        gate.leave();
        assert!(gate.is_open());
    }

    #[test]
    fn all_pass_once_the_last_has_come() {
        let gate = Gate::new(3);
        let late = Instant::now().checked_add(Duration::from_secs(60)).unwrap();
        std::thread::scope(|scope| {
            let others = [0, 1].map(|_| scope.spawn(|| gate.pass(late)));
            assert!(gate.pass(late));
            assert!(others.into_iter().all(|other| other.join().unwrap()));
        });
    }
}
