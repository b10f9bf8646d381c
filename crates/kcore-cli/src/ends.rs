//! The signals that end a command which runs for long, and how one ends without memory.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};

use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::args::USAGE;

/// Makes kcore end with status 2, and without a core of its own, when it is refused memory: Rust says how many bytes it
/// wanted, and raises SIGABRT.
///
/// # Errors
/// When a handler cannot be installed.
pub(crate) fn fail_without_memory() -> io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    register_conditional_shutdown(SIGABRT, USAGE.into(), always).map(drop)
}

/// Sets `stop` when somebody wants the command to end. What whoever started it ignores (nohup, a shell that runs it
/// beside others) stays ignored.
///
/// # Errors
/// When a handler cannot be installed.
pub(crate) fn set(stop: &Arc<AtomicBool>) -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if !is_ignored(&status, signal) {
            register(signal, Arc::clone(stop))?;
        }
    }
    Ok(())
}

/// Whether a signal is among those that `/proc/PID/status` says are ignored (proc(5), `SigIgn`).
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    let bit = u32::try_from(signal - 1).ok().and_then(|bit| 1_u64.checked_shl(bit));
    mask.zip(bit).is_some_and(|(mask, bit)| mask & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_a_bit_of_the_mask() {
        let status = "Name:\tkcore\nSigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\n";
        assert!(is_ignored(status, SIGHUP));
        assert!(!is_ignored(status, SIGINT) && !is_ignored(status, SIGTERM));
        assert!(!is_ignored("", SIGHUP));
    }
}
