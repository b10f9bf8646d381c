//! What is shown while tests run: a line for each target, and what failed.

use std::time::{Duration, Instant};

/// How far a run is.
pub struct Progress {
    begun: usize,
    all: usize,
    start: Instant,
}

impl Progress {
    /// Of a run of so many targets that begins now.
    pub fn new(all: usize) -> Self {
        Self { begun: 0, all, start: Instant::now() }
    }

    /// What is shown when a target begins.
    pub fn begun(&mut self, name: &str) -> String {
        self.begun += 1;
        format!("[{}/{}] {name} (after {})", self.begun, self.all, minutes(self.start.elapsed()))
    }
}

/// Whether a line says that all is well, which the counts at the end say too.
pub fn is_usual(line: &str) -> bool {
    let passed =
        line.starts_with("test ") && (line.ends_with(" ... ok") || line.contains(" ... ignored"));
    let counts = line.starts_with("running ") || line.starts_with("test result: ok");
    let documented =
        line.trim_start().starts_with("Doc-tests ") || line.starts_with("all doctests ran");
    passed || counts || documented || line.trim().is_empty()
}

/// A time as people say it: `12 min 3 s`.
pub fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes => format!("{minutes} min {} s", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_counted_when_it_begins() {
        let mut progress = Progress::new(2);
        for (name, number) in [("a walk", 1), ("documentation", 2)] {
            let line = progress.begun(name);
            assert!(line.starts_with(&format!("[{number}/2] {name} (after 0 s")), "{line}");
        }
    }

    #[test]
    fn what_passes_is_usual() {
        for usual in [
            "",
            "running 3 tests",
            "test a ... ok",
            "test a ... ignored, slow",
            "test result: ok. 3",
            "   Doc-tests kcore",
        ] {
            assert!(is_usual(usual), "{usual}");
        }
        for other in ["test a ... FAILED", "thread 'a' panicked", "not tested: a: no tmux"] {
            assert!(!is_usual(other), "{other}");
        }
    }

    #[test]
    fn times_are_said_in_minutes() {
        assert_eq!(minutes(Duration::from_millis(59_900)), "59 s");
        assert_eq!(minutes(Duration::from_secs(723)), "12 min 3 s");
    }
}
