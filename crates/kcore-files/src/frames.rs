//! The content of a compressed stream: that of all its frames, whatever stands between and behind them.

use std::io::{self, BufRead, Read};

use lz4_flex::frame::FrameDecoder as FrameDecoderLz4;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use crate::{Format, format::skip_to_format, packed_stream::PackedStream};

/// Bytes that a zstd stream may look back on: what `zstd --long=31` needs, the most that zstd makes.
pub const MAX_WINDOW: u64 = 1 << 31;

/// Reads the frames of a stream, or members, or streams, as the formats call them, one after another.
pub struct Frames<'a>(State<'a>);

enum State<'a> {
    /// Before a frame; whether one was read before.
    Between(PackedStream<'a>, bool),
    Inside(Box<dyn Frame<'a> + 'a>),
    Ended,
}

/// A frame that is being read.
trait Frame<'a>: Read {
    /// The stream, behind the frame once all of it was read.
    fn into_stream(self: Box<Self>) -> PackedStream<'a>;
}

/// What stands behind a frame is neither another one nor zeros.
#[derive(Debug, thiserror::Error)]
#[error("what follows is not compressed")]
pub struct OtherBytes;

/// A zstd stream looks back further than [`MAX_WINDOW`].
#[derive(Debug, thiserror::Error)]
#[error("it needs a window of {0:#x} bytes, more than {MAX_WINDOW:#x}")]
pub struct WideWindow(pub u64);

impl<'a> Frames<'a> {
    /// The content of `stream`, which begins with a frame.
    pub fn new(stream: impl Read + 'a) -> Self {
        Self(State::Between(PackedStream::new(stream), false))
    }
}

impl Read for Frames<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            // What fails stays ended: the place in the stream is lost.
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

/// Begins the next frame. Files are padded with zeros to whole blocks, of tapes and of disks.
fn begin(mut stream: PackedStream<'_>, is_behind: bool) -> io::Result<State<'_>> {
    if is_behind {
        skip_zeros(&mut stream)?;
    }
    let format = skip_to_format(&mut stream)?;
    if stream.fill_buf()?.is_empty() {
        return Ok(State::Ended);
    }
    Ok(State::Inside(match format.ok_or_else(|| io::Error::other(OtherBytes))? {
        Format::Zstd => Box::new(ZstdFrame::new(stream)?),
        Format::Gzip => Box::new(flate2::bufread::GzDecoder::new(stream)),
        Format::Xz => Box::new(liblzma::bufread::XzDecoder::new(stream)),
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

impl<'a> Frame<'a> for liblzma::bufread::XzDecoder<PackedStream<'a>> {
    fn into_stream(self: Box<Self>) -> PackedStream<'a> {
        (*self).into_inner()
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
                io::Error::other(WideWindow(requested))
            }
            FrameDecoderError::ReadFrameHeaderError(
                ReadFrameHeaderError::MagicNumberReadError(error)
                | ReadFrameHeaderError::FrameDescriptorReadError(error),
            ) if error.kind() == io::ErrorKind::UnexpectedEof => error,
            error => io::Error::other(error),
        })?;
        Ok(Self { stream, decoder })
    }

    /// Whether the content is that of which the frame has the checksum.
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

/// An LZ4 frame. The decoder says 0 at its end, and also where a stream is cut between two blocks; only
/// its own reads tell the two apart.
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

/// A stream that remembers whether its end was met.
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
