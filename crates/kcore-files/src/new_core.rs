//! A core that is written: a file, sparse or packed, or a stream.

use std::{
    fs::{self, File},
    io::{self, Seek, Write},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use crate::{
    NewFile,
    packed_file::{self, PackedFile},
    sparse::{SparseFile, WriteError},
};

/// Zeros that are packed at once.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Where a core goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoreTarget {
    /// A file of that name; a pipe or a device of that name is written to as it is.
    Path(PathBuf),
    /// Standard output.
    Stdout,
}

/// A core that is written. A file has its name only once it is complete. A stream gets its first byte
/// then too: who reads it may be slow, and the process that is copied would wait.
pub struct NewCore {
    content: Content,
    end: End,
    /// Whether what goes to a stream is packed; a file is packed as it is written.
    pack: bool,
}

enum Content {
    Plain(SparseFile),
    Packed(Box<PackedFile>),
}

/// What is done once all is written.
enum End {
    Name(NewFile),
    Send(Box<dyn Write + Send>),
}

impl NewCore {
    /// Begins a core; `pack` is whether it is packed with zstd.
    ///
    /// # Errors
    /// When nothing can be written there, or to the folder for temporary files; when it is to be packed, and this
    /// build lacks the feature `compression`.
    pub fn create(target: &CoreTarget, pack: bool) -> io::Result<Self> {
        if pack {
            packed_file::check_support()?;
        }
        match target {
            CoreTarget::Stdout => Self::stream(Box::new(io::stdout()), pack),
            CoreTarget::Path(path) if is_stream(path) => {
                Self::stream(Box::new(File::options().write(true).open(path)?), pack)
            }
            CoreTarget::Path(path) => Self::file(path, pack),
        }
    }

    fn file(path: &Path, pack: bool) -> io::Result<Self> {
        let new = NewFile::create(path)?;
        let content = if pack {
            Content::Packed(Box::new(PackedFile::new(new.file()?)?))
        } else {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            Content::Plain(SparseFile::over(new.file()?, parent.unwrap_or(Path::new("."))))
        };
        Ok(Self { content, end: End::Name(new), pack })
    }

    fn stream(to: Box<dyn Write + Send>, pack: bool) -> io::Result<Self> {
        let content = Content::Plain(SparseFile::create_in(&std::env::temp_dir())?);
        Ok(Self { content, end: End::Send(to), pack })
    }

    /// Leaves room for so many bytes before all others, which [`NewCore::head`] takes once they are known.
    /// Nothing was appended yet.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn begin(&mut self, head: u64) -> io::Result<()> {
        match &mut self.content {
            Content::Plain(file) => {
                file.append_zeros(head);
                Ok(())
            }
            Content::Packed(file) => file.begin(head),
        }
    }

    /// Takes the bytes for which room was left: as many of them.
    ///
    /// # Errors
    /// As [`NewCore::bytes`].
    pub fn head(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.content {
            Content::Plain(file) => file.write_first(bytes).map_err(said),
            Content::Packed(file) => file.head(bytes),
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// When there is no room, or the system refuses.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.content {
            Content::Packed(file) => file.write_all(bytes),
            Content::Plain(file) => file.append(bytes).map_err(said),
        }
    }

    /// Appends so many zeros.
    ///
    /// # Errors
    /// As [`NewCore::bytes`].
    pub fn zeros(&mut self, count: u64) -> io::Result<()> {
        match &mut self.content {
            Content::Packed(file) => write_zeros(&mut **file, count),
            Content::Plain(file) => {
                file.append_zeros(count);
                Ok(())
            }
        }
    }

    /// Ends it: a file gets its name, and a stream all bytes. The answer is how many bytes it takes on
    /// the disk or on the wire.
    ///
    /// # Errors
    /// As [`NewCore::bytes`]; of a file nothing is left then.
    pub fn finish(self) -> io::Result<u64> {
        let mut file = match self.content {
            Content::Plain(file) => file.into_file()?,
            Content::Packed(file) => file.finish()?,
        };
        match self.end {
            End::Name(new) => {
                let taken = taken(&file)?;
                new.finish().map(|()| taken)
            }
            End::Send(to) => {
                file.rewind()?;
                send(&mut file, to, self.pack)
            }
        }
    }
}

fn write_zeros(to: &mut dyn Write, mut count: u64) -> io::Result<()> {
    while count > 0 {
        let len = usize::try_from(count).unwrap_or(ZEROS.len()).min(ZEROS.len());
        to.write_all(ZEROS.get(..len).unwrap_or_default())?;
        count = count.saturating_sub(len as u64);
    }
    Ok(())
}

fn send(file: &mut File, to: Box<dyn Write + Send>, pack: bool) -> io::Result<u64> {
    let mut to = Counted { to, count: 0 };
    match pack {
        true => packed_file::pack(file, &mut to)?,
        false => io::copy(file, &mut to).map(drop)?,
    }
    to.flush()?;
    Ok(to.count)
}

/// Counts what goes through.
struct Counted<W> {
    to: W,
    count: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.count = self.count.saturating_add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Bytes that a file takes on its disk, as far as that is known by now.
fn taken(file: &File) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    /// Blocks are counted in these, whatever their size.
    const BLOCK: u64 = 512;
    let data = file.metadata()?;
    Ok(data.blocks().saturating_mul(BLOCK).min(data.len()))
}

/// Whether a path names something that can be written to but has no end: a pipe, a device, a socket.
pub fn is_stream(path: &Path) -> bool {
    let kind = fs::metadata(path).map(|data| data.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_char_device() || kind.is_socket())
}

fn said(error: WriteError) -> io::Error {
    match error {
        WriteError::Io(error) => error,
        WriteError::NoSpace(free) => io::Error::new(
            io::ErrorKind::StorageFull,
            format!("no room: {} MiB are free, and some are left to others", free >> 20),
        ),
    }
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use std::io::Read;

    use super::*;

    fn written(name: &str, pack: bool) -> (u64, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        let mut core = NewCore::create(&CoreTarget::Path(path.clone()), pack).unwrap();
        core.bytes(b"begin").unwrap();
        core.zeros(1 << 20).unwrap();
        core.bytes(b"end").unwrap();
        let taken = core.finish().unwrap();
        (taken, fs::read(path).unwrap())
    }

    #[test]
    fn what_comes_first_may_be_given_last() {
        let dir = tempfile::tempdir().unwrap();
        for (name, pack) in [("core", false), ("core.zst", true)] {
            let path = dir.path().join(name);
            let mut core = NewCore::create(&CoreTarget::Path(path.clone()), pack).unwrap();
            core.begin(5).unwrap();
            core.zeros(1 << 20).unwrap();
            core.bytes(b"end").unwrap();
            core.head(b"begin").unwrap();
            core.finish().unwrap();
            let mut bytes = Vec::new();
            let file = File::open(path).unwrap();
            match pack {
                true => crate::frames::Frames::new(file).unwrap().read_to_end(&mut bytes).unwrap(),
                false => { file }.read_to_end(&mut bytes).unwrap(),
            };
            assert!(bytes == wanted(), "{name}");
        }
    }

    fn wanted() -> Vec<u8> {
        [&b"begin"[..], &vec![0; 1 << 20], b"end"].concat()
    }

    #[test]
    fn zeros_take_no_room_in_a_plain_core() {
        let (taken, bytes) = written("core", false);
        assert!(bytes == wanted());
        assert!(taken <= 64 << 10, "{taken} bytes taken");
    }

    #[test]
    fn a_packed_core_unpacks_to_the_same() {
        let (taken, bytes) = written("core.zst", true);
        assert_eq!(taken, bytes.len() as u64);
        let mut unpacked = Vec::new();
        let mut reader = crate::frames::Frames::new(&bytes[..]).unwrap();
        reader.read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == wanted());
    }

    #[test]
    fn a_full_disk_is_said() {
        let target = CoreTarget::Path("/dev/full".into());
        let mut core = NewCore::create(&target, false).unwrap();
        core.bytes(b"begin").unwrap();
        let error = core.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
