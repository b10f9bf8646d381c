//! A jump to a value that is no address: the processor refuses it at the jump itself.

use kcore_mem::{Addr, JumpSource};

use super::bad_pointer::what_it_is;
use crate::analysis::{
    Crash, EvidenceSource, Finder, FinderScope, Finding, FindingEvidence, crash::is_non_canonical,
};

pub const FINDER: Finder = Finder {
    name: "jump-target",
    needs: "a disassembler, and the registers or memory that held the target of a jump",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if crash.freed_use().is_some() {
        return Ok(None);
    }
    let Some(source) = crash.jump_source().filter(|_| crash.has_no_address()) else {
        return Ok(None);
    };
    let target = target(crash, &source).ok_or("the memory that holds the target was not saved")?;
    let Some(what) = what_it_is(target).filter(|_| is_non_canonical(target)) else {
        return Ok(None);
    };
    let sentence = format!("the process jumped to {target:#x}, {what}{}", crash.in_own_code());
    let mut finding = Finding::certain(sentence);
    finding.evidence.push(held(crash, &source, target));
    Ok(Some(finding.then_ask("where it came from", EvidenceSource::Stack(crash.tid()))))
}

fn target(crash: &Crash<'_>, source: &JumpSource) -> Option<u64> {
    match source {
        JumpSource::Register(register) => Some(register.value),
        JumpSource::Memory(operand) => word_at(crash, operand.access.addr),
    }
}

fn word_at(crash: &Crash<'_>, at: Addr) -> Option<u64> {
    crash.core().space().read_word(at).ok()
}

/// What held the target.
fn held(crash: &Crash<'_>, source: &JumpSource, target: u64) -> FindingEvidence {
    let (text, source) = match source {
        JumpSource::Register(register) => {
            (format!("{} held {target:#x}", register.name), crash.shown_by_code())
        }
        JumpSource::Memory(operand) => {
            let at = operand.access.addr;
            (format!("the word at {at} is {target:#x}"), EvidenceSource::Memory(at))
        }
    };
    FindingEvidence { text, source }
}
