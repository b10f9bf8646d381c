//! The threads of the process, and why one of them does not answer.

use std::{collections::BTreeSet, fmt, fs, io};

use crate::sys;

/// Why a thread did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Missing {
    /// It blocks the signal.
    Blocks,
    /// It did not answer in time; the letter is the state that the system tells.
    Late(char),
    /// Too many signals wait in the process.
    Full,
    /// The system refuses to ask it, with this error number.
    Refused(i32),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks => f.write_str("blocks the signal"),
            Self::Late(state) => write!(f, "did not answer, in state {state}"),
            Self::Full => f.write_str("was not asked: too many signals are queued"),
            Self::Refused(number) => {
                write!(f, "was not asked: {}", io::Error::from_raw_os_error(*number))
            }
        }
    }
}

/// What the system says of a thread's signals.
pub struct SignalMasks {
    state: char,
    blocked: u64,
    pending: u64,
}

impl SignalMasks {
    /// Asks it; `None` when the thread has ended.
    pub fn of(tid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/self/task/{tid}/status")).ok()?;
        let told = Self::parse(&text)?;
        (!matches!(told.state, 'Z' | 'X')).then_some(told)
    }

    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_start_matches(':').trim())
        };
        let set = |name| u64::from_str_radix(field(name)?, 16).ok();
        Some(Self {
            state: field("State")?.chars().next()?,
            blocked: set("SigBlk")?,
            pending: set("SigPnd")?,
        })
    }

    /// Whether a signal waits for it.
    pub const fn waits(&self, signal: i32) -> bool {
        self.pending & bit(signal) != 0
    }

    /// Whether it blocks a signal.
    pub const fn blocks(&self, signal: i32) -> bool {
        self.blocked & bit(signal) != 0
    }

    /// Why it does not answer.
    pub const fn why(&self, signal: i32) -> Missing {
        if self.blocks(signal) { Missing::Blocks } else { Missing::Late(self.state) }
    }
}

const fn bit(signal: i32) -> u64 {
    match 1_u64.checked_shl(signal.saturating_sub(1).cast_unsigned()) {
        Some(bit) => bit,
        None => 0,
    }
}

/// The ids of the process's threads but the one that asks.
///
/// # Errors
/// When the system does not tell: there is no `/proc`, or the process may open no more files.
pub fn others() -> io::Result<BTreeSet<i32>> {
    let own = sys::thread_id();
    let folder = fs::read_dir("/proc/self/task")?;
    let ids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut ids: BTreeSet<i32> = ids.filter(|tid| *tid != own).collect();
    // The first one stays in the list when it has ended, for as long as there are others.
    let first = sys::process_id();
    if ids.contains(&first) && SignalMasks::of(first).is_none() {
        ids.remove(&first);
    }
    Ok(ids)
}

/// Whether each thread of the process blocks a signal.
pub fn all_block(signal: i32) -> bool {
    let blocks = |tid| SignalMasks::of(tid).map(|told| told.blocks(signal));
    blocks(sys::thread_id()) == Some(true)
        && others().unwrap_or_default().into_iter().all(|tid| blocks(tid) != Some(false))
}

/// Whether a thread blocks one signal and not the other one.
pub fn is_blocked_but_not(signal: i32, other: i32) -> bool {
    let is_so = |told: SignalMasks| told.blocks(signal) && !told.blocks(other);
    others().unwrap_or_default().into_iter().filter_map(SignalMasks::of).any(is_so)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_signal_is_why_there_is_no_answer() {
        let text = "Name:\tx\nState:\tS (sleeping)\nSigPnd:\t0000000400000000\n\
                    SigBlk:\t0000000400000000\n";
        let told = SignalMasks::parse(text).unwrap();
        assert_eq!((told.waits(35), told.waits(34)), (true, false));
        assert_eq!((told.why(35), told.why(34)), (Missing::Blocks, Missing::Late('S')));
    }
}
