//! An instruction that ends a program: a division that cannot be done, one that is undefined, a breakpoint.

use crate::analysis::{Crash, Finder, Finding, Subject};

const SIGILL: i32 = 4;
const SIGTRAP: i32 = 5;
const SIGFPE: i32 = 8;
/// `FPE_INTDIV` of Linux `include/uapi/asm-generic/siginfo.h`.
const FPE_INTDIV: i32 = 1;
/// `SI_KERNEL`, which the kernel tells of a breakpoint instruction on x86-64.
const SI_KERNEL: i32 = 0x80;

pub const FINDER: Finder =
    Finder { name: "instruction", needs: "why SIGFPE, SIGILL or SIGTRAP was sent", find };

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let info = crash.signal()?;
    // One that a process sent has no code of a fault.
    if info.code <= 0 {
        return Ok(None);
    }
    let what = match (info.number, info.code) {
        (SIGFPE, FPE_INTDIV) => {
            "an integer division failed: the divisor was 0, or the quotient was too large"
        }
        (SIGILL, _) if is_deliberate(crash) => {
            "the process ran into an instruction that compilers put where code must not come"
        }
        (SIGTRAP, SI_KERNEL) => "the process ran into a breakpoint instruction",
        _ => return Ok(None),
    };
    let code = crash.pc().map_or(Subject::Process, Subject::Code);
    let text = crash.pc().map_or_else(String::new, |pc| format!("the process stood at {pc}"));
    Ok(Some(Finding::certain(format!("{what}{}", crash.in_function())).with(text, code)))
}

/// Whether the instruction is undefined for good, as compilers put it where code must not come.
fn is_deliberate(crash: &Crash<'_>) -> bool {
    let mnemonic = crash.pc().and_then(|pc| crash.core().mnemonic(pc));
    mnemonic.is_some_and(|it| matches!(it.as_str(), "ud0" | "ud1" | "ud2" | "udf"))
}
