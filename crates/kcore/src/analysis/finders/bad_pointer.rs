//! A register that held no pointer: text, a pattern that memory is filled with, or a value that is no address.

use kcore_mem::{Addr, MemoryOperand};

use super::null_access::verb;
use crate::analysis::{
    Confidence, Crash, EvidenceSource, Finder, FinderScope, Finding, crash::is_non_canonical,
};

/// Values that programs and allocators fill memory with, by one half of a pointer.
const PATTERNS: [u32; 9] = [
    0xdead_beef,
    0xbaad_f00d,
    0xfeed_face,
    0xcdcd_cdcd,
    0xdddd_dddd,
    0xa5a5_a5a5,
    0x5a5a_5a5a,
    0xbebe_bebe,
    0x6b6b_6b6b,
];
/// Bytes of a pointer that must be text.
const TEXT: usize = 6;

pub const FINDER: Finder = Finder {
    name: "bad-pointer",
    needs: "a disassembler, and the registers at a memory fault",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if crash.is_jump() || crash.freed_use().is_some() {
        return Ok(None);
    }
    let Some(operand) = bad_operand(crash) else { return Ok(None) };
    let Some(base) = operand.base.as_ref() else { return Ok(None) };
    // The bytes of an address may be text by chance: of PIE programs one in some hundred is.
    if crash.core().mapping_at(Addr::new(base.value)).is_some() {
        return Ok(None);
    }
    let Some(what) = what_it_is(base.value) else { return Ok(None) };
    let (name, value) = (&base.name, base.value);
    let words = crash.pointer_words(&operand);
    let pointer = words.name.as_deref().unwrap_or("the pointer");
    let verb = verb(operand.access.kind);
    let sentence =
        format!("the process {verb} through {pointer} {value:#x}, {what}{}", crash.in_function());
    let finding = Finding::new(confidence(&operand, value), sentence);
    let text = format!("{name} held {value:#x}, which gives the address {}", operand.access.addr);
    let finding = finding.with(text, crash.shown_by_code());
    Ok(Some(
        words
            .shown_in(finding, crash)
            .then_ask("where it came from", EvidenceSource::Stack(crash.tid())),
    ))
}

/// The operand by which memory was touched that is not there or may not be.
pub fn bad_operand(crash: &Crash<'_>) -> Option<MemoryOperand> {
    match crash.has_no_address() {
        true => non_canonical(crash),
        false => crash.fault().and_then(|fault| crash.operand_at(fault)),
    }
}

/// The operand whose address is none, if it alone has such an address.
fn non_canonical(crash: &Crash<'_>) -> Option<MemoryOperand> {
    let operands = crash.operands().into_iter();
    let mut operands = operands.filter(|operand| operand.access.is_non_canonical());
    let operand = operands.next().filter(|operand| !operand.has_segment)?;
    operands.next().is_none().then_some(operand)
}

/// Sure of a value that is no address, since every access by it faults. A pattern may be there for another reason.
fn confidence(operand: &MemoryOperand, value: u64) -> Confidence {
    match operand.index.is_none() && is_non_canonical(value) && !is_pattern(value) {
        true => Confidence::Certain,
        false => Confidence::Likely,
    }
}

/// What a value that is no pointer is, as the end of a sentence.
pub fn what_it_is(value: u64) -> Option<String> {
    if let Some(text) = text_of(value) {
        return Some(format!("whose bytes are the text '{text}'"));
    }
    if is_pattern(value) {
        return Some("a pattern that memory is filled with".to_owned());
    }
    is_non_canonical(value).then(|| "which is no address".to_owned())
}

fn is_pattern(value: u64) -> bool {
    let (high, low) = (value >> 32, value & 0xffff_ffff);
    let mut patterns = PATTERNS.iter().map(|pattern| u64::from(*pattern));
    patterns.any(|it| low == it && (high == it || high == 0))
}

/// The text that the bytes of a pointer are: the first ones are printable, and zeros alone follow.
fn text_of(value: u64) -> Option<String> {
    let bytes = value.to_le_bytes();
    let length = bytes.iter().take_while(|byte| (b' '..=b'~').contains(*byte)).count();
    let (text, rest) = bytes.split_at_checked(length)?;
    let is_text = length >= TEXT && rest.iter().all(|byte| *byte == 0);
    is_text.then(|| text.iter().map(|byte| char::from(*byte)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_by_its_bytes() {
        let text = |value| text_of(value);
        assert_eq!(text(0x312e_312f_5054_5448).as_deref(), Some("HTTP/1.1"));
        assert_eq!(text(0x4242_4141_4141).as_deref(), Some("AAAABB"));
        assert_eq!(text(0x41_4141_4141), None, "five bytes");
        assert_eq!(text(0x8041_4141_4141_4141), None, "what follows is neither text nor 0");
        assert_eq!(text(0x7f12_3456_7890), None);
    }

    #[test]
    fn patterns_and_what_is_no_address_are_told_apart() {
        let pattern = Some("a pattern that memory is filled with".to_owned());
        for value in [0xdead_beef, 0xdead_beef_dead_beef, 0x6b6b_6b6b_6b6b_6b6b] {
            assert!(what_it_is(value).is_some(), "{value:#x}");
        }
        assert_eq!(what_it_is(0xdead_beef), pattern);
        assert_eq!(what_it_is(0x8000_0000_0000).as_deref(), Some("which is no address"));
        assert_eq!(what_it_is(0x7fff_ffff_f000), None);
        assert_eq!(what_it_is(0xdead_beef_0000_0000), Some("which is no address".to_owned()));
    }
}
