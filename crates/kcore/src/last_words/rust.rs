//! The message of the Rust panic of which the process died.

use kcore_mem::Addr;

use super::LastWords;
use crate::{Core, NamedFrame};

/// The standard library formats the message into a buffer on the stack before it prints it
/// (`library/std/src/panicking.rs`, `default_hook`); the buffer lies below the frames that are
/// left, or in them.
const BELOW: u64 = 32 << 10;
const ABOVE: u64 = 16 << 10;
const THREAD: &[u8] = b"\nthread '";
const PANICKED: &[u8] = b"' panicked at ";

/// The message, if the stack is one of a panic and still holds it.
pub fn find(core: &Core, frames: &[NamedFrame]) -> Option<LastWords> {
    let panicking = frames.iter().any(|frame| {
        let function = frame.location.function.as_deref().unwrap_or_default();
        function.starts_with("core::panicking::") || function.starts_with("std::panicking::")
    });
    let sp = panicking.then(|| frames.first()?.frame.sp)??;
    let text = search(&stack_around(core, sp))?;
    Some(LastWords::Panic(text))
}

/// The bytes of the stack around its pointer.
fn stack_around(core: &Core, sp: Addr) -> Vec<u8> {
    let start = Addr::new(sp.get().saturating_sub(BELOW));
    let lowest = core.mapping_at(sp).map_or(start, |mapping| mapping.range.start.max(start));
    let len = sp.get().saturating_sub(lowest.get()).saturating_add(ABOVE);
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    let (read, _) = core.space().read_partial(lowest, &mut bytes);
    bytes.truncate(read);
    bytes
}

/// The last message in `stack`: `thread 'NAME' … panicked at FILE:LINE:COLUMN:`, a newline, the
/// text, a newline.
fn search(stack: &[u8]) -> Option<String> {
    let mut found = None;
    for start in 0..stack.len() {
        let Some(rest) = stack.get(start..).filter(|rest| rest.starts_with(THREAD)) else {
            continue;
        };
        found = message(rest).or(found);
    }
    found
}

fn message(text: &[u8]) -> Option<String> {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let text = std::str::from_utf8(text.get(..end)?).ok()?.trim();
    let panicked = std::str::from_utf8(PANICKED).ok()?.trim_start_matches('\'');
    let (_, place_and_text) = text.split_once(panicked)?;
    let (place, text) = place_and_text.split_once(":\n")?;
    let text = text.split("\nnote: ").next().unwrap_or(text).trim_end();
    Some(format!("{text}, at {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_what_stands_between_place_and_note() {
        let stack = b"\0\0\nthread 'main' panicked at src/main.rs:2:5:\nboom 7\nnote: run\0junk";
        assert_eq!(search(stack).as_deref(), Some("boom 7, at src/main.rs:2:5"));
        let named = b"\nthread 'main' (4711) panicked at a.rs:1:2:\ntwo\nlines\n\0";
        assert_eq!(search(named).as_deref(), Some("two\nlines, at a.rs:1:2"));
        assert_eq!(search(b"\nthread 'x' is fine\0"), None);
    }
}
