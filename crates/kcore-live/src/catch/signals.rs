//! What `/proc` tells of the signals of a process: which end it, and which wait for a thread.

use crate::{Process, proc};

/// Signals that do nothing, or stop, where the process has not said what to do: signal(7).
const HARMLESS: [i32; 8] = [
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGURG,
    libc::SIGWINCH,
    libc::SIGSTOP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// Whether a signal ends the process now: it is neither caught nor ignored, and is none of those that are harmless.
pub fn is_fatal(process: &Process, signal: i32) -> bool {
    let status = proc::read(&process.holder_folder().join("status")).unwrap_or_default();
    !HARMLESS.contains(&signal) && !is_handled(&String::from_utf8_lossy(&status), signal)
}

/// Whether SIGTRAP waits for a thread that blocks it (proc(5), `SigPnd`).
pub fn waits_for_trap(process: &Process, tid: i32) -> bool {
    const TRAP: u64 = 1 << (libc::SIGTRAP - 1);
    let status = proc::read(&process.task(tid).join("status")).unwrap_or_default();
    mask(&String::from_utf8_lossy(&status), "SigPnd:").is_some_and(|mask| mask & TRAP != 0)
}

/// Whether it is among those that `/proc/PID/status` says are ignored or caught (proc(5), `SigIgn`, `SigCgt`).
fn is_handled(status: &str, signal: i32) -> bool {
    let bit = u32::try_from(signal.saturating_sub(1)).ok().and_then(|bit| 1_u64.checked_shl(bit));
    let masks = ["SigIgn:", "SigCgt:"].into_iter().filter_map(|key| mask(status, key));
    masks.fold(0, |all, mask| all | mask) & bit.unwrap_or_default() != 0
}

fn mask(status: &str, key: &str) -> Option<u64> {
    let digits = status.lines().find_map(|line| line.strip_prefix(key))?;
    u64::from_str_radix(digits.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_ignored_or_caught_is_handled() {
        let status =
            "SigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000400\n";
        assert!(is_handled(status, libc::SIGPIPE) && is_handled(status, libc::SIGSEGV));
        assert!(!is_handled(status, libc::SIGABRT) && !is_handled("", libc::SIGSEGV));
    }
}
