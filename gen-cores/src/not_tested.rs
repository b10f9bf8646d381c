//! Skipped tests and their reasons: printed where they happen, and listed again at the end of a run.

use std::{env, fmt::Display, fs::OpenOptions, io, io::Write, thread};

/// The environment variable that names the file to which tests add what they skip.
pub const NOT_TESTED: &str = "KCORE_NOT_TESTED";

/// Says that a test, or a part of one, is skipped. The reason also goes, as a line with the name of the test, to the
/// file that [`NOT_TESTED`] names.
///
/// # Panics
/// When that file cannot be written: a skip that nobody hears of is worse than a test that fails.
pub fn not_tested(reason: impl Display) {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("{test}: {reason}\n");
    // Not by `println`, which the harness keeps to itself where a test passes.
    let _ = write!(io::stdout(), "not tested: {line}");
    if let Some(path) = env::var_os(NOT_TESTED) {
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect(NOT_TESTED);
        // One write, since many tests write at once.
        file.write_all(line.as_bytes()).expect(NOT_TESTED);
    }
}
