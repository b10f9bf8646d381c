//! An access to memory that allows none: a guard page, or addresses that were only reserved.

use kcore_mem::AccessKind;

use super::null_access::verb;
use crate::analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding};

pub const FINDER: Finder = Finder {
    name: "no-access",
    needs: "a disassembler, and the permissions of the mapping at a memory fault",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let is_denied = crash.has_code("SEGV_ACCERR") && !crash.is_of_stack() && !crash.is_jump();
    let Some(fault) = crash.fault().filter(|_| is_denied) else { return Ok(None) };
    let Some(mapping) = crash.core().mapping_at(fault) else { return Ok(None) };
    if mapping.permits(AccessKind::Read).ok_or("the permissions of the mapping are not known")? {
        return Ok(None);
    }
    let kind = crash.access().ok_or("the instruction does not tell what it did")?;
    let sentence = format!(
        "the process {} at {fault}, in a mapping of {} that allows no access{}",
        verb(kind),
        mapping.name(),
        crash.in_own_code()
    );
    let finding = Finding::certain(sentence);
    let finding =
        finding.with(format!("{fault} may not be read or written"), EvidenceSource::Mapping(fault));
    Ok(Some(finding.then_ask("how it came there", EvidenceSource::Stack(crash.tid()))))
}
