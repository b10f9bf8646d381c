//! A register that held no pointer: text, a pattern that memory is filled with, or a value that is no address.

use kcore_mem::Addr;

use crate::analysis::{Crash, Finder, Finding, Subject};

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
    find,
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if crash.fault().is_none() && !crash.has_no_address() {
        return Ok(None);
    }
    let mut operands = crash.operands().into_iter();
    let operand = operands.find(|operand| match crash.fault() {
        Some(fault) if !crash.has_no_address() => operand.access.touches(fault),
        _ => operand.access.is_non_canonical(),
    });
    let Some(operand) = operand else { return Ok(None) };
    let Some((register, what)) =
        [operand.base, operand.index].into_iter().flatten().find_map(|it| {
            let what = what_it_is(it.value)?;
            Some((it, what))
        })
    else {
        return Ok(None);
    };
    let (name, value) = (&register.name, register.value);
    let sentence = format!("a pointer held {value:#x}, {what}{}", crash.in_function());
    let code = crash.pc().map_or(Subject::Process, Subject::Code);
    let finding = Finding::certain(sentence);
    let finding = finding.with(format!("register {name} held {value:#x}"), code);
    Ok(Some(finding.then_ask("where it came from", Subject::Stack(crash.tid()))))
}

fn what_it_is(value: u64) -> Option<String> {
    if let Some(text) = text_of(value) {
        return Some(format!("which is the text '{text}'"));
    }
    let (high, low) = (value >> 32, value & 0xffff_ffff);
    if PATTERNS
        .iter()
        .map(|pattern| u64::from(*pattern))
        .any(|it| low == it && (high == it || high == 0))
    {
        return Some("a pattern that memory is filled with".to_owned());
    }
    let access =
        kcore_mem::Access { addr: Addr::new(value), size: 1, kind: kcore_mem::AccessKind::Read };
    access.is_non_canonical().then(|| "which is no address".to_owned())
}

/// The text that the bytes of a pointer are: the first ones are printable, and zeros alone follow.
fn text_of(value: u64) -> Option<String> {
    let bytes = value.to_le_bytes();
    let length = bytes.iter().take_while(|byte| (b' '..=b'~').contains(*byte)).count();
    let (text, rest) = bytes.split_at_checked(length)?;
    let is_text = length > TEXT || (length == TEXT && rest.iter().all(|byte| *byte == 0));
    is_text.then(|| text.iter().map(|byte| char::from(*byte)).collect())
}
