//! A wide access to an address that is not a multiple of its size.

use crate::analysis::{Crash, Finder, Finding, Subject};

pub const FINDER: Finder = Finder {
    name: "misaligned",
    needs: "a disassembler, and the registers at a fault without an address",
    find,
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if !crash.has_no_address() {
        return Ok(None);
    }
    let accesses = crash.data_accesses();
    let is_wide = |size: u64| matches!(size, 16 | 32 | 64);
    let [access] = accesses.as_slice() else { return Ok(None) };
    let (at, size) = (access.addr, access.size);
    if !is_wide(size) || at.get().is_multiple_of(size) || access.is_non_canonical() {
        return Ok(None);
    }
    let by = at.get().checked_rem(size).unwrap_or_default();
    let sentence = format!("an access of {size} bytes was not aligned{}", crash.in_function());
    let code = crash.pc().map_or(Subject::Process, Subject::Code);
    let finding = Finding::likely(sentence);
    Ok(Some(finding.with(format!("{at} is {by} bytes past a multiple of {size}"), code)))
}
