//! glibc's abort message.
//!
//! `__abort_msg` points to `struct abort_msg_s { unsigned int size; char msg[]; }` (glibc
//! `include/stdlib.h`), which `__libc_message` and `__assert_fail` leave behind for debuggers.

use super::LastWords;
use crate::{Core, Thread};

const SIGABRT: u16 = 6;
const MAX_MESSAGE: usize = 16 << 10;

/// The message, if the process aborted and glibc left one.
pub fn find(core: &Core, crashed: &Thread) -> Option<LastWords> {
    if crashed.signal != SIGABRT {
        return None;
    }
    let variable = core.lookup_libc("__abort_msg")?;
    let message = core.space().read_addr(variable).ok().filter(|at| at.get() != 0)?;
    let text = core.space().read_cstr(message.checked_add(4)?, MAX_MESSAGE).ok()?;
    let text = String::from_utf8_lossy(&text).trim_end().to_owned();
    (!text.is_empty()).then_some(LastWords::AbortMessage(text))
}
