//! Panics whose machinery still runs: what was handed to the hook that prints them.
//!
//! `std::panicking::panic_with_hook` (`rust_panic_with_hook` before 1.9x, `library/std/src/panicking.rs`)
//! builds a `PanicHookInfo` for the hook, whichever that is: the payload, a `&dyn Any`; in older versions
//! the arguments of the message; the place. A panic that comes while a hook runs is handed to none; of it
//! the `&mut dyn PanicPayload` and the `PanicInfo` of `core` are left, which is the address of the
//! message's arguments, then that of the place. A backtrace that the default hook printed overwrote the text
//! that it wrote, but none of these.

use kcore_mem::Addr;

use super::super::DyingFrame;
use super::{
    is_machinery,
    payload::{TraitObject, text},
    place,
};
use crate::{Core, Panic, PanicPlace};

/// Words of a frame of the machinery that are looked at.
const MAX_WORDS: u64 = 512;
/// From the payload to the place, in words: older versions have the arguments of the message between them.
const PLACES: [usize; 2] = [2, 3];
/// Words of a `PanicPayload` that may hold its text.
const PAYLOAD_WORDS: u64 = 4;

/// The panics that the stack has, the latest first.
pub fn find(core: &Core, frames: &[DyingFrame]) -> Vec<Panic> {
    let hooking = frames.iter().enumerate().filter(|(_, frame)| is_hooking(&frame.function));
    let panics = hooking.map(|(index, _)| panic_of(core, frames, index));
    let known = panics.filter(|panic| panic.message.is_some() || panic.place.is_some());
    let mut panics: Vec<Panic> = known.collect();
    // Two frames may have one that goes on after it was caught.
    panics.dedup();
    panics
}

fn is_hooking(function: &str) -> bool {
    matches!(
        function,
        "std::panicking::panic_with_hook"
            | "std::panicking::rust_panic_with_hook"
            // By which a panic that was caught goes on; no hook is told.
            | "std::panicking::rust_panic_without_hook"
            | "std::panicking::resume_unwind"
    )
}

/// The panic that the frame of that index prints.
fn panic_of(core: &Core, frames: &[DyingFrame], index: usize) -> Panic {
    let own = words_of(core, frames, index, index.saturating_add(1));
    let callers = frames.get(index..).unwrap_or_default();
    let machinery = callers.iter().take_while(|frame| is_machinery(&frame.function)).count();
    let all = words_of(core, frames, index, index.saturating_add(machinery));
    let mut panic = told_to_hook(core, &own).unwrap_or_default();
    panic.place = panic.place.or_else(|| place_in(core, &all));
    panic.message = panic.message.or_else(|| message_of_payload(core, &own));
    panic
}

/// The words of the frames from `first` up to `end`, with the lowest address.
fn words_of(core: &Core, frames: &[DyingFrame], first: usize, end: usize) -> StackWords {
    let found = || {
        let start = frames.get(first)?.frame.sp?;
        let end = frames.get(end.checked_sub(1)?)?.frame.cfa?;
        let words = end.offset_from(start)? / 8;
        let len = usize::try_from(words.min(MAX_WORDS).checked_mul(8)?).ok()?;
        let mut bytes = vec![0; len];
        let (read, _) = core.space().read_partial(start, &mut bytes);
        bytes.truncate(read);
        Some(StackWords { start, words: core_words(core, &bytes) })
    };
    found().unwrap_or(StackWords { start: Addr::new(0), words: Vec::new() })
}

fn core_words(core: &Core, bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|word| core.target().uint(word)).collect()
}

/// A part of a stack.
struct StackWords {
    start: Addr,
    words: Vec<u64>,
}

/// The panic as the hook was told of it.
fn told_to_hook(core: &Core, own: &StackWords) -> Option<Panic> {
    own.words.iter().enumerate().find_map(|(index, value)| {
        let word = |further: usize| own.words.get(index.checked_add(further)?).copied();
        let place = PLACES.iter().find_map(|further| place::at(core, word(*further)?))?;
        let payload = TraitObject::new(core, *value, word(1)?)?;
        Some(Panic { place: Some(place), ..payload.panic(core) })
    })
}

/// The place in a `PanicInfo`: behind the address of the message's arguments, which lie on the stack.
fn place_in(core: &Core, all: &StackWords) -> Option<PanicPlace> {
    let stack = core.mapping_at(all.start)?.range;
    let pairs = all.words.windows(2).rev().filter_map(|pair| <[u64; 2]>::try_from(pair).ok());
    let mut behind = pairs.filter(|[arguments, _]| stack.contains(Addr::new(*arguments)));
    behind.find_map(|[_, place]| place::at(core, place))
}

/// The text in the `PanicPayload` whose address the frame has.
fn message_of_payload(core: &Core, own: &StackWords) -> Option<String> {
    let pairs = own.words.windows(2).filter_map(|pair| <[u64; 2]>::try_from(pair).ok());
    let mut objects = pairs.filter_map(|[value, table]| TraitObject::new(core, value, table));
    objects.find_map(|object| {
        let method = object.method(core)?;
        let is_payload = method.contains("Payload") || method.contains("RewrapBox");
        is_payload.then(|| text_within(core, &object)).flatten()
    })
}

fn text_within(core: &Core, payload: &TraitObject) -> Option<String> {
    let words = payload.words(core, PAYLOAD_WORDS);
    let pairs = words.windows(2).filter_map(|pair| <[u64; 2]>::try_from(pair).ok());
    let mut texts = pairs.filter_map(|[first, second]| {
        let boxed = || TraitObject::new(core, first, second)?.text(core);
        text(core, first, second).or_else(boxed)
    });
    texts.next()
}
