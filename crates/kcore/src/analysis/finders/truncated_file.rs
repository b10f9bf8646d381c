//! An access to a mapped file behind its end.

use crate::{
    MappingKind,
    analysis::{Crash, Finder, Finding, Subject, crash::SIGBUS},
};

/// `BUS_ADRERR` of Linux `include/uapi/asm-generic/siginfo.h`.
const BUS_ADRERR: i32 = 2;

pub const FINDER: Finder = Finder {
    name: "truncated-file",
    needs: "the address of a SIGBUS, and the list of mapped files",
    find,
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let is_bus = crash.signal().is_ok_and(|it| it.number == SIGBUS && it.code == BUS_ADRERR);
    let Some(fault) = crash.fault().filter(|_| is_bus) else { return Ok(None) };
    let mapping = crash.core().mapping_at(fault).ok_or("no mapping is known at the address")?;
    let MappingKind::File { path, .. } = &mapping.kind else { return Ok(None) };
    let sentence = format!(
        "a page of the mapped file {path} could not be had: the file is likely shorter than its mapping"
    );
    let finding = Finding::likely(sentence);
    Ok(Some(finding.with(format!("the fault at {fault} lies in it"), Subject::Mapping(fault))))
}
