//! The function that an exception must not leave, where that ended the process.
//!
//! `__gxx_personality_v0` calls `std::terminate` for the frame in which the search for a handler ended (GCC 12
//! `libsupc++/eh_personality.cc`). The unwinder keeps that frame in its own, as `struct _Unwind_Context`, in which the stack
//! pointer and the return address of the frame follow each other (libgcc 12 `unwind-dw2.c`). It has another one for the frame
//! that called it.

use kcore_mem::CodeAddr;
use kcore_unwind::Frame;

use super::is_refused;
use crate::{Core, last_words::DyingFrame};

/// How functions of the unwinder begin.
const UNWINDER: &str = "_Unwind_";
/// Words of its frame.
const MAX_WORDS: u64 = 512;

/// Whether an exception reached a function that lets none out, and where that stood: `Some(None)` if it is not known.
pub fn stopped_by(core: &Core, frames: &[DyingFrame]) -> Option<Option<CodeAddr>> {
    is_refused(frames).then(|| Some(stopped_frame(core, frames)?.pc))
}

/// The outermost frame that the unwinder keeps, if that is not the one that called it.
fn stopped_frame(core: &Core, frames: &[DyingFrame]) -> Option<Frame> {
    let unwinder = frames.iter().position(|frame| frame.function.starts_with(UNWINDER))?;
    let own = frames.get(unwinder)?.frame;
    let (start, end) = own.sp.zip(own.cfa)?;
    let count = (end.offset_from(start)? / 8).min(MAX_WORDS);
    let slots = (0..count).filter_map(|index| start.checked_add(index.checked_mul(8)?));
    let words: Vec<u64> = slots.map_while(|at| core.space().read_word(at).ok()).collect();
    let behind = frames.get(unwinder.checked_add(2)?..)?.iter().map(|frame| frame.frame);
    let certain: Vec<Frame> = behind.take_while(|frame| !frame.guess).collect();
    let is_kept = |frame: &&Frame| {
        let pair = frame.sp.map(|sp| [sp.get(), frame.pc.addr().get()]);
        pair.is_some_and(|pair| words.windows(2).any(|kept| kept == pair))
    };
    certain.iter().rfind(is_kept).copied()
}
