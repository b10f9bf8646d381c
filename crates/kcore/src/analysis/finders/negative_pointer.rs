//! A pointer that is a small negative number: -1, as functions return that fail, or a few bytes below null, as a structure
//! would lie of which a null pointer is taken to be a member.

use kcore_mem::MemoryOperand;

use super::null_access::{NULL_END, verb};
use crate::analysis::{
    Confidence, Crash, EvidenceSource, Finder, FinderScope, Finding, pointer_words::PointerWords,
};

/// Numbers that are taken for negative: the kernel returns errors as those above -4096, and structures are rarely larger.
const LOWEST: i64 = -0x1000;

pub const FINDER: Finder = Finder {
    name: "negative-pointer",
    needs: "the address of a memory fault, and a disassembler for the register",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let fault = crash.fault().filter(|_| crash.is_signal("SIGSEGV"));
    let Some(fault) = fault.filter(|_| !crash.is_jump()) else { return Ok(None) };
    if crash.core().mapping_at(fault).is_some() {
        return Ok(None);
    }
    let Some(operand) = crash.operand_at(fault) else { return Ok(None) };
    let Some(used) = negative(crash, &operand) else { return Ok(None) };
    let sentence = format!(
        "the process {} through {}{}{}{}",
        verb(operand.access.kind),
        spelled(used.value),
        offset(used.offset),
        crash.in_function(),
        used.words.end_of_sentence(&operand, &used.value.to_string())
    );
    let confidence = match operand.index.is_none() {
        true => Confidence::Certain,
        false => Confidence::Likely,
    };
    let base = operand.base.as_ref();
    let held =
        base.map_or_else(String::new, |base| format!("{} held {:#x}", base.name, base.value));
    let text = format!("{held}, which gives the address {}", operand.access.addr);
    let finding = Finding::new(confidence, sentence).with(text, crash.shown_by_code());
    let finding = used.words.shown_in(finding, crash);
    let finding = finding.with(format!("the fault is at {fault}"), crash.shown_by());
    Ok(Some(finding.then_ask("where it came from", EvidenceSource::Stack(crash.tid()))))
}

/// A negative number that was used as a pointer.
pub struct NegativePointer {
    value: i64,
    /// The bytes behind it that were touched.
    offset: i64,
    words: PointerWords,
}

/// The pointer of an operand, if it is a small negative number: the register has it, or code added to it before.
pub fn negative(crash: &Crash<'_>, operand: &MemoryOperand) -> Option<NegativePointer> {
    let base = operand.base.as_ref()?;
    if let Some(value) = small(base.value) {
        let words = crash.pointer_words(operand);
        return Some(NegativePointer { value, offset: operand.displacement, words });
    }
    // Only what is close to null can have been added to such a number.
    (base.value < NULL_END).then_some(())?;
    let (words, pointer, bytes) = crash.moved_pointer(&base.name)?;
    let offset = bytes.cast_signed().checked_add(operand.displacement)?;
    Some(NegativePointer { value: small(pointer.get())?, offset, words })
}

fn small(value: u64) -> Option<i64> {
    let value = value.cast_signed();
    (LOWEST..0).contains(&value).then_some(value)
}

fn spelled(value: i64) -> String {
    match value {
        -1 => "-1 (the value of MAP_FAILED, and of other calls that failed)".to_owned(),
        below => format!("a pointer {} bytes below null", below.unsigned_abs()),
    }
}

fn offset(offset: i64) -> String {
    match offset {
        0 => String::new(),
        offset => format!(" at offset {offset}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_negative_numbers_alone_are_told() {
        let small = |value: i64| small(value.cast_unsigned());
        assert_eq!(small(-1), Some(-1));
        assert_eq!(small(-0x1000), Some(-0x1000));
        assert_eq!((small(-0x1001), small(0), small(i64::MIN)), (None, None, None));
    }
}
