//! The words of GLib: a failed assertion, and a message that is an error.
//!
//! `g_assertion_message` keeps its text behind the exported `__glib_assert_msg`, for debuggers (GLib 2.74
//! `glib/gtestutils.c`). A message of `g_error` is one of the fields of a log entry: `GLogField {const char *key; const void
//! *value; ssize_t length}`, in an array on the stack of `g_log_default_handler` or `g_log_structured_standard`
//! (`glib/gmessages.c`). The key is `MESSAGE`; a length of -1 says that the value ends in a zero.
//!
//! Where the program made other messages fatal, `g_logv` itself stops the process, behind the entry. It has allocated the
//! message then, and is still to free it.

use kcore_mem::{Addr, Arch};
use kcore_unwind::Tid;

use super::{DyingFrame, WORD, outermost, text, words};
use crate::{Core, native_heap::BlockState};

const NAME: &str = "GLib";
const ASSERTS: &str = "g_assertion_message";
const LOGS: &str = "g_log";
const ASSERTION: &str = "__glib_assert_msg";
const KEY: &[u8] = b"MESSAGE";
/// The length of a field that ends in a zero.
const ENDS_IN_ZERO: u64 = u64::MAX;

/// What stops the process itself.
const STOPS: &str = "g_logv";
/// The registers in which a function keeps what it needs after a call, on x86-64.
const KEPT: [&str; 6] = ["rbx", "rbp", "r12", "r13", "r14", "r15"];
/// Bytes at the end of a frame of x86-64 with what its caller kept there, and the return address.
const OF_CALLER: u64 = 56;

/// The name of the library, and its words.
pub fn find(core: &Core, tid: Tid, frames: &[DyingFrame]) -> Option<(&'static str, String)> {
    let words = match outermost(frames, |function| function.starts_with(ASSERTS)) {
        Some(_) => assertion(core),
        None => {
            let last = outermost(frames, |function| function.starts_with(LOGS))?;
            logged(core, frames, last).or_else(|| allocated(core, tid, frames))
        }
    };
    Some((NAME, words?))
}

/// The message that `g_logv` has allocated, if it stopped the process: the only text of the heap that it has.
fn allocated(core: &Core, tid: Tid, frames: &[DyingFrame]) -> Option<String> {
    let first = frames.first().filter(|frame| &*frame.function == STOPS)?;
    let end = first.frame.cfa.filter(|_| core.arch() == Arch::X86_64)?;
    let own_end = Addr::new(end.get().checked_sub(OF_CALLER)?);
    let registers = core.registers().user(tid).into_iter();
    let kept = registers.filter(|it| KEPT.contains(&it.name)).map(|it| it.value);
    let slots = words(core, frames, 0)?.filter(|(at, _)| *at < own_end).map(|(_, word)| word);
    let mut texts: Vec<(Addr, String)> =
        kept.chain(slots).filter_map(|word| allocated_text(core, Addr::new(word))).collect();
    texts.sort_unstable();
    texts.dedup();
    texts.pop().filter(|_| texts.is_empty()).map(|(_, text)| text)
}

/// The text in a block that is in use, if one begins at `at`.
fn allocated_text(core: &Core, at: Addr) -> Option<(Addr, String)> {
    let block = core.heaps().block_at(at)?.block;
    let is_whole = block.at == at && block.state == BlockState::Used;
    Some((at, text(core, at).filter(|_| is_whole)?))
}

fn assertion(core: &Core) -> Option<String> {
    let variable = core.symbols().lookup(None, ASSERTION).ok()?;
    text(core, core.space().read_addr(variable).ok()?)
}

/// The message of the entry that is being logged, in a frame that is still there.
fn logged(core: &Core, frames: &[DyingFrame], last: usize) -> Option<String> {
    let mut messages = words(core, frames, last)?.filter_map(|(at, key)| {
        let space = core.space();
        let value = space.read_addr(at.checked_add(WORD)?).ok()?;
        let length = space.read_word(at.checked_add(WORD.checked_mul(2)?)?).ok()?;
        let is_message = || space.read_cstr(Addr::new(key), KEY.len()).is_ok_and(|it| it == KEY);
        (length == ENDS_IN_ZERO && is_message()).then(|| text(core, value))?
    });
    let message = messages.next()?;
    messages.all(|other| other == message).then_some(message)
}
