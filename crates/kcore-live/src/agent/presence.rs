//! Whether a process has the agent: by what `/proc` tells of its signals to anybody, and of its mappings to those who
//! may read them.

use std::path::PathBuf;

use super::AskError;
use crate::{Pid, proc};

/// The agent's signal, unless somebody has chosen another one.
pub const DEFAULT_SIGNAL: i32 = 35;
/// What the agent calls a mapping of its once it is installed: with the version of what is said between it and kcore,
/// and its signal behind that (`kcore-agent`, `sys/mark.rs`).
const MARK: &[u8] = b"/memfd:kcore-agent.1.";

/// An agent that was found in a process, and that may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The process.
    pub pid: Pid,
    /// Its signal.
    pub signal: i32,
}

impl Agent {
    /// Looks for it. With `unseen`, a process whose mappings may not be read is believed to have it if it handles `signal`.
    ///
    /// # Errors
    /// When it is not there, or would not answer.
    pub fn find(pid: Pid, signal: Option<i32>, unseen: bool) -> Result<Self, AskError> {
        let signals = Signals::of(pid).ok_or(AskError::NoProcess(pid))?;
        let wanted = signal.unwrap_or(DEFAULT_SIGNAL);
        let signal = match mark_of(pid) {
            Mark::Signal(found) => found,
            Mark::None => return Err(AskError::NoAgent(pid)),
            Mark::Unseen if !signals.handles(wanted) => {
                return Err(AskError::NotHandled { pid, signal: wanted });
            }
            Mark::Unseen if unseen => wanted,
            Mark::Unseen => return Err(AskError::Unseen { pid, signal: wanted }),
        };
        if !signals.handles(signal) {
            return Err(AskError::Taken { pid, signal });
        }
        if signals.all_block(signal) {
            return Err(AskError::Blocked { pid, signal });
        }
        Ok(Self { pid, signal })
    }

    /// Advice for a user who may not trace the process: to ask its agent. Empty if it has none.
    pub fn hint(pid: Pid) -> String {
        match Self::find(pid, None, false) {
            Ok(_) => format!("; it has kcore's agent: 'kcore ask {pid}' shows its stacks"),
            Err(AskError::Unseen { .. }) => {
                format!("; if it has kcore's agent, 'kcore ask --unseen {pid}' shows its stacks")
            }
            Err(_) => String::new(),
        }
    }
}

/// What is known of the agent's mapping.
#[derive(Debug, PartialEq, Eq)]
enum Mark {
    /// It is there, with this signal.
    Signal(i32),
    /// It is not.
    None,
    /// Mappings may not be read.
    Unseen,
}

fn mark_of(pid: Pid) -> Mark {
    let maps = folder(pid).join("maps");
    let first = |tid: i32| folder(pid).join("task").join(tid.to_string()).join("maps");
    let text = match proc::read(&maps) {
        Err(_) => return Mark::Unseen,
        // A first thread that has ended has none.
        Ok(text) if text.is_empty() => tasks(pid)
            .into_iter()
            .find_map(|tid| proc::read(&first(tid)).ok().filter(|text| !text.is_empty()))
            .unwrap_or_default(),
        Ok(text) => text,
    };
    text.split(|byte| *byte == b'\n').find_map(marked).map_or(Mark::None, Mark::Signal)
}

/// The signal that a line of mappings tells.
fn marked(line: &[u8]) -> Option<i32> {
    let at = line.windows(MARK.len()).position(|window| window == MARK)?;
    let rest = line.get(at.checked_add(MARK.len())?..)?;
    let digits = rest.split(|byte| !byte.is_ascii_digit()).next()?;
    let signal = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (34..=64).contains(&signal).then_some(signal)
}

fn folder(pid: Pid) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}"))
}

fn tasks(pid: Pid) -> Vec<i32> {
    proc::tasks(&folder(pid)).unwrap_or_default()
}

/// What the system says of the signals of a process, to anybody who sees it.
struct Signals {
    handled: u64,
    /// Of each thread.
    blocked: Vec<u64>,
}

impl Signals {
    fn of(pid: Pid) -> Option<Self> {
        let status = proc::read(&folder(pid).join("status")).ok()?;
        let of_thread = |tid: i32| {
            let file = folder(pid).join("task").join(tid.to_string()).join("status");
            let status = proc::read(&file).ok()?;
            // One that has ended answers nothing.
            let state = value(&status, b"State:")?.trim_ascii().first().copied()?;
            (!matches!(state, b'Z' | b'X')).then(|| set(&status, b"SigBlk:"))?
        };
        let blocked: Vec<u64> = tasks(pid).into_iter().filter_map(of_thread).collect();
        if blocked.is_empty() {
            return None;
        }
        Some(Self { handled: set(&status, b"SigCgt:")?, blocked })
    }

    fn handles(&self, signal: i32) -> bool {
        self.handled & bit(signal) != 0
    }

    fn all_block(&self, signal: i32) -> bool {
        self.blocked.iter().all(|blocked| blocked & bit(signal) != 0)
    }
}

fn bit(signal: i32) -> u64 {
    1_u64.checked_shl(signal.saturating_sub(1).cast_unsigned()).unwrap_or(0)
}

fn value<'a>(status: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(key))
}

fn set(status: &[u8], key: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(value(status, key)?.trim_ascii()).ok()?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_tells_the_signal() {
        let line =
            b"7f0000000000-7f0000001000 ---s 00000000 00:01 9  /memfd:kcore-agent.1.40 (deleted)";
        assert_eq!(marked(line), Some(40));
        assert_eq!(marked(b"7f00-7f01 r--p 0 00:01 9 /usr/lib/libkcore_agent.so.0.1.0"), None);
        assert_eq!(marked(b"7f00-7f01 ---s 0 00:01 9 /memfd:kcore-agent.2.35 (deleted)"), None);
        assert_eq!(marked(b"7f00-7f01 ---s 0 00:01 9 /memfd:kcore-agent.1.9 (deleted)"), None);
    }

    #[test]
    fn signals_of_a_process_are_read_by_bits() {
        let status = b"Name:\tx\nState:\tS (sleeping)\nSigBlk:\t0000000400000000\nSigCgt:\t0000000400000800\n";
        assert_eq!(set(status, b"SigCgt:"), Some(bit(35) | bit(12)));
        let signals = Signals { handled: bit(35), blocked: vec![bit(35), 0] };
        assert!(signals.handles(35) && !signals.handles(36) && !signals.all_block(35));
    }

    #[test]
    fn this_process_has_no_agent() {
        let pid = Pid::new(i32::try_from(std::process::id()).unwrap());
        assert!(matches!(Agent::find(pid, None, true), Err(AskError::NoAgent(_))));
        assert_eq!(Agent::hint(pid), "");
    }
}
