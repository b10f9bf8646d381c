//! Writing a tar archive, as GNU tar writes it: what has a long name or is big is written in GNU's way, which all tools
//! read that are in use.

use std::io::{self, Read, Write};

/// Bytes of a header, and what the bytes of a file are padded to.
const BLOCK: usize = 512;
/// Bytes of a name that a header has room for.
const SHORT: usize = 100;
/// The first size that octal digits do not hold.
const BIG: u64 = 1 << 33;

/// An archive that is written from its beginning to its end.
pub struct TarWriter<W: Write> {
    to: W,
}

impl<W: Write> TarWriter<W> {
    /// An archive in `to`.
    pub const fn new(to: W) -> Self {
        Self { to }
    }

    /// Adds a file of `size` bytes, which are read from `from`.
    ///
    /// # Errors
    /// When one of the two cannot be read or written, or `from` has fewer bytes.
    pub fn file(&mut self, name: &[u8], size: u64, from: &mut dyn Read) -> io::Result<()> {
        self.long(b'L', name)?;
        self.to.write_all(&header(name, b'0', size, b""))?;
        let copied = io::copy(&mut from.take(size), &mut self.to)?;
        if copied < size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.pad(size)
    }

    /// Adds another name of a file that was added before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn hard_link(&mut self, name: &[u8], to: &[u8]) -> io::Result<()> {
        self.long(b'K', to)?;
        self.long(b'L', name)?;
        self.to.write_all(&header(name, b'1', 0, to))
    }

    /// Writes a name for which the header that follows has no room.
    fn long(&mut self, kind: u8, name: &[u8]) -> io::Result<()> {
        if name.len() <= SHORT {
            return Ok(());
        }
        let long = [name, b"\0"].concat();
        self.to.write_all(&header(b"././@LongLink", kind, long.len() as u64, b""))?;
        self.to.write_all(&long)?;
        self.pad(long.len() as u64)
    }

    /// Ends the archive.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.write_all(&[0; BLOCK * 2])?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn pad(&mut self, written: u64) -> io::Result<()> {
        let end = written.checked_next_multiple_of(BLOCK as u64).unwrap_or(written);
        let missing = usize::try_from(end.saturating_sub(written)).unwrap_or_default();
        self.to.write_all(&vec![0; missing])
    }
}

/// A header: name, mode, owner, size, time, sum, kind, what a link leads to, magic of GNU tar.
fn header(name: &[u8], kind: u8, size: u64, link: &[u8]) -> Vec<u8> {
    let mut header = Vec::with_capacity(BLOCK);
    header.extend(name.iter().take(SHORT));
    header.resize(100, 0);
    header.extend_from_slice(b"0000600\x000000000\x000000000\0");
    header.extend(size_field(size));
    header.extend_from_slice(b"00000000000\0");
    header.extend_from_slice(b"        ");
    header.push(kind);
    header.extend(link.iter().take(SHORT));
    header.resize(257, 0);
    header.extend_from_slice(b"ustar  \0");
    header.resize(BLOCK, 0);
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    if let Some(field) = header.get_mut(148..156) {
        field.copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    header
}

fn size_field(size: u64) -> Vec<u8> {
    if size < BIG {
        return format!("{size:011o}\0").into_bytes();
    }
    [&[0x80, 0, 0, 0][..], &size.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;
    use crate::tar;

    #[test]
    fn tar_reads_what_is_written_and_so_does_kcore() {
        let folder = tempfile::tempdir().unwrap();
        let long = format!("root/{}/file", "long-name-".repeat(15));
        let mut writer = TarWriter::new(Vec::new());
        for (name, text) in [("core", &b"text"[..]), (&long, &[7; 512]), ("empty", b"")] {
            writer.file(name.as_bytes(), text.len() as u64, &mut &*text).unwrap();
        }
        writer.hard_link(format!("{long}-too").as_bytes(), long.as_bytes()).unwrap();
        let path = folder.path().join("made.tar");
        fs::write(&path, writer.finish().unwrap()).unwrap();
        let listed = Command::new("tar").arg("-tf").arg(&path).output().unwrap();
        assert!(listed.status.success());
        let names = format!("core\n{long}\nempty\n{long}-too\n");
        assert_eq!(String::from_utf8(listed.stdout).unwrap(), names);
        let file = fs::File::open(&path).unwrap();
        let entries = tar::entries(&file, 0..file.metadata().unwrap().len()).unwrap();
        let sizes: Vec<_> = entries.iter().map(|it| it.bytes.end - it.bytes.start).collect();
        assert_eq!(sizes[..3], [4, 512, 0]);
        assert_eq!(entries[1].name, long.as_bytes());
        assert_eq!(entries[3].link.as_deref(), Some(long.as_bytes()));
    }

    #[test]
    fn a_size_of_more_than_eight_gibibytes_is_a_binary_number() {
        assert_eq!(size_field(BIG - 1), b"77777777777\0");
        assert_eq!(size_field(BIG), [0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    }

    #[test]
    fn a_file_that_is_shorter_than_it_was_is_an_error() {
        let mut writer = TarWriter::new(Vec::new());
        assert!(writer.file(b"short", 8, &mut &b"four"[..]).is_err());
    }
}
