//! A write to memory that may be read only.

use kcore_mem::AccessKind;

use crate::analysis::{Crash, Finder, Finding, Subject, crash::SIGSEGV};

pub const FINDER: Finder = Finder {
    name: "read-only-write",
    needs: "a disassembler, and the permissions of the mapping at a memory fault",
    find,
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let Some(fault) = crash.fault().filter(|_| crash.signal().is_ok_and(|it| it.number == SIGSEGV))
    else {
        return Ok(None);
    };
    let Some(mapping) = crash.core().mapping_at(fault) else { return Ok(None) };
    if !matches!(crash.access(), Some(AccessKind::Write | AccessKind::ReadWrite)) {
        return Ok(None);
    }
    let flags = mapping.flags.ok_or("the permissions of the mapping are not known")?;
    if flags & 2 != 0 || flags & 4 == 0 {
        return Ok(None);
    }
    let name = mapping.name();
    let sentence =
        format!("the process wrote to read-only memory of {name}{}", crash.in_function());
    let finding = Finding::certain(sentence);
    Ok(Some(finding.with(format!("{fault} may not be written"), Subject::Mapping(fault))))
}
