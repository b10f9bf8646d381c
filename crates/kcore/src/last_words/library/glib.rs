//! The words of GLib: a failed assertion, and a message that is an error.
//!
//! `g_assertion_message` keeps its text behind the exported `__glib_assert_msg`, for debuggers (GLib 2.74
//! `glib/gtestutils.c`). A message of `g_error` is one of the fields of a log entry: `GLogField {const char *key; const void
//! *value; ssize_t length}`, in an array on the stack of `g_log_default_handler` or `g_log_structured_standard`
//! (`glib/gmessages.c`). The key is `MESSAGE`; a length of -1 says that the value ends in a zero.

use kcore_mem::Addr;

use super::{DyingFrame, WORD, outermost, text, words};
use crate::Core;

const NAME: &str = "GLib";
const ASSERTS: &str = "g_assertion_message";
const LOGS: &str = "g_log";
const ASSERTION: &str = "__glib_assert_msg";
const KEY: &[u8] = b"MESSAGE";
/// The length of a field that ends in a zero.
const ENDS_IN_ZERO: u64 = u64::MAX;

/// The name of the library, and its words.
pub fn find(core: &Core, frames: &[DyingFrame]) -> Option<(&'static str, String)> {
    let words = match outermost(frames, |function| function.starts_with(ASSERTS)) {
        Some(_) => assertion(core),
        None => logged(core, frames, outermost(frames, |function| function.starts_with(LOGS))?),
    };
    Some((NAME, words?))
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
