//! Why V8 or Node.js gave up, as far as their frames say it.

use kcore_mem::{Addr, AddrRange};

use crate::{DyingStack, Host};

/// Behind this mark on the stack lies the text of a check that failed: `FailureMessage` in
/// `src/base/logging.cc`.
const FAILURE_MARK: u64 = 0xdeca_de10;
const MAX_FAILURE: u64 = 512;
/// What ends a process whose check failed. The second is all that stripped programs name.
const FAILS: [&str; 2] = ["V8_Fatal", "v8::base::OS::Abort"];

/// The functions of Node.js that are told that memory ran out, and where.
const OUT_OF_MEMORY: [&str; 2] = ["node::OOMErrorHandler", "node::OnFatalError"];
/// The same of V8.
const V8_OUT_OF_MEMORY: &str = "v8::internal::V8::FatalProcessOutOfMemory";
/// What they say, `src/api/api.cc` and `src/node_errors.cc`; those who look know this text.
const HEAP_IS_FULL: &str = "Allocation failed - JavaScript heap out of memory";
const MEMORY_IS_FULL: &str = "Allocation failed - process out of memory";

/// Bytes of the stack that are searched.
const MAX_STACK: u64 = 64 << 10;
const MAX_FRAME: u64 = 4 << 10;
const MAX_TEXT: usize = 256;

/// Why it gave up, if it did.
pub fn message(host: &dyn Host, dying: &DyingStack<'_>) -> Option<String> {
    out_of_memory(host, dying).or_else(|| failure(host, dying))
}

fn failure(host: &dyn Host, dying: &DyingStack<'_>) -> Option<String> {
    let last = dying.frame_of(&FAILS)?;
    let start = dying.stack.frames.first()?.sp?;
    let end = dying.stack.frames.get(last.saturating_add(1))?.cfa?;
    let size = end.offset_from(start)?.min(MAX_STACK);
    let mark = words(host, AddrRange::with_len(start, size))
        .find_map(|(at, word)| (word == FAILURE_MARK).then_some(at))?;
    let bytes = host.space().read_held(mark.checked_add(8)?, MAX_FAILURE);
    let text = bytes.split(|byte| *byte == 0).next()?;
    let text = String::from_utf8_lossy(text).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn out_of_memory(host: &dyn Host, dying: &DyingStack<'_>) -> Option<String> {
    let told = dying.frame_of(&OUT_OF_MEMORY).map(|index| texts_of(host, dying, index));
    let Some(texts) = told.flatten() else {
        dying.frame_of(&[V8_OUT_OF_MEMORY])?;
        return Some(HEAP_IS_FULL.to_owned());
    };
    let is_why = |text: &&String| [HEAP_IS_FULL, MEMORY_IS_FULL].contains(&text.as_str());
    let why = texts.iter().find(is_why)?;
    match texts.iter().find(|text| !is_why(text)) {
        Some(place) => Some(format!("{place} {why}")),
        None => Some(why.clone()),
    }
}

/// The texts of the program that a frame refers to.
fn texts_of(host: &dyn Host, dying: &DyingStack<'_>, index: usize) -> Option<Vec<String>> {
    let frame = dying.stack.frames.get(index)?;
    let (start, end) = (frame.sp?, frame.cfa?);
    let size = end.offset_from(start)?.min(MAX_FRAME);
    let words = words(host, AddrRange::with_len(start, size));
    Some(words.filter_map(|(_, word)| text_at(host, Addr::new(word))).collect())
}

/// The words of a part of the stack, and where they lie.
fn words(host: &dyn Host, range: AddrRange) -> impl Iterator<Item = (Addr, u64)> {
    let slots = (0..range.len()).step_by(8).filter_map(move |at| range.start.checked_add(at));
    slots.filter_map(|slot| Some((slot, host.space().read_word(slot).ok()?)))
}

/// The text that begins at an address of a file: all of it is text, and before it another one ends.
fn text_at(host: &dyn Host, at: Addr) -> Option<String> {
    host.range_at(at).filter(|range| range.is_file)?;
    let before = Addr::new(at.get().checked_sub(1)?);
    (host.space().read_uint(before, 1).ok()? == 0).then_some(())?;
    let bytes = host.space().read_cstr(at, MAX_TEXT).ok()?;
    let is_text = bytes.len() > 3 && bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
}
