//! An instruction that is there to stop the program, or that the processor does not have.

use kcore_mem::Addr;

use super::last_words::said_at_end;
use crate::analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding};

/// Instructions that compilers, sanitizers and C libraries put where a program must not go on.
const STOPS: [&str; 7] = ["ud2", "ud1", "ud0", "int3", "hlt", "brk", "udf"];
/// What a compiler's stack protector calls; musl's stops the process at once.
const STACK_PROTECTOR: &str = "__stack_chk_fail";
/// From the address that the kernel tells of `int3` to the instruction.
const INT3: i64 = -1;

pub const FINDER: Finder = Finder {
    name: "trap",
    needs: "a disassembler, and the code at the program counter",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    if said_at_end(crash).is_some() {
        return Ok(None);
    }
    let Some(found) = stop(crash) else { return Ok(unknown(crash)) };
    let (at, mnemonic) = found;
    let what = match crash.function().as_deref() {
        Some(STACK_PROTECTOR) => "the stack was smashed: the stack protector stopped the process",
        _ => "the program stopped itself",
    };
    let sentence = format!("{what} with the instruction {mnemonic}{}", own_place(crash, at));
    let finding = Finding::certain(sentence);
    let finding = finding.with("it is there to stop the program", EvidenceSource::Code(at));
    Ok(Some(finding.then_ask("what led to it", EvidenceSource::Stack(crash.tid()))))
}

/// The instruction that stopped the program.
fn stop(crash: &Crash<'_>) -> Option<(Addr, String)> {
    let pc = crash.pc()?;
    let at = match () {
        () if crash.is_signal("SIGTRAP") => [Some(pc.wrapping_offset(INT3)), Some(pc)],
        () if crash.is_signal("SIGILL") => [Some(refused(crash, pc)), None],
        () if crash.has_no_address() => [Some(pc), None],
        () => return None,
    };
    let named = at.into_iter().flatten().map(|at| (at, crash.core().mnemonic(at)));
    let mut stops = named.filter_map(|(at, mnemonic)| Some((at, mnemonic?)));
    stops.find(|(_, mnemonic)| STOPS.contains(&&**mnemonic))
}

/// An instruction that the processor refused, if it is one of another kind.
fn unknown(crash: &Crash<'_>) -> Option<Finding> {
    let pc = crash.pc().filter(|_| crash.is_signal("SIGILL") && crash.is_of_the_machine())?;
    let at = refused(crash, pc);
    let (what, shown_by) = match crash.core().mnemonic(at) {
        Some(mnemonic) => {
            (format!("the processor refused the instruction {mnemonic}"), EvidenceSource::Code(at))
        }
        None => (format!("the bytes at {at} are no instruction"), EvidenceSource::Memory(at)),
    };
    let finding = Finding::certain(format!("{what}{}", place(crash, at)));
    let finding = finding.with(format!("the fault is at {at}"), shown_by);
    Some(finding.then_ask("how it came there", EvidenceSource::Stack(crash.tid())))
}

/// The instruction that the processor refused: the kernel tells its address. A handler may have changed the program counter
/// in the frame of the signal since, as that of Redis does.
fn refused(crash: &Crash<'_>, pc: Addr) -> Addr {
    crash.told_address().filter(|at| at.get() != 0).unwrap_or(pc)
}

/// The same of an instruction that is there to stop the program. With SIGTRAP the kernel may tell the address behind it.
fn own_place(crash: &Crash<'_>, at: Addr) -> String {
    match crash.is_signal("SIGILL") {
        true => place(crash, at),
        false => crash.in_own_code(),
    }
}

/// The function of an instruction, as the end of a sentence.
fn place(crash: &Crash<'_>, at: Addr) -> String {
    if crash.pc() == Some(at) {
        return crash.in_own_code();
    }
    let symbol = crash.core().symbols().at(at).filter(|symbol| !symbol.is_only_nearest());
    symbol.map_or_else(String::new, |symbol| format!(", in {}", symbol.name))
}
