//! Records of a dump. All numbers are of high byte first.

use std::io::{self, Write};

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

/// Bytes of a segment of the heap, about: readers skip over segments.
const SEGMENT: usize = 1 << 20;
/// Tags of records.
pub(super) const STRING: u8 = 0x01;
pub(super) const LOAD_CLASS: u8 = 0x02;
pub(super) const FRAME: u8 = 0x04;
pub(super) const TRACE: u8 = 0x05;
const HEAP_DUMP_SEGMENT: u8 = 0x1c;
const HEAP_DUMP_END: u8 = 0x2c;

/// Where a dump goes to.
pub(super) struct Output<'a> {
    to: &'a mut dyn Write,
    /// The segment of the heap that is not written yet.
    segment: Vec<u8>,
    /// Numbers of texts.
    texts: FxHashMap<String, u64>,
}

/// Parts of a record.
pub(super) trait Parts {
    /// A byte.
    fn u1(&mut self, value: u8);
    /// Two.
    fn u2(&mut self, value: u16);
    /// Four.
    fn u4(&mut self, value: u32);
    /// Eight, as all ids have.
    fn u8(&mut self, value: u64);
    /// An object, or zero.
    fn id(&mut self, at: Option<Addr>) {
        self.u8(at.map_or(0, Addr::get));
    }
}

impl Parts for Vec<u8> {
    fn u1(&mut self, value: u8) {
        self.push(value);
    }

    fn u2(&mut self, value: u16) {
        self.extend(value.to_be_bytes());
    }

    fn u4(&mut self, value: u32) {
        self.extend(value.to_be_bytes());
    }

    fn u8(&mut self, value: u64) {
        self.extend(value.to_be_bytes());
    }
}

impl<'a> Output<'a> {
    pub(super) fn new(to: &'a mut dyn Write) -> Self {
        Self { to, segment: Vec::new(), texts: FxHashMap::default() }
    }

    /// The name of the format, the bytes of an id, and no time: a core does not tell when its process ended.
    pub(super) fn header(&mut self) -> io::Result<()> {
        let mut bytes = b"JAVA PROFILE 1.0.2\0".to_vec();
        bytes.u4(8);
        bytes.u8(0);
        self.to.write_all(&bytes)
    }

    /// A record that is no part of the heap. None may follow parts of it that are not written yet.
    pub(super) fn record(&mut self, tag: u8, body: &[u8]) -> io::Result<()> {
        self.flush()?;
        self.head(tag, body.len())?;
        self.to.write_all(body)
    }

    /// The number of a text, which is written when it is met first.
    pub(super) fn text(&mut self, text: &str) -> io::Result<u64> {
        if let Some(number) = self.texts.get(text) {
            return Ok(*number);
        }
        let number = (self.texts.len() as u64).saturating_add(1);
        let mut body = Vec::new();
        body.u8(number);
        body.extend(text.as_bytes());
        self.record(STRING, &body)?;
        self.texts.insert(text.to_owned(), number);
        Ok(number)
    }

    /// A part of the heap.
    pub(super) fn part(&mut self, body: &[u8]) -> io::Result<()> {
        if self.segment.len().saturating_add(body.len()) > SEGMENT {
            self.flush()?;
        }
        self.segment.extend_from_slice(body);
        Ok(())
    }

    /// The beginning of a part of the heap that is too big to be held; what follows goes to [`Output::more`].
    pub(super) fn big_part(&mut self, start: &[u8], more: usize) -> io::Result<()> {
        self.flush()?;
        self.head(HEAP_DUMP_SEGMENT, start.len().saturating_add(more))?;
        self.to.write_all(start)
    }

    pub(super) fn more(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)
    }

    /// Ends the dump.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.record(HEAP_DUMP_END, &[])?;
        self.to.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.segment.is_empty() {
            return Ok(());
        }
        self.head(HEAP_DUMP_SEGMENT, self.segment.len())?;
        self.to.write_all(&self.segment)?;
        self.segment.clear();
        Ok(())
    }

    fn head(&mut self, tag: u8, len: usize) -> io::Result<()> {
        let too_big = || io::Error::new(io::ErrorKind::InvalidData, "a record is too big");
        let mut head = vec![tag];
        head.u4(0);
        head.u4(u32::try_from(len).map_err(|_| too_big())?);
        self.to.write_all(&head)
    }
}
