//! What is shown while tests run: a line for each target, and what failed.

use std::time::{Duration, Instant};

use super::targets::Targets;

/// How far a run is.
pub struct Progress {
    targets: Targets,
    begun: usize,
    start: Instant,
}

impl Progress {
    /// Of a run that begins now.
    pub fn new(targets: Targets) -> Self {
        Self { targets, begun: 0, start: Instant::now() }
    }

    /// What is shown in the place of a line that `cargo test` or a harness printed, if anything is.
    pub fn shown(&mut self, line: &str) -> Option<String> {
        if let Some(name) = self.targets.begun(line) {
            self.begun += 1;
            let (begun, all) = (self.begun, self.targets.count().max(self.begun));
            let time = minutes(self.start.elapsed());
            return Some(format!("[{begun}/{all}] {name} (after {time})"));
        }
        (!is_usual(line)).then(|| line.to_owned())
    }
}

/// Whether a line says that all is well, which the counts at the end say too.
fn is_usual(line: &str) -> bool {
    let passed =
        line.starts_with("test ") && (line.ends_with(" ... ok") || line.contains(" ... ignored"));
    let counts = line.starts_with("running ") || line.starts_with("test result: ok");
    passed || counts || line.trim().is_empty()
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
    fn a_target_has_a_line_and_what_passes_has_none() {
        let mut progress = Progress::new(Targets::default());
        let line = progress.shown("     Running tests/b.rs (target/debug/deps/b-2)").unwrap();
        assert!(line.starts_with("[1/1] tests/b.rs (after 0 s"), "{line}");
        for usual in [
            "",
            "running 3 tests",
            "test a ... ok",
            "test a ... ignored, slow",
            "test result: ok. 3",
        ] {
            assert_eq!(progress.shown(usual), None, "{usual}");
        }
        for other in ["test a ... FAILED", "thread 'a' panicked", "not tested: a: no tmux"] {
            assert_eq!(progress.shown(other).as_deref(), Some(other));
        }
    }

    #[test]
    fn times_are_said_in_minutes() {
        assert_eq!(minutes(Duration::from_millis(59_900)), "59 s");
        assert_eq!(minutes(Duration::from_secs(723)), "12 min 3 s");
    }
}
