//! How far the unpacking of a big core has come, on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use kcore::Progress;

/// Who waits less than this sees nothing flicker.
const DELAY: Duration = Duration::from_millis(500);
const WITH_TOTAL: &str = "unpacking {bytes} of {total_bytes} {wide_bar} {eta}";
const WITHOUT_TOTAL: &str = "unpacking {bytes} {spinner}";

/// Runs `work`, whose progress stands on standard error while it lasts, if that is a terminal.
pub(crate) fn shown<T>(work: impl FnOnce(&mut dyn FnMut(Progress)) -> T) -> T {
    let start = Instant::now();
    let mut bar: Option<ProgressBar> = None;
    let result = work(&mut |progress| {
        if start.elapsed() >= DELAY {
            bar.get_or_insert_with(|| new_bar(progress)).set_position(progress.read);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    result
}

fn new_bar(progress: Progress) -> ProgressBar {
    let (bar, template) = match progress.total {
        Some(total) => (ProgressBar::new(total), WITH_TOTAL),
        None => (ProgressBar::new_spinner(), WITHOUT_TOTAL),
    };
    // A style that does not parse leaves the default one.
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_parse() {
        for template in [WITH_TOTAL, WITHOUT_TOTAL] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn the_result_passes_through() {
        let progress = Progress { read: 1, total: Some(2), written: 3 };
        let result = shown(|show| {
            show(progress);
            5
        });
        assert_eq!(result, 5);
    }
}
