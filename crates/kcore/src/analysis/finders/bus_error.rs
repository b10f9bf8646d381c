//! An access to a part of a mapped file that is not there.

use kcore_mem::Addr;

use super::null_access::verb;
use crate::{
    MappingKind,
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
};

pub const FINDER: Finder = Finder {
    name: "bus-error",
    needs: "a disassembler, and the file of the mapping at a bus error",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let is_absent = crash.is_signal("SIGBUS") && crash.has_code("BUS_ADRERR");
    let Some(fault) = crash.fault().filter(|_| is_absent) else { return Ok(None) };
    let Some((path, offset)) = file_at(crash, fault) else { return Ok(None) };
    let kind = crash.access().ok_or("the instruction does not tell what it did")?;
    // An error of the disk, or a full file system of memory, give the same signal.
    let sentence = format!(
        "the process {} at offset {offset:#x} of {path}, which the file did not have: it was cut after it was \
         mapped, or never was so long{}",
        verb(kind),
        crash.in_or_called_from()
    );
    let finding = Finding::likely(sentence);
    let finding =
        finding.with(format!("{fault} is in its mapping"), EvidenceSource::Mapping(fault));
    Ok(Some(finding.with(format!("the fault is at {fault}"), crash.shown_by())))
}

/// The file that is mapped at an address, and the offset in it.
fn file_at<'a>(crash: &Crash<'a>, at: Addr) -> Option<(&'a str, u64)> {
    let mapping = crash.core().mapping_at(at)?;
    let MappingKind::File { path, offset } = &mapping.kind else { return None };
    Some((path, offset.get().checked_add(at.offset_from(mapping.range.start)?)?))
}
