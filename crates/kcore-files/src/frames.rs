//! Decompresses a stream of frames, with padding between them and other bytes behind them.

use std::io::{self, BufRead, Read};

use liblzma::bufread::XzDecoder;
use lz4_flex::frame::FrameDecoder as FrameDecoderLz4;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use crate::{Format, format::skip_to_format, packed_stream::PackedStream};

/// The largest window of a zstd stream, in bytes: that of `zstd --long=31`, the largest that zstd writes.
pub const MAX_WINDOW: u64 = 1 << 31;

/// Memory that the decoder of an xz stream may use. `xz -9` needs 65 MiB; a crafted stream may ask for 4 GiB.
const MAX_XZ_MEMORY: u64 = 512 << 20;

/// Reads the content of all frames of a stream, one after another (gzip calls them members, xz streams).
pub struct Frames<'a>(State<'a>);

enum State<'a> {
    /// Before a frame; the flag tells whether a frame was read before.
    Between(PackedStream<'a>, bool),
    Inside(Box<dyn Frame<'a> + 'a>),
    Ended,
}

/// A frame that is being read.
trait Frame<'a>: Read {
    /// Returns the stream; it stands behind the frame once all of the frame was read.
    fn into_stream(self: Box<Self>) -> PackedStream<'a>;
}

/// Why a frame cannot be read, other than by damage. It stands in an [`io::Error`].
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The bytes behind a frame are neither another frame nor zeros.
    #[error("what follows is not compressed")]
    OtherBytes,
    /// A zstd frame needs a window larger than [`MAX_WINDOW`].
    #[error("it needs a window of {0:#x} bytes, more than {MAX_WINDOW:#x}")]
    WideWindow(u64),
    /// An xz stream needs more memory than [`MAX_XZ_MEMORY`].
    #[error("it needs more than {MAX_XZ_MEMORY:#x} bytes of memory to be unpacked")]
    WideDictionary,
}

impl FrameError {
    /// Whether all frames were read, and other bytes follow.
    pub const fn is_behind_frames(&self) -> bool {
        matches!(self, Self::OtherBytes)
    }

    /// Whether more memory would be needed than a frame may use.
    pub const fn is_too_wide(&self) -> bool {
        matches!(self, Self::WideWindow(_) | Self::WideDictionary)
    }
}

impl<'a> Frames<'a> {
    /// The content of `stream`, which begins with a frame. Always `Some`; a build without the feature `compression`
    /// answers `None`.
    pub fn new(stream: impl Read + 'a) -> Option<Self> {
        Some(Self(State::Between(PackedStream::new(stream), false)))
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            // After a failure the position in the stream is unknown, so reading ends there.
            self.0 = match std::mem::replace(&mut self.0, State::Ended) {
                State::Ended => return Ok(0),
                State::Between(stream, is_behind) => begin(stream, is_behind)?,
                State::Inside(mut frame) => match frame.read(buf)? {
                    0 => State::Between(frame.into_stream(), true),
                    read => {
                        self.0 = State::Inside(frame);
                        return Ok(read);
                    }
                },
            };
        }
    }
}

/// Begins the next frame. Zeros between frames are padding: tools fill up to whole blocks of a tape or disk.
fn begin(mut stream: PackedStream<'_>, is_behind: bool) -> io::Result<State<'_>> {
    if is_behind {
        skip_zeros(&mut stream)?;
    }
    let format = skip_to_format(&mut stream)?;
    if stream.fill_buf()?.is_empty() {
        return Ok(State::Ended);
    }
    Ok(State::Inside(match format.ok_or_else(|| io::Error::other(FrameError::OtherBytes))? {
        Format::Zstd => Box::new(ZstdFrame::new(stream)?),
        Format::Gzip => Box::new(flate2::bufread::GzDecoder::new(stream)),
        Format::Xz => Box::new(XzFrame::new(stream)?),
        Format::Lz4 => Box::new(Lz4Frame::new(stream)),
        Format::Bzip2 => Box::new(bzip2::bufread::BzDecoder::new(stream)),
    }))
}

fn skip_zeros(stream: &mut PackedStream<'_>) -> io::Result<()> {
    loop {
        let held = stream.fill_buf()?;
        let zeros = held.iter().take_while(|byte| **byte == 0).count();
        let is_end = zeros < held.len() || held.is_empty();
        stream.consume(zeros);
        if is_end {
            return Ok(());
        }
    }
}

impl<'a> Frame<'a> for flate2::bufread::GzDecoder<PackedStream<'a>> {
    fn into_stream(self: Box<Self>) -> PackedStream<'a> {
        (*self).into_inner()
    }
}

/// An xz stream; its decoder uses at most [`MAX_XZ_MEMORY`].
struct XzFrame<'a>(XzDecoder<PackedStream<'a>>);

impl<'a> XzFrame<'a> {
    fn new(stream: PackedStream<'a>) -> io::Result<Self> {
        let decoder = liblzma::stream::Stream::new_stream_decoder(MAX_XZ_MEMORY, 0)?;
        Ok(Self(XzDecoder::new_stream(stream, decoder)))
    }
}

impl Read for XzFrame<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf).map_err(|error| {
            let why = error.get_ref().and_then(|why| why.downcast_ref());
            match why {
                Some(liblzma::stream::Error::MemLimit) => {
                    io::Error::other(FrameError::WideDictionary)
                }
                _ => error,
            }
        })
    }
}

impl<'a> Frame<'a> for XzFrame<'a> {
    fn into_stream(self: Box<Self>) -> PackedStream<'a> {
        self.0.into_inner()
    }
}

impl<'a> Frame<'a> for bzip2::bufread::BzDecoder<PackedStream<'a>> {
    fn into_stream(self: Box<Self>) -> PackedStream<'a> {
        (*self).into_inner()
    }
}

struct ZstdFrame<'a> {
    stream: PackedStream<'a>,
    decoder: FrameDecoder,
}

impl<'a> ZstdFrame<'a> {
    fn new(mut stream: PackedStream<'a>) -> io::Result<Self> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        decoder.init(&mut stream).map_err(|error| match error {
            FrameDecoderError::WindowSizeTooBig { requested, .. } => {
                io::Error::other(FrameError::WideWindow(requested))
            }
            FrameDecoderError::ReadFrameHeaderError(
                ReadFrameHeaderError::MagicNumberReadError(error)
                | ReadFrameHeaderError::FrameDescriptorReadError(error),
            ) if error.kind() == io::ErrorKind::UnexpectedEof => error,
            error => io::Error::other(error),
        })?;
        Ok(Self { stream, decoder })
    }

    /// Compares the content with the checksum of the frame, where it has one.
    fn check(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            Some(wanted) if self.decoder.get_calculated_checksum() != Some(wanted) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum is wrong"))
            }
            _ => Ok(()),
        }
    }
}

impl Read for ZstdFrame<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let blocks = BlockDecodingStrategy::UptoBlocks(1);
            self.decoder.decode_blocks(&mut self.stream, blocks).map_err(io::Error::other)?;
        }
        let read = self.decoder.read(buf)?;
        if read == 0 {
            self.check()?;
        }
        Ok(read)
    }
}

impl<'a> Frame<'a> for ZstdFrame<'a> {
    fn into_stream(self: Box<Self>) -> PackedStream<'a> {
        self.stream
    }
}

/// An LZ4 frame. The decoder returns 0 at the end of a frame, but also where the stream is cut between two blocks.
/// In the second case it has read to the end of the stream, which [`Watched`] notices.
struct Lz4Frame<'a>(FrameDecoderLz4<Watched<'a>>);

impl<'a> Lz4Frame<'a> {
    fn new(stream: PackedStream<'a>) -> Self {
        Self(FrameDecoderLz4::new(Watched { stream, ended: false }))
    }
}

impl Read for Lz4Frame<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buf)?;
        if read == 0 && self.0.get_ref().ended {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(read)
    }
}

impl<'a> Frame<'a> for Lz4Frame<'a> {
    fn into_stream(self: Box<Self>) -> PackedStream<'a> {
        self.0.into_inner().stream
    }
}

/// A stream that remembers whether its end was reached.
struct Watched<'a> {
    stream: PackedStream<'a>,
    ended: bool,
}

impl Read for Watched<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buf)?;
        self.ended |= read == 0 && !buf.is_empty();
        Ok(read)
    }
}
