//! Unpacking a stream into a file, within what the core in it claims and the disk has.

use std::{
    cell::Cell,
    io::{self, Read},
    path::Path,
    rc::Rc,
};

use kcore_elf::{FileBytes, ParseError};

use crate::{
    FilesError, Format, bundle,
    claim::{Claim, Limit},
    frames::{FrameError, Frames},
    sparse::{SparseFile, WriteError},
};

/// Bytes unpacked at a time, a multiple of the page size.
const BLOCK: usize = 256 << 10;
/// Bytes behind the end of a core that are read to see whether the stream is sound.
const MAX_BEHIND: u64 = 1 << 20;

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
    /// What is missing: the stream ends or breaks before its end, or is followed by bytes of another kind.
    pub note: Option<String>,
}

/// Unpacks a stream into an unlinked file in `dir`. What follows behind all that the core's headers name
/// is left out, as nobody looks at it in a core that is not packed.
///
/// # Errors
/// When the stream holds no core, or more than can be known to belong to it; when there is no room; when it is
/// compressed, and this build lacks the feature `compression`.
pub fn unpack(
    stream: Stream<'_>,
    dir: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Unpacked, FilesError> {
    let io_error = |error| FilesError::Unpack { dir: dir.to_owned(), error };
    let file = SparseFile::create_in(dir).map_err(io_error)?;
    let mut unpacking =
        Unpacking { name: stream.name, dir, file, claim: Claim::default(), behind: 0 };
    let read = Rc::new(Cell::new(0));
    let counted = Counted { bytes: stream.bytes, read: Rc::clone(&read) };
    let mut content: Box<dyn Read + '_> = match stream.format {
        Some(format) => {
            let not_built = || FilesError::NoCompression { name: stream.name.to_owned(), format };
            Box::new(Frames::new(counted).ok_or_else(not_built)?)
        }
        None => Box::new(counted),
    };
    let mut block = vec![0; BLOCK];
    let broken = loop {
        let (filled, error) = fill(&mut content, &mut block);
        unpacking.take(block.get(..filled).unwrap_or_default())?;
        progress(Progress { read: read.get(), total: stream.total, written: unpacking.file.len() });
        if error.is_some() || filled < BLOCK || unpacking.behind > MAX_BEHIND {
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
    /// Bytes behind all that the headers of the core name.
    behind: u64,
}

impl Unpacking<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), FilesError> {
        let len = self.file.len();
        let room = self.claim.limit().map_or(u64::MAX, |limit| limit.end.saturating_sub(len));
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let (kept, behind) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.append(kept)?;
        self.pass_over(behind.len() as u64)?;
        if self.claim.wants_look(self.file.len()) && !bytes.is_empty() {
            let so_far = self.file.so_far().map_err(|error| self.io_error(error))?;
            self.claim.look(&so_far).map_err(|error| self.not_core(error, &so_far))?;
            self.cut_at_limit()?;
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), FilesError> {
        let written = self.file.len();
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.append(bytes).map_err(|error| match error {
            WriteError::NoSpace(available) => {
                FilesError::NoSpace { dir: self.dir.to_owned(), available, written }
            }
            WriteError::Io(error) => self.io_error(error),
        })
    }

    /// What came together with the last headers may lie behind the end that they name.
    fn cut_at_limit(&mut self) -> Result<(), FilesError> {
        let len = self.file.len();
        let behind = self.claim.limit().map_or(0, |limit| len.saturating_sub(limit.end));
        self.file.cut(len.saturating_sub(behind));
        self.pass_over(behind)
    }

    /// Bytes behind the end that the headers name: if some of those were not read, they may belong to
    /// the core.
    fn pass_over(&mut self, count: u64) -> Result<(), FilesError> {
        self.behind = self.behind.saturating_add(count);
        match self.claim.limit() {
            Some(Limit { end, is_whole: false }) if count > 0 => {
                Err(FilesError::TooLong { name: self.name.to_owned(), limit: end })
            }
            _ => Ok(()),
        }
    }

    fn io_error(&self, error: io::Error) -> FilesError {
        FilesError::Unpack { dir: self.dir.to_owned(), error }
    }

    /// What begins with these bytes.
    fn not_core(&self, error: ParseError, begins: &[u8]) -> FilesError {
        if bundle::is_bundle(begins) {
            return FilesError::PackedBundle(self.name.to_owned());
        }
        FilesError::NotCore { name: self.name.to_owned(), error }
    }

    /// Whether all is there that the core claims to have.
    fn is_complete(&self) -> bool {
        let limit = self.claim.limit();
        limit.is_some_and(|limit| limit.is_whole && self.file.len() >= limit.end)
    }

    /// What a broken stream means: nothing to show is an error, a part is a note, and so are other bytes behind
    /// the whole, which may be what became of a part.
    fn judge(
        &self,
        broken: Option<io::Error>,
        format: Option<Format>,
    ) -> Result<Option<String>, FilesError> {
        let written = self.file.len();
        let empty = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let broken = broken.or_else(|| (written == 0).then(empty));
        match (broken, format) {
            (Some(error), Some(format))
                if self.is_complete() && is(&error, FrameError::is_behind_frames) =>
            {
                Ok(Some(format!(
                    "bytes that are not compressed follow the {format} stream, and were left out"
                )))
            }
            (Some(error), Some(_)) if written == 0 && is(&error, FrameError::is_too_wide) => {
                Err(FilesError::WideWindow { name: self.name.to_owned(), error })
            }
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

fn is(error: &io::Error, what: impl Fn(&FrameError) -> bool) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref()).is_some_and(what)
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

#[cfg(all(test, feature = "compression"))]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::format::skip_to_format;
    use crate::packed_stream::PackedStream;
    use crate::test_files::{core_header, core_with};

    fn unpack_bytes(bytes: &[u8]) -> Result<Unpacked, FilesError> {
        let mut bytes = PackedStream::new(bytes);
        let format = skip_to_format(&mut bytes).unwrap();
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
        let mut bomb = core_with(&[1; 0x1000]);
        bomb.resize(64 << 20, 0);
        let packed = gzip(&bomb);
        let (mut read, mut written) = (0, 0);
        let stream = Stream {
            name: "x",
            bytes: Box::new(&packed[..]),
            format: Some(Format::Gzip),
            total: None,
        };
        let unpacked = unpack(stream, &std::env::temp_dir(), &mut |progress| {
            (read, written) = (progress.read, progress.written);
        });
        let unpacked = unpacked.unwrap();
        assert!(unpacked.bytes[..] == bomb[..120 + 0x1000]);
        assert_eq!((unpacked.note, written), (None, 120 + 0x1000));
        assert!(read < packed.len() as u64, "{read} of {}", packed.len());
    }

    #[test]
    fn headers_that_are_not_all_read_let_nothing_be_left_out() {
        let mut bomb = core_header(&[(0x1000, 0x1000)]);
        // PN_XNUM, and the number in a section header that follows: more than are waited for.
        bomb[56..58].copy_from_slice(&[0xff, 0xff]);
        bomb[40..48].copy_from_slice(&120_u64.to_le_bytes());
        bomb.resize(120 + 64, 0);
        bomb[120 + 44..120 + 48].copy_from_slice(&u32::MAX.to_le_bytes());
        bomb.resize(8 << 20, 0);
        let error = unpack_bytes(&gzip(&bomb)).err().unwrap();
        assert!(matches!(error, FilesError::TooLong { .. }), "{error}");
    }

    /// A core of `PN_XNUM` segments whose number stands in a section header at `count_at`, and whose
    /// program headers stand at `table_at`; the memory of all of them is one page at 0x1000.
    fn many_segments(table_at: usize, count_at: usize) -> Vec<u8> {
        const COUNT: usize = 0x1_0010;
        let table = core_header(&[(0x1000, 0x1000)]);
        let mut core = table[..64].to_vec();
        core[32..40].copy_from_slice(&(table_at as u64).to_le_bytes());
        core[40..48].copy_from_slice(&(count_at as u64).to_le_bytes());
        core[56..58].copy_from_slice(&[0xff, 0xff]);
        core.resize((table_at + COUNT * 56).max(count_at + 64).max(0x2000), 0);
        core[0x1000..0x2000].fill(7);
        for entry in core[table_at..table_at + COUNT * 56].chunks_exact_mut(56) {
            entry.copy_from_slice(&table[64..120]);
        }
        core[count_at + 44..count_at + 48].copy_from_slice(&(COUNT as u32).to_le_bytes());
        core
    }

    #[test]
    fn headers_may_stand_anywhere() {
        // The table right behind the data or far behind it; the count before or behind the table.
        for (table_at, count_at) in
            [(0x2000, 0x50_0000), (0x60_0000, 0x40), (0x40_0000, 0xa0_0000), (0x2000, 0x100)]
        {
            let core = many_segments(table_at, count_at);
            for bytes in [&core, &gzip(&core)] {
                let unpacked = unpack_bytes(bytes).unwrap();
                assert!(unpacked.bytes[..] == core[..], "{table_at:#x} {count_at:#x}");
                assert_eq!(unpacked.note, None);
            }
        }
    }

    #[test]
    fn what_follows_the_core_in_its_stream_is_left_out() {
        let core = sample();
        let longer = [&core[..], &vec![b'x'; 3 << 20]].concat();
        for (format, pack) in PACKERS {
            let unpacked = unpack_bytes(&pack(&longer)).unwrap();
            assert!(unpacked.bytes[..] == core[..], "{format}");
            assert_eq!(unpacked.note, None, "{format}");
        }
        assert!(unpack_bytes(&longer).unwrap().bytes[..] == core[..]);
    }

    #[test]
    fn zeros_behind_the_stream_are_no_doubt_and_other_bytes_are_one() {
        let core = sample();
        for (format, pack) in PACKERS {
            let others = format!(
                "bytes that are not compressed follow the {format} stream, and were left out"
            );
            for (behind, note) in [
                (vec![0; 1], None),
                (vec![0; 700_000], None),
                (vec![0, 0, b'x', 1], Some(&others)),
                (b"junk".to_vec(), Some(&others)),
            ] {
                let packed = [pack(&core), behind].concat();
                let unpacked = unpack_bytes(&packed).unwrap();
                assert!(unpacked.bytes[..] == core[..], "{format}");
                assert_eq!(unpacked.note.as_ref(), note, "{format}");
            }
            // Zeros between two frames are padding too; other bytes there hide the rest of the core.
            let (low, high) = core.split_at(300_001);
            let padded = [pack(low), vec![0; 512], pack(high)].concat();
            assert!(unpack_bytes(&padded).unwrap().bytes[..] == core[..], "{format}");
            let torn = [pack(low), b"junk".to_vec(), pack(high)].concat();
            let note = unpack_bytes(&torn).unwrap().note.unwrap();
            assert!(note.ends_with("what follows is not compressed"), "{note}");
        }
    }

    #[test]
    fn frames_to_be_skipped_may_stand_anywhere() {
        let core = sample();
        let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], b"skip"].concat();
        let (low, high) = core.split_at(300_001);
        for (format, pack) in [(Format::Zstd, zstd as Packer), (Format::Lz4, lz4)] {
            let packed = [pack(low), skipped.clone(), pack(high), skipped.clone()].concat();
            let unpacked = unpack_bytes(&packed).unwrap();
            assert!(unpacked.bytes[..] == core[..] && unpacked.note.is_none(), "{format}");
        }
    }

    #[test]
    fn a_wide_window_is_taken_and_a_wrong_checksum_is_told() {
        let core = sample();
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(31).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(&core).unwrap();
        let mut packed = encoder.finish().unwrap();
        let unpacked = unpack_bytes(&packed).unwrap();
        assert!(unpacked.bytes[..] == core[..] && unpacked.note.is_none());
        *packed.last_mut().unwrap() ^= 1;
        let note = unpack_bytes(&packed).unwrap().note.unwrap();
        assert!(note.ends_with("its checksum is wrong"), "{note}");
        // Window_Descriptor: an exponent of 31 - 10 and no mantissa.
        assert_eq!(packed[5], (31 - 10) << 3);
        packed[5] = (32 - 10) << 3;
        let error = unpack_bytes(&packed).err().unwrap();
        assert_eq!(
            error.to_string(),
            "x.core: it needs a window of 0x100000000 bytes, more than 0x80000000"
        );
    }

    fn xz_with_dictionary(bytes: &[u8], size: u32) -> Vec<u8> {
        use liblzma::stream::{Check, Filters, LzmaOptions, Stream};
        let mut options = LzmaOptions::new_preset(0).unwrap();
        options.dict_size(size);
        let stream = Stream::new_stream_encoder(Filters::new().lzma2(&options), Check::Crc64);
        let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream.unwrap());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_dictionary_of_xz_is_as_large_as_an_honest_one_and_no_larger() {
        let core = core_with(&sample()[..1 << 14]);
        let honest = xz_with_dictionary(&core, 64 << 20);
        assert!(unpack_bytes(&honest).unwrap().bytes[..] == core[..]);
        let mut wide = honest;
        // The dictionary of LZMA2 is one byte in the header of the block, whose CRC32 is behind it; 36 is
        // one of 1 GiB.
        assert_eq!((wide[14], wide[15], wide[16]), (0x21, 1, 28));
        wide[16] = 36;
        let mut crc = flate2::Crc::new();
        crc.update(&wide[12..20]);
        wide[20..24].copy_from_slice(&crc.sum().to_le_bytes());
        let error = unpack_bytes(&wide).err().unwrap();
        assert_eq!(
            error.to_string(),
            "x.core: it needs more than 0x20000000 bytes of memory to be unpacked"
        );
    }

    #[test]
    fn a_packed_bundle_is_called_one() {
        let mut archive = crate::TarWriter::new(Vec::new());
        archive.file(bundle::README.as_bytes(), 4, &mut &b"text"[..]).unwrap();
        let error = unpack_bytes(&gzip(&archive.finish().unwrap())).err().unwrap();
        assert!(matches!(error, FilesError::PackedBundle(_)), "{error}");
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
