//! What was written over a word of a heap, where it is text.

use kcore_mem::Addr;

use super::HeapView;

/// Bytes before and behind a word that are looked at.
const REACH: usize = 64;
/// Fewer characters are no text.
const MIN_TEXT: usize = 6;

/// Text that lies over a word.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct WrittenText {
    /// Where it begins, or where what is shown of it does.
    pub at: Addr,
    /// The text; at most 136 bytes of printable ASCII.
    pub text: String,
}

impl HeapView<'_> {
    /// The text that lies over the word at `at`, if it lies over the word's first byte or its last ones: who writes past the
    /// end of a block often writes text.
    pub fn text_over(&self, at: Addr) -> Option<WrittenText> {
        let space = self.core.space();
        let start = Addr::new(at.get().saturating_sub(REACH as u64));
        let before = space.read_held(start, at.offset_from(start)?);
        // Memory may begin between the two.
        let before =
            if before.len() as u64 == at.offset_from(start)? { before } else { Vec::new() };
        let behind = space.read_held(at, 8 + REACH as u64);
        let is_text = |byte: &&u8| matches!(**byte, b' '..=b'~');
        let head = before.iter().rev().take_while(is_text).count();
        let tail = behind.iter().take_while(is_text).count();
        if tail == 0 || head + tail < MIN_TEXT {
            return None;
        }
        let text = before.iter().skip(before.len() - head).chain(behind.iter().take(tail));
        let text = text.map(|byte| char::from(*byte)).collect();
        Some(WrittenText { at: Addr::new(at.get().saturating_sub(head as u64)), text })
    }
}
