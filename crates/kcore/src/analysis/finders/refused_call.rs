//! A system call that a filter of the process refused.

use kcore_elf::core_file::SignalDetail;

use crate::{
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
    arch::facts,
};

pub const FINDER: Finder = Finder {
    name: "refused-call",
    needs: "the system call that SIGSYS tells of",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if !crash.is_signal("SIGSYS") || !crash.has_code("SYS_SECCOMP") {
        return Ok(None);
    }
    let SignalDetail::SystemCall { number, .. } = crash.signal()?.detail else { return Ok(None) };
    let name = facts(crash.core().target()).system_call(number.into());
    let name = name.map_or_else(|| format!("number {number}"), str::to_owned);
    let sentence =
        format!("a seccomp filter refused the system call {name}{}", crash.in_own_code());
    let finding = Finding::certain(sentence);
    let finding = finding.with("the signal names the call", crash.shown_by());
    Ok(Some(finding.then_ask("who made it", EvidenceSource::Stack(crash.tid()))))
}
