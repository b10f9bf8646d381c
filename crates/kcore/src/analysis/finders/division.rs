//! A division of integers that cannot be done.

use crate::analysis::{Crash, Finder, Finding, Subject};

const SIGFPE: i32 = 8;
/// `FPE_INTDIV` of Linux `include/uapi/asm-generic/siginfo.h`.
const FPE_INTDIV: i32 = 1;

pub const FINDER: Finder = Finder { name: "division", needs: "why SIGFPE was sent", find };

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let info = crash.signal()?;
    if (info.number, info.code) != (SIGFPE, FPE_INTDIV) {
        return Ok(None);
    }
    let Some(pc) = crash.pc() else { return Ok(None) };
    let sentence = format!(
        "an integer division failed: the divisor was 0, or the quotient was too large{}",
        crash.in_function()
    );
    let finding = Finding::certain(sentence);
    Ok(Some(finding.with(format!("the division is at {pc}"), Subject::Code(pc))))
}
