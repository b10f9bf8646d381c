//! A place in a mangled name, and what is spent on it.

use std::{cell::Cell, rc::Rc};

use super::super::MAX_OUTPUT;

/// How deep types and names may nest.
const MAX_DEPTH: u32 = 100;
/// Names and types that are read, at most: back references let few letters unfold to many.
const MAX_STEPS: u32 = 1 << 14;

/// A place in a name.
#[derive(Clone)]
pub struct Cursor<'t> {
    /// The name, as far as this cursor may read.
    text: &'t str,
    at: usize,
    depth: u32,
    parameters: bool,
    spent: Rc<Spent>,
}

#[derive(Default)]
struct Spent {
    steps: Cell<u32>,
    bytes: Cell<usize>,
}

impl<'t> Cursor<'t> {
    /// At the beginning. `parameters` is whether those of functions are shown.
    pub fn new(text: &'t str, parameters: bool) -> Self {
        Self { text, at: 0, depth: 0, parameters, spent: Rc::default() }
    }

    pub const fn shows_parameters(&self) -> bool {
        self.parameters
    }

    pub fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn begins(&self, word: &str) -> bool {
        self.rest().starts_with(word)
    }

    pub fn go_on_from(&mut self, other: &Self) {
        self.at = other.at;
    }

    pub fn next(&mut self) -> Option<u8> {
        let byte = self.peek().filter(u8::is_ascii)?;
        self.at = self.at.checked_add(1)?;
        Some(byte)
    }

    pub fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek() == Some(wanted)).then(|| self.next())?.map(|_| ())
    }

    pub fn word(&mut self, word: &str) -> Option<()> {
        self.begins(word).then_some(())?;
        self.at = self.at.checked_add(word.len())?;
        Some(())
    }

    /// A decimal number.
    pub fn number(&mut self) -> Option<usize> {
        let len = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest().get(..len)?.parse().ok()?;
        self.at = self.at.checked_add(len)?;
        Some(number)
    }

    /// The next `len` bytes as a part to be read on its own, which this cursor leaves behind.
    pub fn part(&mut self, len: usize) -> Option<Self> {
        let end = self.at.checked_add(len)?;
        let part = Self { text: self.text.get(..end)?, ..self.clone() };
        self.at = end;
        Some(part)
    }

    /// The place to which the back reference at the cursor refers. It is written as the distance back, in base 26: the
    /// digits are capital letters, the last one a small letter.
    pub fn referred(&self) -> Option<Self> {
        self.clone().back_reference()
    }

    /// The same, and leaves it behind.
    pub fn back_reference(&mut self) -> Option<Self> {
        let from = self.at;
        self.take(b'Q')?;
        let mut distance = 0_usize;
        loop {
            let (digit, is_last) = match self.next()? {
                byte @ b'A'..=b'Z' => (byte.checked_sub(b'A')?, false),
                byte @ b'a'..=b'z' => (byte.checked_sub(b'a')?, true),
                _ => return None,
            };
            distance = distance.checked_mul(26)?.checked_add(usize::from(digit))?;
            if is_last {
                break;
            }
        }
        let at = from.checked_sub(distance).filter(|at| *at < from)?;
        // What a reference refers to lies before it, so that none leads to itself.
        Some(Self { text: self.text.get(..from)?, at, ..self.clone() })
    }

    /// Reads something within what is being read.
    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let steps = self.spent.steps.get().saturating_add(1);
        self.spent.steps.set(steps);
        (steps <= MAX_STEPS && self.depth < MAX_DEPTH).then_some(())?;
        self.depth = self.depth.saturating_add(1);
        let found = read(self);
        self.depth = self.depth.saturating_sub(1);
        found
    }

    /// Reads what is not shown.
    pub fn quiet<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<()> {
        self.deeper(read).map(|_| ())
    }

    /// Refuses to go on when too much was written.
    pub fn bound(&self, written: &str) -> Option<()> {
        let bytes = self.spent.bytes.get().saturating_add(written.len());
        self.spent.bytes.set(bytes);
        (bytes <= MAX_OUTPUT).then_some(())
    }
}
