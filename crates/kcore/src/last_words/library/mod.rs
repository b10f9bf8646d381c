//! What a library wrote down of the failed check for which it ended the process.

mod glib;
mod log_line;
#[cfg(feature = "disassembly")]
mod stated;

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::{DyingFrame, LastWords};
use crate::Core;

const WORD: u64 = 8;
/// Words of the stack that are looked through.
const MAX_WORDS: u64 = 16 << 10;
/// Bytes of a message.
const MAX_TEXT: usize = 16 << 10;

/// The words of the library that ended the process, if one did and its memory still has them.
pub fn find(core: &Core, tid: Tid, frames: &[DyingFrame]) -> Option<LastWords> {
    let (library, message) = glib::find(core, tid, frames)
        .or_else(|| log_line::find(core, tid, frames))
        .or_else(|| stated::find(core, frames))?;
    Some(LastWords::Library { library, message })
}

/// Nothing: code is not read without a disassembler.
#[cfg(not(feature = "disassembly"))]
mod stated {
    pub const fn find(_: &super::Core, _: &[super::DyingFrame]) -> Option<(&'static str, String)> {
        None
    }
}

/// The outermost of the frames at the end of which functions of a library stand one after the other.
fn outermost(frames: &[DyingFrame], is_of_library: impl Fn(&str) -> bool) -> Option<usize> {
    frames.iter().rposition(|frame| is_of_library(&frame.function))
}

/// The words of the stack from the innermost frame to the end of frame `last`, with their addresses.
fn words<'a>(
    core: &'a Core,
    frames: &[DyingFrame],
    last: usize,
) -> Option<impl Iterator<Item = (Addr, u64)> + 'a> {
    let start = frames.first()?.frame.sp?;
    let end = frames.get(last)?.frame.cfa?;
    let count = (end.offset_from(start)? / WORD).min(MAX_WORDS);
    let slots = (0..count).filter_map(move |index| start.checked_add(index.checked_mul(WORD)?));
    Some(slots.filter_map(|at| Some((at, core.space().read_word(at).ok()?))))
}

/// The text at an address, if it is whole, and all of it is text.
fn text(core: &Core, at: Addr) -> Option<String> {
    let bytes = core.space().read_cstr(at, MAX_TEXT).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let text = text.trim_end();
    let is_text = !text.contains(|it: char| it.is_control() && it != '\n' && it != '\t');
    (is_text && !text.is_empty()).then(|| text.to_owned())
}
