//! Where the agent writes what it was asked for.

use std::os::fd::AsRawFd;

use crate::{
    install::{settings, timeout},
    sys, trust,
};

/// Standard error.
pub const STDERR: i32 = 2;

/// Writes a line.
pub fn say(text: &str) {
    write(format!("kcore-agent: {text}\n").as_bytes());
}

/// Writes to the file that the user wants, and to standard error where there is none, or it cannot be opened.
/// Where nobody reads, what is not taken in time is left out.
pub fn write(bytes: &[u8]) {
    let Some(path) = settings().output else { return sys::write_all(STDERR, bytes, timeout()) };
    match trust::open_at_end(&path) {
        Ok(file) => sys::write_all(file.as_raw_fd(), bytes, timeout()),
        Err(error) => {
            let line = format!("kcore-agent: {}: {error}\n", path.display());
            sys::write_all(STDERR, line.as_bytes(), timeout());
            sys::write_all(STDERR, bytes, timeout());
        }
    }
}
