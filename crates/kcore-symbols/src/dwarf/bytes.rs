//! A section of which units and tables are read one by one.

use std::{ops::Range, sync::Arc};

use gimli::{EndianReader, Error, Reader as _, ReaderOffsetId, RunTimeEndian};
use kcore_elf::SectionStream;

use super::{Reader, Result};

/// Bytes that the length of a unit or a line program takes, at most.
const LONGEST_LENGTH: usize = 12;

/// The bytes of a section.
pub enum Bytes {
    /// Read piece by piece, since it may be compressed.
    Stream(Option<Arc<SectionStream>>, RunTimeEndian),
    /// At hand: one file's part in a package of many.
    Whole(Reader),
}

impl Bytes {
    /// How many there are.
    pub fn size(&self) -> usize {
        match self {
            Self::Stream(stream, _) => stream.as_ref().map_or(0, |stream| stream.size()),
            Self::Whole(reader) => reader.len(),
        }
    }

    /// Some of them.
    pub fn get(&self, range: Range<usize>) -> Result<Reader> {
        let start = range.start;
        match self {
            Self::Stream(stream, order) => {
                let bytes = stream.as_ref().and_then(|stream| stream.get(range));
                Ok(EndianReader::new(bytes.ok_or_else(|| cut(start))?, *order))
            }
            Self::Whole(reader) => {
                let mut part = reader.clone();
                part.skip(start)?;
                part.truncate(range.end.checked_sub(start).ok_or_else(|| cut(start))?)?;
                Ok(part)
            }
        }
    }

    /// The place of what begins at `start` with its own length.
    pub fn sized(&self, start: usize) -> Result<Range<usize>> {
        let end = start.saturating_add(LONGEST_LENGTH).min(self.size());
        let mut head = self.get(start..end)?;
        let (len, format) = head.read_initial_length()?;
        let end = start
            .checked_add(usize::from(format.initial_length_size()))
            .and_then(|end| end.checked_add(len));
        Ok(start..end.ok_or_else(|| cut(start))?)
    }
}

/// The section ends, or its compressed form is damaged, before what is at `at` ends.
const fn cut(at: usize) -> Error {
    Error::UnexpectedEof(ReaderOffsetId(at as u64))
}
