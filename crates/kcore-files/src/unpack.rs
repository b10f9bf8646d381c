//! Unpacking a stream into a file, within what the core in it claims and the disk has.

use std::{
    cell::Cell,
    io::{self, Read},
    path::Path,
    rc::Rc,
};

use kcore_elf::FileBytes;

use crate::{
    FilesError, Format,
    claim::Claim,
    sparse::{SparseFile, WriteError},
};

/// Bytes unpacked at a time, a multiple of the page size.
const BLOCK: usize = 256 << 10;

/// How far unpacking has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the stream that were read.
    pub read: u64,
    /// Bytes of the whole stream, when it is a file.
    pub total: Option<u64>,
    /// Bytes of the core that were unpacked.
    pub written: u64,
}

/// A stream to be unpacked.
pub struct Stream<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// Its bytes, from the first on.
    pub bytes: Box<dyn Read + 'a>,
    /// How it is compressed; `None`: not at all.
    pub format: Option<Format>,
    /// Its length, when that is known.
    pub total: Option<u64>,
}

/// A core out of a stream.
pub struct Unpacked {
    /// The core.
    pub bytes: FileBytes,
    /// What is missing: the stream ends or breaks before its end.
    pub note: Option<String>,
}

/// Unpacks a stream into an unlinked file in `dir`.
///
/// # Errors
/// When the stream holds no core, or more than the core in it claims; when there is no room.
pub fn unpack(
    stream: Stream<'_>,
    dir: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Unpacked, FilesError> {
    let io_error = |source| FilesError::Unpack { dir: dir.to_owned(), source };
    let file = SparseFile::create_in(dir).map_err(io_error)?;
    let mut unpacking = Unpacking { name: stream.name, dir, file, claim: Claim::default() };
    let read = Rc::new(Cell::new(0));
    let counted = Counted { bytes: stream.bytes, read: Rc::clone(&read) };
    let mut content = match stream.format {
        Some(format) => format.reader(counted),
        None => Box::new(counted),
    };
    let mut block = vec![0; BLOCK];
    let broken = loop {
        let (filled, error) = fill(&mut content, &mut block);
        unpacking.take(block.get(..filled).unwrap_or_default())?;
        progress(Progress { read: read.get(), total: stream.total, written: unpacking.file.len() });
        if error.is_some() || filled < BLOCK {
            break error;
        }
    };
    let note = unpacking.judge(broken, stream.format)?;
    Ok(Unpacked { bytes: unpacking.file.finish().map_err(io_error)?, note })
}

struct Unpacking<'a> {
    name: &'a str,
    dir: &'a Path,
    file: SparseFile,
    claim: Claim,
}

impl Unpacking<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), FilesError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let name = || self.name.to_owned();
        let limit = self.claim.take(bytes);
        let limit = limit.map_err(|source| FilesError::NotCore { name: name(), source })?;
        let after = self.file.len().saturating_add(bytes.len() as u64);
        if let Some(limit) = limit.filter(|limit| after > *limit) {
            return Err(FilesError::TooLong { name: name(), limit });
        }
        let written = self.file.len();
        self.file.append(bytes).map_err(|error| match error {
            WriteError::NoSpace(available) => {
                FilesError::NoSpace { dir: self.dir.to_owned(), available, written }
            }
            WriteError::Io(source) => FilesError::Unpack { dir: self.dir.to_owned(), source },
        })
    }

    /// What a broken stream means: nothing to show is an error, a part is a note.
    fn judge(
        &self,
        broken: Option<io::Error>,
        format: Option<Format>,
    ) -> Result<Option<String>, FilesError> {
        let written = self.file.len();
        match (broken, format) {
            (Some(source), Some(format)) if written == 0 => {
                Err(FilesError::Damaged { name: self.name.to_owned(), format, source })
            }
            (Some(error), Some(format)) => {
                Ok(Some(format!("{format} stream ends after {written:#x} bytes: {error}")))
            }
            (Some(error), None) => {
                Ok(Some(format!("stream ends after {written:#x} bytes: {error}")))
            }
            (None, _) => Ok(None),
        }
    }
}

/// Fills `block` as far as the stream reaches; gives the error that stopped it.
fn fill(content: &mut dyn Read, block: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut filled: usize = 0;
    while let Some(rest) = block.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match content.read(rest) {
            Ok(0) => break,
            Ok(read) => filled = filled.saturating_add(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Some(error)),
        }
    }
    (filled, None)
}

/// Counts the bytes that a decoder takes from its stream.
struct Counted<'a> {
    bytes: Box<dyn Read + 'a>,
    read: Rc<Cell<u64>>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buf)?;
        self.read.set(self.read.get().saturating_add(read as u64));
        Ok(read)
    }
}
