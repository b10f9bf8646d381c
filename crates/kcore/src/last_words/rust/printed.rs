//! The message of a panic in the buffer on the stack from which the standard library printed it
//! (`library/std/src/panicking.rs`, `default_hook`).

use crate::{Panic, PanicPlace};

const THREAD: &[u8] = b"\nthread '";
const PANICKED: &str = " panicked at ";

/// The last message in `stack`: `thread 'NAME' … panicked at FILE:LINE:COLUMN:`, a newline, the
/// text, a newline.
pub fn find(stack: &[u8]) -> Option<Panic> {
    let starts = (0..stack.len()).rev().filter_map(|start| stack.get(start..));
    starts.filter(|rest| rest.starts_with(THREAD)).find_map(message)
}

fn message(text: &[u8]) -> Option<Panic> {
    let text = text.get(THREAD.len()..)?;
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let text = std::str::from_utf8(text.get(..end)?).ok()?;
    let (whose, place_and_text) = text.split_once(PANICKED)?;
    let (place, text) = place_and_text.split_once(":\n")?;
    let text = text.split("\nnote: ").next().unwrap_or(text).trim_end();
    let (thread, _) = whose.rsplit_once('\'')?;
    Some(Panic {
        message: Some(text.to_owned()),
        place: place_of(place),
        thread: Some(thread.to_owned()).filter(|name| name != "<unnamed>"),
        ..Panic::default()
    })
}

fn place_of(text: &str) -> Option<PanicPlace> {
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    Some(PanicPlace { file: file.to_owned(), line, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(stack: &[u8]) -> Option<String> {
        find(stack)?.message
    }

    #[test]
    fn the_message_is_what_stands_between_place_and_note() {
        let stack = b"\0\0\nthread 'main' panicked at src/main.rs:2:5:\nboom 7\nnote: run\0junk";
        let place = PanicPlace { file: "src/main.rs".to_owned(), line: 2, column: 5 };
        let panic = Panic {
            message: Some("boom 7".to_owned()),
            place: Some(place),
            thread: Some("main".to_owned()),
            ..Panic::default()
        };
        assert_eq!(find(stack), Some(panic));
        let named = b"\nthread 'main' (4711) panicked at a.rs:1:2:\ntwo\nlines\n\0";
        assert_eq!(text(named).as_deref(), Some("two\nlines"));
        assert_eq!(find(b"\nthread 'x' is fine\0"), None);
    }

    #[test]
    fn of_two_messages_the_one_further_out_counts() {
        let stack =
            b"\nthread 'a' panicked at a:1:1:\nold\n\0\nthread 'a' panicked at a:2:2:\nnew\n\0";
        assert_eq!(text(stack).as_deref(), Some("new"));
    }
}
