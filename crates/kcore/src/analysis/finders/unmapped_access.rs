//! An access to an address at which nothing is mapped, by a pointer that tells nothing more.

use kcore_mem::Addr;

use super::{
    bad_pointer::what_it_is,
    negative_pointer::negative,
    null_access::{NULL_END, is_below_null, verb},
};
use crate::analysis::{Crash, Finder, FinderScope, Finding, pointer_words::PointerWords};

pub const FINDER: Finder = Finder {
    name: "unmapped-access",
    needs: "the address of a memory fault, all mappings, and a disassembler",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if crash.freed_use().is_some() {
        return Ok(None);
    }
    if crash.is_of_stack() || !crash.has_code("SEGV_MAPERR") {
        return Ok(None);
    }
    let Some(fault) = crash.fault().filter(|it| it.get() >= NULL_END) else { return Ok(None) };
    if crash.core().has_lost_mappings() {
        return Err("the core's end is missing, and with it the list of mappings");
    }
    if crash.is_jump() || crash.core().mapping_at(fault).is_some() {
        return Ok(None);
    }
    let operand = crash.operand_at(fault).ok_or("the instruction does not tell the address")?;
    let is_null = operand.base.as_ref().is_none_or(|base| base.value == 0);
    if negative(crash, &operand).is_some() || (is_null && is_below_null(fault)) {
        return Ok(None);
    }
    let base = operand.base.as_ref().map_or(0, |base| base.value);
    let is_mapped = crash.core().mapping_at(Addr::new(base)).is_some();
    if !is_mapped && what_it_is(base).is_some() {
        return Ok(None);
    }
    let verb = verb(operand.access.kind);
    // A pointer to what is mapped is not at fault: what was added to it is.
    let is_base = base == 0 || !is_mapped;
    let words = match is_base {
        true => crash.pointer_words(&operand),
        false => PointerWords::default(),
    };
    let pointer = words.end_of_sentence(&operand, &value_of(base));
    let function = crash.in_function();
    let sentence =
        format!("the process {verb} at {fault}, where nothing is mapped{function}{pointer}");
    let finding = words.shown_in(Finding::certain(sentence), crash);
    let finding = finding
        .with(format!("the instruction touches {}", operand.access.addr), crash.shown_by_code());
    Ok(Some(finding.with(format!("nothing is mapped at {fault}"), crash.shown_by())))
}

/// What a pointer is, behind its name.
fn value_of(pointer: u64) -> String {
    match pointer {
        0 => "null".to_owned(),
        value => format!("{value:#x}"),
    }
}
