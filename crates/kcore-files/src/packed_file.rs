//! A file that is packed with zstd while it is written.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek, Write},
    os::unix::fs::FileExt,
};

/// How much zstd tries: its fastest level packs faster than most disks write.
const LEVEL: i32 = 1;
/// Bytes of a frame that is skipped, before what it holds (RFC 8878, section 3.1.2).
const SKIPPED: u64 = 8;

/// A file that is packed while it is written.
pub struct PackedFile {
    encoder: zstd::Encoder<'static, BufWriter<File>>,
    /// Bytes at the beginning of the file that are left free for what is given last.
    room: u64,
}

impl PackedFile {
    /// Packs what is written from now on into `file`.
    ///
    /// # Errors
    /// When zstd gets no memory.
    pub fn new(file: File) -> io::Result<Self> {
        Ok(Self { encoder: encoder(BufWriter::new(file))?, room: 0 })
    }

    /// Leaves room for a head of so many bytes before all others. Nothing was written yet.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn begin(&mut self, head: u64) -> io::Result<()> {
        self.room = packed_room(head);
        self.encoder.get_mut().seek(io::SeekFrom::Start(self.room)).map(drop)
    }

    /// Takes the head for which room was left.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn head(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.encoder.flush()?;
        let packed = packed_head(bytes, self.room)?;
        self.encoder.get_ref().get_ref().write_all_at(&packed, 0)
    }

    /// Ends it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn finish(self) -> io::Result<File> {
        Ok(self.encoder.finish()?.into_inner()?)
    }
}

impl Write for PackedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

/// Packs all that `from` holds.
///
/// # Errors
/// When one of the two cannot be read or written.
pub fn pack(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<()> {
    let mut encoder = encoder(to)?;
    io::copy(from, &mut encoder)?;
    encoder.finish().map(drop)
}

/// Whether anything can be packed: yes, in this build.
///
/// # Errors
/// Of a build without the feature `compression`.
pub const fn check_support() -> io::Result<()> {
    Ok(())
}

fn encoder<W: Write>(to: W) -> io::Result<zstd::Encoder<'static, W>> {
    let mut encoder = zstd::Encoder::new(to, LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

/// Room for a packed head, however badly it packs, and for a frame that fills what is left of the room.
fn packed_room(head: u64) -> u64 {
    let most = zstd::zstd_safe::compress_bound(usize::try_from(head).unwrap_or(usize::MAX));
    (most as u64).saturating_add(SKIPPED)
}

/// A frame with the head, and one that is skipped up to the end of the room; what the latter holds was
/// never written.
fn packed_head(bytes: &[u8], room: u64) -> io::Result<Vec<u8>> {
    const MAGIC: u32 = 0x184d_2a50;
    let mut packed = zstd::bulk::compress(bytes, LEVEL)?;
    let used = (packed.len() as u64).saturating_add(SKIPPED);
    let left = room.checked_sub(used).and_then(|left| u32::try_from(left).ok());
    let left = left.ok_or_else(|| io::Error::other("a head of more than 4 GiB"))?;
    packed.extend_from_slice(&MAGIC.to_le_bytes());
    packed.extend_from_slice(&left.to_le_bytes());
    Ok(packed)
}
