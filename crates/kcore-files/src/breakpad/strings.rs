//! The strings of a debug file: one table for its symbols and for its debug information.

use std::collections::HashMap;

/// Strings, each ended by a zero, by their offset. The first is empty.
pub struct Strings<'a> {
    bytes: Vec<u8>,
    known: HashMap<&'a [u8], u32>,
}

impl<'a> Strings<'a> {
    pub fn new() -> Self {
        Self { bytes: vec![0], known: HashMap::new() }
    }

    /// The offset of a string, which is added if it is new. What is behind a zero in it does not count.
    pub fn add(&mut self, text: &'a [u8]) -> u32 {
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        if let Some(at) = self.known.get(text) {
            return *at;
        }
        let at = u32::try_from(self.bytes.len()).unwrap_or(0);
        self.bytes.extend_from_slice(text);
        self.bytes.push(0);
        self.known.insert(text, at);
        at
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
