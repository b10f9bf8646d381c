//! A jump to where no code is: through a null or wild pointer to a function, or into memory that holds no code.

use kcore_mem::Addr;

use super::null_access::NULL_END;
use crate::{
    Mapping,
    analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding},
};

pub const FINDER: Finder = Finder {
    name: "execution",
    needs: "the program counter, the address of a memory fault, and all mappings",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if crash.freed_use().is_some() {
        return Ok(None);
    }
    if crash.fault().is_some() && crash.pc().is_none() {
        return Err("the program counter is not known");
    }
    let Some(pc) = crash.pc().filter(|_| crash.is_jump()) else { return Ok(None) };
    if crash.core().has_lost_mappings() {
        return Err("the core's end is missing, and with it the list of mappings");
    }
    let Some(sentence) = sentence(crash, pc) else { return Ok(None) };
    let sentence = format!("{sentence}{}", crash.called_from().unwrap_or_default());
    let finding = match crash.is_told() {
        true => Finding::certain(sentence),
        false => Finding::likely(sentence),
    };
    let mut finding = finding.with(format!("the program counter is {pc}"), crash.shown_by());
    if let Some(words) = crash.returns_to() {
        finding = finding.with(words, EvidenceSource::Stack(crash.tid()));
    }
    Ok(Some(finding.then_ask("where the address came from", EvidenceSource::Stack(crash.tid()))))
}

fn sentence(crash: &Crash<'_>, pc: Addr) -> Option<String> {
    match crash.core().mapping_at(pc) {
        None if pc.get() == 0 => Some("the process jumped to a null pointer".to_owned()),
        None if pc.get() < NULL_END => Some(format!("the process jumped to {pc}, close to null")),
        None => Some(format!("the process jumped to {pc}, where nothing is mapped")),
        Some(mapping) if !mapping.may_hold_code() => Some(format!(
            "the process jumped to {pc} in {}, {}",
            mapping.name(),
            what_it_allows(mapping)
        )),
        Some(_) => None,
    }
}

/// What the permissions of a mapping say that are not those of code.
fn what_it_allows(mapping: &Mapping) -> &'static str {
    match mapping.flags {
        Some(0) => "a mapping that allows no access",
        _ => "a mapping that does not hold code",
    }
}
