//! How far a slow command has come: a line on a terminal that disappears.

use std::io::Write;
use std::time::{Duration, Instant};

/// Who waits less than this sees nothing flicker.
const DELAY: Duration = Duration::from_millis(500);
/// Between two lines.
const PAUSE: Duration = Duration::from_millis(100);
/// Back to the first column, and the line is empty.
const ERASE: &str = "\r\x1b[K";

/// The progress of one command.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    enabled: bool,
    began: Option<Instant>,
    shown: Option<Instant>,
}

impl Progress {
    /// Progress that is shown only on a terminal.
    pub(crate) fn new(on_terminal: bool) -> Self {
        Self { enabled: on_terminal, ..Self::default() }
    }

    /// Shows how much of a total is done, if it takes long and the last line is not fresh.
    pub(crate) fn show(&mut self, to: &mut impl Write, done: u64, total: u64) {
        let now = Instant::now();
        let began = *self.began.get_or_insert(now);
        let due = self.shown.map_or(began + DELAY, |shown| shown + PAUSE);
        if self.enabled && now >= due {
            self.shown = Some(now);
            // That nobody sees it stops nothing.
            let _ = write!(to, "{ERASE}{}", line(done, total)).and_then(|()| to.flush());
        }
    }

    /// Takes the line away: something else is to be shown.
    pub(crate) fn erase(&mut self, to: &mut impl Write) {
        if self.shown.take().is_some() {
            let _ = write!(to, "{ERASE}").and_then(|()| to.flush());
        }
    }

    /// The command has ended.
    pub(crate) fn end(&mut self, to: &mut impl Write) {
        self.erase(to);
        self.began = None;
    }
}

fn line(done: u64, total: u64) -> String {
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    format!("{percent} % (ctrl-C stops)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fast_shows_nothing() {
        let mut out = Vec::new();
        let mut progress = Progress::new(true);
        progress.show(&mut out, 1, 2);
        progress.end(&mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn a_line_stands_until_something_else_is_shown() {
        let long_ago = Instant::now().checked_sub(DELAY * 2);
        let mut progress = Progress { enabled: true, began: long_ago, shown: None };
        let mut out = Vec::new();
        progress.show(&mut out, 1, 3);
        progress.show(&mut out, 2, 3);
        progress.erase(&mut out);
        progress.erase(&mut out);
        assert_eq!(out, b"\r\x1b[K33 % (ctrl-C stops)\r\x1b[K");
    }

    #[test]
    fn only_terminals_have_it() {
        let long_ago = Instant::now().checked_sub(DELAY * 2);
        let mut progress = Progress { enabled: false, began: long_ago, shown: None };
        let mut out = Vec::new();
        progress.show(&mut out, 0, 0);
        assert!(out.is_empty());
        assert_eq!(line(u64::MAX, u64::MAX), "100 % (ctrl-C stops)");
    }
}
