//! A null pointer, or one close to it, that was followed.

use kcore_mem::{AccessKind, Addr, MemoryOperand};

use super::negative_pointer::negative;
use crate::analysis::{Confidence, Crash, EvidenceSource, Finder, FinderScope, Finding};

/// Below this address nothing is mapped on Linux (`vm.mmap_min_addr`).
pub const NULL_END: u64 = 0x1_0000;
/// Members of a structure that lie further in are rare: another pointer may be meant.
const MAX_OFFSET: u64 = 0x1000;

pub const FINDER: Finder = Finder {
    name: "null-access",
    needs: "the address of a memory fault, and a disassembler for the register",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let fault = crash.fault().or_else(|| crash.untold_fault());
    let near = fault.filter(|fault| fault.get() < NULL_END || is_below_null(*fault));
    let Some(fault) = near.filter(|_| crash.is_signal("SIGSEGV")) else { return Ok(None) };
    if crash.is_jump() || crash.core().mapping_at(fault).is_some() {
        return Ok(None);
    }
    let operand = crash.operand_at(fault).ok_or("the instruction does not tell the address")?;
    let Some(sentence) = sentence(&operand) else { return Ok(None) };
    if negative(crash, &operand).is_some() {
        return Ok(None);
    }
    let words = crash.pointer_words(&operand);
    let what = words.end_of_sentence(&operand, &what(&operand));
    let sentence = format!("{sentence}{}{what}", crash.in_function());
    let confidence = match crash.is_told() {
        true => confidence(&operand, fault.get()),
        false => Confidence::Likely,
    };
    let finding = Finding::new(confidence, sentence);
    let finding = finding.with(how(&operand), crash.shown_by_code());
    let mut finding = words.shown_in(finding, crash);
    if crash.is_told() {
        finding = finding.with(format!("the fault is at {fault}"), crash.shown_by());
    }
    let question = match words.name {
        Some(_) => "how it came to be",
        None => "which pointer it was",
    };
    Ok(Some(finding.then_ask(question, EvidenceSource::Stack(crash.tid()))))
}

/// Whether an address is a few bytes below null, where a member of a structure lies that begins before a pointer to it.
pub const fn is_below_null(fault: Addr) -> bool {
    fault.get() >= MAX_OFFSET.wrapping_neg()
}

fn confidence(operand: &MemoryOperand, fault: u64) -> Confidence {
    let is_null = operand.base.as_ref().is_none_or(|base| base.value == 0);
    let is_exact = operand.access.addr.get() == fault && operand.index.is_none();
    let is_near = fault < MAX_OFFSET || fault >= MAX_OFFSET.wrapping_neg();
    match is_null && is_exact && is_near {
        true => Confidence::Certain,
        false => Confidence::Likely,
    }
}

fn sentence(operand: &MemoryOperand) -> Option<String> {
    let base = operand.base.as_ref().map_or(0, |base| base.value);
    let pointer = match base {
        0 if operand.index.is_some() => "a null pointer with an index".to_owned(),
        0 => "a null pointer".to_owned(),
        value if value < NULL_END => format!("{value:#x}, a pointer close to null"),
        _ => return None,
    };
    let offset = match operand.displacement {
        0 => String::new(),
        offset => format!(" at offset {offset}"),
    };
    Some(format!("the process {} through {pointer}{offset}", verb(operand.access.kind)))
}

/// What the pointer is, behind its name.
fn what(operand: &MemoryOperand) -> String {
    match operand.base.as_ref().map_or(0, |base| base.value) {
        0 => "null".to_owned(),
        value => format!("{value:#x}"),
    }
}

/// How the instruction came to its address.
fn how(operand: &MemoryOperand) -> String {
    let registers = [&operand.base, &operand.index].into_iter().flatten();
    let registers: Vec<String> =
        registers.map(|it| format!("{} held {:#x}", it.name, it.value)).collect();
    let address = operand.access.addr;
    match registers.is_empty() {
        true => format!("the instruction names the address {address}"),
        false => format!("{}, which gives the address {address}", registers.join(" and ")),
    }
}

/// What an access did, with a preposition to follow.
pub const fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "wrote",
        AccessKind::ReadWrite => "changed memory",
        AccessKind::Execute => "jumped",
    }
}
