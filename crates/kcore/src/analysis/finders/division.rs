//! A division of integers that cannot be done.

use crate::analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding};

pub const FINDER: Finder =
    Finder { name: "division", needs: "why SIGFPE was sent", scope: FinderScope::Crash(find) };

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    crash.signal()?;
    if !crash.has_code("FPE_INTDIV") {
        return Ok(None);
    }
    let Some(pc) = crash.pc() else { return Ok(None) };
    let sentence = format!(
        "an integer division failed: the divisor was 0, or the quotient was too large{}",
        crash.in_function()
    );
    let finding = Finding::certain(sentence);
    Ok(Some(finding.with(format!("the division is at {pc}"), EvidenceSource::Code(pc))))
}
