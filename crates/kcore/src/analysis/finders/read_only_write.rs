//! A write to memory that may be read only.

use kcore_mem::AccessKind;

use crate::analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding};

/// `p_flags` of a segment: its memory may be written, or read.
const WRITE: u32 = 2;
const READ: u32 = 4;

pub const FINDER: Finder = Finder {
    name: "read-only-write",
    needs: "a disassembler, and the permissions of the mapping at a memory fault",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if crash.is_of_stack() || !crash.has_code("SEGV_ACCERR") {
        return Ok(None);
    }
    let Some(fault) = crash.fault() else { return Ok(None) };
    let Some(mapping) = crash.core().mapping_at(fault) else { return Ok(None) };
    if !matches!(crash.access(), Some(AccessKind::Write | AccessKind::ReadWrite)) {
        return Ok(None);
    }
    let name = mapping.name();
    let memory = match mapping.flags {
        Some(flags) if flags & WRITE != 0 || flags & READ == 0 => return Ok(None),
        Some(_) => format!("read-only memory of {name}"),
        // The core does not hold the permissions: the code of the signal tells of one alone.
        None => format!("memory of {name} that may not be written"),
    };
    let sentence = format!("the process wrote to {fault} in {memory}{}", crash.in_function());
    let finding = Finding::certain(sentence);
    Ok(Some(finding.with(format!("{fault} may not be written"), EvidenceSource::Mapping(fault))))
}
