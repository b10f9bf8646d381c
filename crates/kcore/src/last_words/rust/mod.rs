//! The Rust panics of which the process died.
//!
//! A panic whose machinery still runs left on the stack what its hook was told (`hooked.rs`). The text that
//! the default hook printed may still stand in its buffer (`printed.rs`): that of a panic which the frames do
//! not show, or what they lack. A panic that was being unwound when another one aborted the process is an
//! exception in flight, which holds its message (`in_flight.rs`).

pub mod allocation;
mod hooked;
mod in_flight;
mod payload;
mod place;
mod printed;
mod thread_name;

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::DyingFrame;
use crate::{Core, Panic};

/// Stack that is looked at. What the machinery of panics left lies below the frames that are
/// left, or in them.
const BELOW: u64 = 32 << 10;
const ABOVE: u64 = 16 << 10;

/// What is called when a panic meets code that it cannot pass: there is an exception in flight
/// (`library/core/src/panicking.rs`).
const ABORTING: [&str; 2] =
    ["core::panicking::panic_cannot_unwind", "core::panicking::panic_in_cleanup"];
/// What gives up when nothing catches the panic (`library/std/src/panicking.rs`).
const THROWING: &str = "rust_panic";

/// The panics that are left, the latest first; none if the stack is not one of a panic.
pub fn find(core: &Core, tid: Tid, frames: &[DyingFrame]) -> Vec<Panic> {
    let panicking = frames.iter().any(|frame| is_machinery(&frame.function));
    let sp = frames.first().filter(|_| panicking).and_then(|frame| frame.frame.sp);
    let Some(sp) = sp else { return Vec::new() };
    let (start, stack) = stack_around(core, sp);
    let printed = printed::find(&stack);
    let mut panics = hooked::find(core, frames);
    add_in_flight(&mut panics, core, frames, (start, &stack));
    let name = printed.as_ref().and_then(|panic| panic.thread.clone());
    add_printed(&mut panics, printed);
    let name = thread_name::find(core, tid).or(name);
    for panic in &mut panics {
        panic.thread.clone_from(&name);
    }
    panics
}

/// Whether a function is one of those that run between a panic and its end.
fn is_machinery(function: &str) -> bool {
    const MODULES: [&str; 3] = ["core::panicking::", "std::panicking::", "std::sys::backtrace::"];
    const OTHERS: [&str; 5] = [
        "rust_begin_unwind",
        "__rustc::rust_begin_unwind",
        "core::result::unwrap_failed",
        "core::option::unwrap_failed",
        "core::option::expect_failed",
    ];
    MODULES.iter().any(|module| function.starts_with(module))
        || function.starts_with("std::sys_common::backtrace::__rust_end_short_backtrace")
        || OTHERS.contains(&function)
}

/// Adds the panics that were being unwound, or that nothing caught.
fn add_in_flight(
    panics: &mut Vec<Panic>,
    core: &Core,
    frames: &[DyingFrame],
    (start, stack): (Addr, &[u8]),
) {
    let is_throwing = |function: &str| {
        function == THROWING
            || function == "std::panicking::rust_panic"
            || function == "__rustc::rust_panic"
    };
    let in_flight = || in_flight::find(core, start, stack);
    if let Some(index) = frames.iter().position(|it| ABORTING.contains(&&*it.function)) {
        let mut found = in_flight();
        if found.is_empty() {
            // The frame whose code may not be unwound called that function.
            let unwound = index.checked_add(1).and_then(|outer| frames.get(outer));
            found.extend(unwound.and_then(|it| in_flight::into_frame(core, &it.frame)));
        }
        panics.extend(found);
    } else if frames.iter().any(|frame| is_throwing(&frame.function))
        && let Some(panic) = panics.first_mut().filter(|panic| panic.message.is_none())
    {
        // What the exception carries was taken out of what the hook was told of.
        let thrown = in_flight().into_iter().next().unwrap_or_default();
        (panic.message, panic.payload_type) = (thrown.message, thrown.payload_type);
    }
}

/// Adds what was printed: the panic itself where the frames do not show it, else what they lack of it.
fn add_printed(panics: &mut Vec<Panic>, printed: Option<Panic>) {
    let Some(printed) = printed else { return };
    let is_it = |panic: &&mut Panic| match (&panic.place, &panic.message) {
        (Some(_), _) => panic.place == printed.place,
        (None, message) => *message == printed.message,
    };
    if panics.is_empty() {
        panics.push(printed);
    } else if let Some(panic) = panics.iter_mut().find(is_it) {
        // Another one is an earlier panic, which may have been caught.
        panic.place = panic.place.take().or(printed.place);
        panic.message = panic.message.take().or(printed.message);
    }
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
