//! Compression formats, by their magic.

use std::{
    fmt,
    io::{self, Read},
};

use crate::packed_stream::PackedStream;

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

    /// The format that begins with these bytes. Frames to be skipped, which zstd and LZ4 both have,
    /// are of no format: see [`is_packed`].
    pub fn detect(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Self::Bzip2),
            _ => None,
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

/// Whether a file that begins with these bytes, [`Format::MAGIC_LEN`] of them, is compressed.
pub fn is_packed(magic: &[u8]) -> bool {
    is_skippable(magic) || Format::detect(magic).is_some()
}

/// Whether a frame begins here that decoders are to skip: 184d2a50 to 184d2a5f (RFC 8878, 3.1.2; LZ4
/// frame format, «Skippable Frames»). pzstd begins its files with one.
const fn is_skippable(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Reads over the frames that are to be skipped; gives the format of what follows.
///
/// # Errors
/// When the stream cannot be read.
pub fn skip_to_format(stream: &mut PackedStream<'_>) -> io::Result<Option<Format>> {
    while is_skippable(stream.peek(8)?) {
        let Some([_, _, _, _, len @ ..]) = stream.peek(8)?.first_chunk::<8>().copied() else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let whole = u64::from(u32::from_le_bytes(len)).saturating_add(8);
        if io::copy(&mut stream.by_ref().take(whole), &mut io::sink())? < whole {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Format::detect(stream.peek(Format::MAGIC_LEN)?))
}
