//! Measuring one thing several times.

use std::time::{Duration, Instant};

/// Runs that are not counted: they warm the caches.
const WARM: usize = 1;

/// The median time of `runs` runs.
///
/// # Errors
/// What the first run that fails says.
pub fn median(
    runs: usize,
    mut run: impl FnMut() -> Result<(), String>,
) -> Result<Duration, String> {
    let mut times = Vec::with_capacity(runs);
    for index in 0..runs.max(1) + WARM {
        let start = Instant::now();
        run()?;
        if index >= WARM {
            times.push(start.elapsed());
        }
    }
    times.sort();
    Ok(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_leaves_out_what_is_unusual() {
        let mut runs = 0;
        let slow_once = || {
            runs += 1;
            let millis = if runs == 3 { 60 } else { 2 };
            std::thread::sleep(Duration::from_millis(millis));
            Ok(())
        };
        assert!(median(5, slow_once).unwrap() < Duration::from_millis(60));
        assert_eq!(runs, 6);
    }

    #[test]
    fn a_run_that_fails_is_the_result() {
        assert_eq!(median(3, || Err("gone".to_owned())), Err("gone".to_owned()));
    }
}
