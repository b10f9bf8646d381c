//! A limit of the process that it went over.

use crate::{
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
    signal,
};

/// Signals that the kernel sends at a limit, and what that means.
const LIMITS: [(&str, &str); 2] = [
    ("SIGXCPU", "the process used up its limit of CPU time (RLIMIT_CPU)"),
    ("SIGXFSZ", "a file would have grown beyond the process's limit (RLIMIT_FSIZE)"),
];

pub const FINDER: Finder =
    Finder { name: "limit", needs: "who sent the signal", scope: FinderScope::Crash(find) };

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let mut limits = LIMITS.iter().filter(|(name, _)| crash.is_signal(name));
    let Some((_, what)) = limits.next() else { return Ok(None) };
    if !is_kernels(crash)? {
        return Ok(None);
    }
    let finding = Finding::certain(format!("{what}{}", crash.in_own_code()));
    let finding = finding.with("the kernel sent the signal", crash.shown_by());
    Ok(Some(finding.then_ask("what it was doing", EvidenceSource::Stack(crash.tid()))))
}

/// Whether the kernel sent the signal: in its own name, or in that of the process, and that is not in `kill`.
fn is_kernels(crash: &Crash<'_>) -> Result<bool, &'static str> {
    let sender = signal::sender(&crash.signal()?);
    let is_own =
        sender.is_some_and(|(pid, _)| pid == 0 || Some(pid) == crash.core().process().pid());
    let is_in_kill = || crash.last_functions().first().is_some_and(|name| &**name == "kill");
    Ok(crash.has_code("SI_KERNEL") || (crash.has_code("SI_USER") && is_own && !is_in_kill()))
}
