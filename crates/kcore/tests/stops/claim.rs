//! Where a thread is said to return to, and where it does.

use std::path::Path;
use std::process::Command;

/// A caller: the thread, where it returns to, and its stack pointer right after the return, if that is told.
pub struct Claim {
    pub tid: u64,
    pub pc: u64,
    pub sp: Option<u64>,
}

/// Where a thread came to.
#[derive(Clone, Copy)]
pub struct Truth {
    pub pc: u64,
    pub sp: u64,
}

impl Truth {
    /// Lets a thread of a stopped process run until its function returns.
    pub fn of(tid: u64, step: &Path) -> Option<Self> {
        let output = Command::new(step).arg(tid.to_string()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (pc, sp) = text.trim_end().split_once(' ')?;
        Some(Self { pc: hex(pc)?, sp: hex(sp)? })
    }

    /// Whether a claim is that.
    pub fn is(self, claim: &Claim) -> bool {
        claim.pc == self.pc && claim.sp.is_none_or(|sp| sp == self.sp)
    }
}

/// A number as all of them write it.
pub fn hex(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}
