//! Compression formats, by their magic, and readers for them.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Read},
};

use lz4_flex::frame::FrameDecoder as FrameDecoderLz4;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

/// How a stream is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Zstandard (RFC 8878).
    Zstd,
    /// gzip (RFC 1952).
    Gzip,
    /// xz.
    Xz,
    /// LZ4 frames.
    Lz4,
    /// bzip2.
    Bzip2,
}

impl Format {
    /// Bytes that [`Format::detect`] looks at.
    pub const MAGIC_LEN: usize = 6;

    /// The format that begins with these bytes.
    pub fn detect(magic: &[u8]) -> Option<Self> {
        match magic {
            // A skippable frame, 184d2a50 to 184d2a5f, may come first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// A reader of the content of `stream`, all frames of it.
    pub fn reader<'a>(self, stream: impl Read + 'a) -> Box<dyn Read + 'a> {
        let stream = BufReader::with_capacity(64 << 10, stream);
        match self {
            Self::Zstd => Box::new(ZstdFrames::new(stream)),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
            Self::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(stream)),
            Self::Lz4 => Box::new(Lz4Frames::new(stream)),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(stream)),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Lz4 => "lz4",
            Self::Bzip2 => "bzip2",
        })
    }
}

/// Reads the frames of a zstd stream one after another; the decoder itself knows only one.
struct ZstdFrames<R: BufRead> {
    stream: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(stream: R) -> Self {
        Self { stream, decoder: FrameDecoder::new(), inside: false }
    }

    /// Begins the next frame that has content; `false` at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.stream.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.stream) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.stream.by_ref().take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    /// Decodes until there is content to collect or the frame ends.
    fn decode(&mut self) -> io::Result<()> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let blocks = BlockDecodingStrategy::UptoBlocks(1);
            self.decoder.decode_blocks(&mut self.stream, blocks).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside {
                self.inside = self.begin()?;
                if !self.inside {
                    return Ok(0);
                }
            }
            self.decode()?;
            let read = self.decoder.read(buf)?;
            if read > 0 || buf.is_empty() {
                return Ok(read);
            }
            self.inside = false;
        }
    }
}

/// Reads LZ4 frames one after another. The decoder says 0 after each of them, and also where a
/// stream is cut between two blocks; only its own reads tell the two apart.
struct Lz4Frames<R: Read>(FrameDecoderLz4<Watched<R>>);

impl<R: Read> Lz4Frames<R> {
    fn new(stream: R) -> Self {
        Self(FrameDecoderLz4::new(Watched { stream, taken: 0, ended: false }))
    }
}

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(buf)?;
            let stream = self.0.get_mut();
            match (read, stream.ended) {
                (0, false) if !buf.is_empty() => stream.taken = 0,
                (0, true) if stream.taken > 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => return Ok(read),
            }
        }
    }
}

/// A stream that remembers how much was taken of it, and whether its end was met.
struct Watched<R> {
    stream: R,
    taken: u64,
    ended: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buf)?;
        self.taken = self.taken.saturating_add(read as u64);
        self.ended |= read == 0 && !buf.is_empty();
        Ok(read)
    }
}
