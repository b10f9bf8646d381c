//! Fuzz input as a sequence of numbers and parts. It never ends: past its end come zeros and empty
//! parts, so that every input means something.

/// Reads an input from its first byte on.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Starts at the first byte.
    pub const fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    /// A 64-bit number, little-endian.
    pub fn word(&mut self) -> u64 {
        let mut bytes = [0; 8];
        let taken = self.take(8);
        bytes[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(bytes)
    }

    /// Bytes behind their length, which has 16 bits.
    pub fn part(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte()) | usize::from(self.byte()) << 8;
        self.take(len)
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.take(usize::MAX)
    }

    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// Writes an input, the other way round.
#[derive(Default)]
pub struct Output(pub Vec<u8>);

impl Output {
    /// See [`Input::byte`].
    #[must_use]
    pub fn byte(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    /// See [`Input::word`].
    #[must_use]
    pub fn word(mut self, word: u64) -> Self {
        self.0.extend(word.to_le_bytes());
        self
    }

    /// See [`Input::part`]; what does not fit is cut.
    #[must_use]
    pub fn part(mut self, part: &[u8]) -> Self {
        let part = &part[..part.len().min(0xffff)];
        self.0.extend((part.len() as u16).to_le_bytes());
        self.0.extend(part);
        self
    }

    /// See [`Input::rest`].
    #[must_use]
    pub fn rest(mut self, rest: &[u8]) -> Vec<u8> {
        self.0.extend(rest);
        self.0
    }
}
