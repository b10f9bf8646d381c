//! A null pointer, or one close to it, that was followed.

use kcore_mem::AccessKind;

use crate::analysis::{Crash, Finder, Finding, Subject, crash::SIGSEGV};

/// Below this address nothing is mapped on Linux (`vm.mmap_min_addr`).
const NULL_END: u64 = 0x1_0000;

pub const FINDER: Finder = Finder {
    name: "null-access",
    needs: "the address of a memory fault, and a disassembler for the register",
    find,
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let near = crash.fault().filter(|fault| fault.get() < NULL_END);
    let Some(fault) = near.filter(|_| crash.signal().is_ok_and(|it| it.number == SIGSEGV)) else {
        return Ok(None);
    };
    if crash.pc() == Some(fault) || crash.core().mapping_at(fault).is_some() {
        return Ok(None);
    }
    let operand = crash.operand_at_fault().ok_or("the instruction does not tell the address")?;
    let Some(base) = operand.base.filter(|base| base.value < NULL_END) else { return Ok(None) };
    let kind = verb(operand.access.kind);
    let place = crash.in_function();
    let is_null = base.value == 0 && operand.index.is_none();
    let finding = match base.value {
        _ if is_null => {
            Finding::certain(format!("the process {kind} through a null pointer{place}"))
        }
        0 => Finding::likely(format!(
            "the process {kind} through a null pointer with an index{place}"
        )),
        value => Finding::likely(format!(
            "the process {kind} through {value:#x}, a pointer close to null{place}"
        )),
    };
    let access = operand.access.addr;
    let offset = operand.displacement;
    let text =
        format!("register {} held {:#x}, offset {offset} gives {access}", base.name, base.value);
    let finding = finding.with(text, crash.pc().map_or(Subject::Process, Subject::Code));
    let finding = finding.with(format!("the fault is at {fault}"), Subject::Signal(crash.tid()));
    Ok(Some(finding.then_ask("which pointer it was", Subject::Stack(crash.tid()))))
}

const fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "wrote",
        AccessKind::ReadWrite => "changed memory",
        AccessKind::Execute => "jumped",
    }
}
