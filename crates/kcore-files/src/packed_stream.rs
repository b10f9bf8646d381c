//! A stream whose next bytes can be looked at before they are read.

use std::io::{self, BufRead, Read};

/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;

/// A buffered stream.
pub struct PackedStream<'a> {
    bytes: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    at: usize,
}

impl<'a> PackedStream<'a> {
    pub fn new(bytes: impl Read + 'a) -> Self {
        Self { bytes: Box::new(bytes), buffer: Vec::new(), at: 0 }
    }

    /// The next bytes, `wanted` of them, or fewer at the end of the stream.
    ///
    /// # Errors
    /// As the stream below.
    pub fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        while self.buffered().len() < wanted && self.read_on(wanted.max(CHUNK))? > 0 {}
        let buffered = self.buffered();
        Ok(buffered.get(..wanted).unwrap_or(buffered))
    }

    fn buffered(&self) -> &[u8] {
        self.buffer.get(self.at..).unwrap_or_default()
    }

    /// Reads behind what is buffered.
    fn read_on(&mut self, most: usize) -> io::Result<usize> {
        self.buffer.drain(..self.at.min(self.buffer.len()));
        self.at = 0;
        let held = self.buffer.len();
        self.buffer.resize(held.saturating_add(most), 0);
        let read = read_some(&mut self.bytes, self.buffer.get_mut(held..).unwrap_or_default());
        self.buffer.truncate(held.saturating_add(*read.as_ref().unwrap_or(&0)));
        read
    }
}

fn read_some(bytes: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match bytes.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

impl BufRead for PackedStream<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.buffered().is_empty() {
            self.read_on(CHUNK)?;
        }
        Ok(self.buffered())
    }

    fn consume(&mut self, amount: usize) {
        self.at = self.at.saturating_add(amount).min(self.buffer.len());
    }
}

impl Read for PackedStream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buf)?;
        self.consume(read);
        Ok(read)
    }
}
