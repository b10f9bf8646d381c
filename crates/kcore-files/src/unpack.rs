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
    let io_error = |error| FilesError::Unpack { dir: dir.to_owned(), error };
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
        let limit = limit.map_err(|error| FilesError::NotCore { name: name(), error })?;
        let after = self.file.len().saturating_add(bytes.len() as u64);
        if let Some(limit) = limit.filter(|limit| after > *limit) {
            return Err(FilesError::TooLong { name: name(), limit });
        }
        let written = self.file.len();
        self.file.append(bytes).map_err(|error| match error {
            WriteError::NoSpace(available) => {
                FilesError::NoSpace { dir: self.dir.to_owned(), available, written }
            }
            WriteError::Io(error) => FilesError::Unpack { dir: self.dir.to_owned(), error },
        })
    }

    /// What a broken stream means: nothing to show is an error, a part is a note.
    fn judge(
        &self,
        broken: Option<io::Error>,
        format: Option<Format>,
    ) -> Result<Option<String>, FilesError> {
        let written = self.file.len();
        let empty = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let broken = broken.or_else(|| (written == 0).then(empty));
        match (broken, format) {
            (Some(error), Some(format)) if written == 0 => {
                Err(FilesError::Damaged { name: self.name.to_owned(), format, error })
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::test_files::{core_header, core_with};

    fn unpack_bytes(bytes: &[u8]) -> Result<Unpacked, FilesError> {
        let format = Format::detect(bytes);
        let stream = Stream { name: "x.core", bytes: Box::new(bytes), format, total: None };
        unpack(stream, &std::env::temp_dir(), &mut |_| {})
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn lz4(bytes: &[u8]) -> Vec<u8> {
        let blocks = lz4_flex::frame::BlockSize::Max64KB;
        let info = lz4_flex::frame::FrameInfo::new().block_size(blocks);
        let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    type Packer = fn(&[u8]) -> Vec<u8>;
    const PACKERS: [(Format, Packer); 5] = [
        (Format::Zstd, zstd),
        (Format::Gzip, gzip),
        (Format::Xz, xz),
        (Format::Lz4, lz4),
        (Format::Bzip2, bzip2),
    ];

    /// A megabyte that does not compress to nothing.
    fn sample() -> Vec<u8> {
        let mut random = 1_u32;
        let noise = (0..1 << 20).map(|at: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if at % 0x4000 < 0x2000 { 0 } else { (random >> 24) as u8 }
        });
        core_with(&noise.collect::<Vec<_>>())
    }

    #[test]
    fn every_format_is_known_by_its_magic_and_unpacked() {
        let core = sample();
        for (format, pack) in PACKERS {
            let packed = pack(&core);
            assert_eq!(Format::detect(&packed), Some(format));
            let unpacked = unpack_bytes(&packed).unwrap();
            assert!(unpacked.bytes[..] == core[..], "{format}");
            assert_eq!(unpacked.note, None, "{format}");
        }
    }

    #[test]
    fn streams_of_several_frames_are_one_core() {
        let core = sample();
        let (low, high) = core.split_at(300_001);
        for (format, pack) in PACKERS {
            let packed = [pack(low), pack(high)].concat();
            assert!(unpack_bytes(&packed).unwrap().bytes[..] == core[..], "{format}");
        }
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(&core)].concat();
        assert!(unpack_bytes(&skippable).unwrap().bytes[..] == core[..]);
    }

    #[test]
    fn a_cut_stream_gives_what_is_there_and_says_so() {
        let core = sample();
        for (format, pack) in PACKERS {
            let packed = pack(&core);
            let unpacked = unpack_bytes(&packed[..packed.len() / 2]).unwrap();
            assert!(core.starts_with(&unpacked.bytes), "{format}");
            assert!(unpacked.bytes.len() < core.len(), "{format}");
            let note = unpacked.note.unwrap_or_else(|| panic!("{format}: no note"));
            assert!(note.starts_with(&format!("{format} stream ends after 0x")), "{note}");
        }
    }

    #[test]
    fn a_cut_anywhere_is_noticed() {
        let core = core_with(&sample()[0x2000..0x2c00]);
        for (format, pack) in PACKERS {
            let packed = pack(&core);
            for len in 1..packed.len() {
                let whole = match unpack_bytes(&packed[..len]) {
                    Ok(unpacked) => {
                        unpacked.note.is_none() && Format::detect(&packed[..len]).is_some()
                    }
                    Err(_) => false,
                };
                assert!(!whole, "{format} cut at {len} of {}", packed.len());
            }
        }
    }

    #[test]
    fn a_stream_that_gives_nothing_is_an_error() {
        for (format, pack) in PACKERS {
            let packed = pack(&sample());
            assert!(unpack_bytes(&packed[..8]).is_err(), "{format}");
        }
    }

    #[test]
    fn a_bomb_ends_at_what_its_headers_claim() {
        let mut bomb = core_with(&[0; 0x1000]);
        bomb.resize(64 << 20, 0);
        let error = unpack_bytes(&gzip(&bomb)).err().unwrap();
        assert!(matches!(error, FilesError::TooLong { .. }), "{error}");
        assert!(error.to_string().starts_with("x.core: unpacks to more than the 0x10"), "{error}");
    }

    #[test]
    fn what_is_no_core_is_not_unpacked() {
        let error = unpack_bytes(&gzip(&vec![b'x'; 32 << 20])).err().unwrap();
        assert!(matches!(error, FilesError::NotCore { .. }), "{error}");
    }

    #[test]
    fn a_plain_stream_is_copied() {
        let core = sample();
        assert!(unpack_bytes(&core).unwrap().bytes[..] == core[..]);
        // A truncated core is a core; how much is missing is told by its headers.
        let header = core_header(&[(120, 1 << 30)]);
        assert_eq!(unpack_bytes(&header).unwrap().bytes.len(), header.len());
    }

    #[test]
    fn progress_counts_both_sides() {
        let (core, mut last) = (sample(), Progress::default());
        let packed = gzip(&core);
        let stream = Stream {
            name: "x",
            bytes: Box::new(&packed[..]),
            format: Some(Format::Gzip),
            total: Some(packed.len() as u64),
        };
        unpack(stream, &std::env::temp_dir(), &mut |progress| last = progress).unwrap();
        assert_eq!(last.read, packed.len() as u64);
        assert_eq!(last.written, core.len() as u64);
    }
}
