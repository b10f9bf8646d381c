//! A return to what is no address: the stack held something else where the return address was.

use super::bad_pointer::what_it_is;
use crate::analysis::{
    Crash, EvidenceSource, Finder, FinderScope, Finding, crash::is_non_canonical,
};

pub const FINDER: Finder = Finder {
    name: "bad-return",
    needs: "a disassembler, and the stack at a fault without an address",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let Some(pc) = crash.pc().filter(|_| crash.has_no_address()) else { return Ok(None) };
    let mnemonic = crash.core().mnemonic(pc);
    if !mnemonic.is_some_and(|name| matches!(name.as_str(), "ret" | "retq")) {
        return Ok(None);
    }
    let sp = crash.sp().ok_or("the stack pointer is not known")?;
    let target = crash.core().space().read_word(sp);
    let target = target.map_err(|_| "the core does not hold the return address")?;
    let Some(what) = what_it_is(target).filter(|_| is_non_canonical(target)) else {
        return Ok(None);
    };
    let from = crash.function().unwrap_or_else(|| pc.to_string());
    let finding = Finding::certain(format!("{from} returned to {target:#x}, {what}"));
    let finding = finding.with(format!("the return is at {pc}"), EvidenceSource::Code(pc));
    Ok(Some(finding.with(format!("the address was at {sp}"), EvidenceSource::Memory(sp))))
}
