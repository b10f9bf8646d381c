//! The messages of the Rust panics of which the process died.
//!
//! The last panic's message may still stand in the buffer from which it was printed
//! (`printed.rs`). A panic that was being unwound when another one aborted the process is an
//! exception in flight, which holds its message (`in_flight.rs`).

mod in_flight;
mod printed;

use kcore_mem::Addr;

use super::{DyingFrame, frame_of};
use crate::Core;

/// Stack that is looked at. What the machinery of panics left lies below the frames that are
/// left, or in them.
const BELOW: u64 = 32 << 10;
const ABOVE: u64 = 16 << 10;

/// What is called when a panic meets code that it cannot pass: there is an exception in flight
/// (`library/core/src/panicking.rs`).
const ABORTING: [&str; 2] =
    ["core::panicking::panic_cannot_unwind", "core::panicking::panic_in_cleanup"];

/// The messages that are left, the latest first; none if the stack is not one of a panic.
pub fn find(core: &Core, frames: &[DyingFrame]) -> Vec<String> {
    let machinery = |function: &str| {
        function.starts_with("core::panicking::") || function.starts_with("std::panicking::")
    };
    let panicking = frames.iter().any(|frame| machinery(&frame.function));
    let sp = frames.first().filter(|_| panicking).and_then(|frame| frame.frame.sp);
    let Some(sp) = sp else { return Vec::new() };
    let (start, stack) = stack_around(core, sp);
    let mut messages: Vec<String> = printed::find(&stack).into_iter().collect();
    if frame_of(frames, &ABORTING).is_some() {
        messages.extend(in_flight::find(core, start, &stack));
    }
    messages
}

/// The bytes of the stack around its pointer, and where they begin.
fn stack_around(core: &Core, sp: Addr) -> (Addr, Vec<u8>) {
    let start = Addr::new(sp.get().saturating_sub(BELOW));
    let lowest = core.mapping_at(sp).map_or(start, |mapping| mapping.range.start.max(start));
    let len = sp.get().saturating_sub(lowest.get()).saturating_add(ABOVE);
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    let (read, _) = core.space().read_partial(lowest, &mut bytes);
    bytes.truncate(read);
    (lowest, bytes)
}
