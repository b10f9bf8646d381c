//! A jump to where no code is: through a null or wild pointer to a function, or into data.

use kcore_mem::Addr;

use crate::analysis::{Crash, Finder, Finding, Subject};

/// Below this address nothing is mapped, so that a null pointer faults.
const NULL_END: u64 = 0x1000;

pub const FINDER: Finder = Finder {
    name: "execution",
    needs: "the program counter and the address of a memory fault",
    find,
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let Some(fault) = crash.fault() else { return Ok(None) };
    let pc = crash.pc().ok_or("the program counter is not known")?;
    if pc != fault || crash.core().has_lost_mappings() {
        return Ok(None);
    }
    let Some(sentence) = sentence(crash, pc) else { return Ok(None) };
    let by = crash.caller().map_or_else(String::new, |name| format!(", called from {name}"));
    let finding = Finding::certain(format!("{sentence}{by}"));
    let finding =
        finding.with(format!("the program counter is {pc}"), Subject::Signal(crash.tid()));
    Ok(Some(finding.then_ask("where the address came from", Subject::Stack(crash.tid()))))
}

fn sentence(crash: &Crash<'_>, pc: Addr) -> Option<String> {
    match crash.core().mapping_at(pc) {
        None if pc.get() == 0 => Some("the process jumped to a null pointer".to_owned()),
        None if pc.get() < NULL_END => Some(format!("the process jumped to {pc}, near null")),
        None => Some(format!("the process jumped to {pc}, where nothing is mapped")),
        Some(mapping) if !mapping.may_hold_code() => {
            Some(format!("the process executed data at {pc} of {}", mapping.name()))
        }
        Some(_) => None,
    }
}
