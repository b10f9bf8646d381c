//! The message of a panic in the buffer on the stack from which the standard library printed it
//! (`library/std/src/panicking.rs`, `default_hook`).

const THREAD: &[u8] = b"\nthread '";
const PANICKED: &str = " panicked at ";

/// The last message in `stack`: `thread 'NAME' … panicked at FILE:LINE:COLUMN:`, a newline, the
/// text, a newline.
pub fn find(stack: &[u8]) -> Option<String> {
    let starts = (0..stack.len()).rev().filter_map(|start| stack.get(start..));
    starts.filter(|rest| rest.starts_with(THREAD)).find_map(message)
}

fn message(text: &[u8]) -> Option<String> {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    let text = std::str::from_utf8(text.get(..end)?).ok()?.trim();
    let (_, place_and_text) = text.split_once(PANICKED)?;
    let (_, text) = place_and_text.split_once(":\n")?;
    let text = text.split("\nnote: ").next().unwrap_or(text).trim_end();
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_what_stands_between_place_and_note() {
        let stack = b"\0\0\nthread 'main' panicked at src/main.rs:2:5:\nboom 7\nnote: run\0junk";
        assert_eq!(find(stack).as_deref(), Some("boom 7"));
        let named = b"\nthread 'main' (4711) panicked at a.rs:1:2:\ntwo\nlines\n\0";
        assert_eq!(find(named).as_deref(), Some("two\nlines"));
        assert_eq!(find(b"\nthread 'x' is fine\0"), None);
    }

    #[test]
    fn of_two_messages_the_one_further_out_counts() {
        let stack =
            b"\nthread 'a' panicked at a:1:1:\nold\n\0\nthread 'a' panicked at a:2:2:\nnew\n\0";
        assert_eq!(find(stack).as_deref(), Some("new"));
    }
}
