//! How far the unpacking of a big core has come, on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use kcore::Progress;

/// Who waits less than this sees nothing flicker.
const DELAY: Duration = Duration::from_millis(500);
const WITH_TOTAL: &str = "unpacking {bytes} of {total_bytes} {wide_bar} {eta}";
const WITHOUT_TOTAL: &str = "unpacking {bytes} {spinner}";
#[cfg(feature = "debuginfod")]
const TRANSFER: &str = "fetching {msg} {bytes} of {total_bytes}";

/// Shows how far files have come from servers, if standard error is a terminal.
#[cfg(feature = "debuginfod")]
pub(crate) fn of_transfers() -> kcore::debuginfod::TellTransfer {
    use std::sync::{Arc, Mutex, PoisonError};

    use kcore::debuginfod::Transfer;

    let shown: Mutex<Option<(Instant, Option<ProgressBar>)>> = Mutex::default();
    Arc::new(move |transfer: &Transfer| {
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, bar) = shown.get_or_insert_with(|| (Instant::now(), None));
        if transfer.is_over {
            if let Some((_, Some(bar))) = shown.take() {
                bar.finish_and_clear();
            }
        } else if since.elapsed() >= DELAY {
            let bar = bar.get_or_insert_with(|| transfer_bar(transfer));
            bar.set_length(transfer.total.unwrap_or_default());
            bar.set_position(transfer.received);
        }
    })
}

#[cfg(feature = "debuginfod")]
fn transfer_bar(transfer: &kcore::debuginfod::Transfer) -> ProgressBar {
    let bar = ProgressBar::new(transfer.total.unwrap_or_default());
    let bar = match ProgressStyle::with_template(TRANSFER) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    bar.with_message(kcore_render::sanitize::bytes(transfer.url.as_bytes()))
}

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
        #[cfg(feature = "debuginfod")]
        assert!(ProgressStyle::with_template(TRANSFER).is_ok());
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
