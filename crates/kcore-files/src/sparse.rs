//! Writing a core: a file with holes where the core has zeros.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use kcore_elf::FileBytes;

/// Zeros are left out in units of this.
const PAGE: usize = 4096;
/// Bytes written between two looks at the free space.
const CHECK_EVERY: u64 = 16 << 20;
/// Bytes that are left free for others.
const RESERVE: u64 = 32 << 20;

/// A file that takes no room for zeros.
#[derive(Debug)]
pub struct SparseFile {
    file: File,
    dir: PathBuf,
    len: u64,
    unchecked: u64,
}

/// Why nothing more could be written.
#[derive(Debug)]
pub enum WriteError {
    /// The file system is nearly full: bytes that are free.
    NoSpace(u64),
    /// What the system said.
    Io(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl SparseFile {
    /// A new file without a name in `dir`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create_in(dir: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(dir)?;
        Ok(Self { file, dir: dir.to_owned(), len: 0, unchecked: CHECK_EVERY })
    }

    /// A file that is there, in `dir`, and empty.
    pub fn over(file: File, dir: &Path) -> Self {
        Self { file, dir: dir.to_owned(), len: 0, unchecked: 0 }
    }

    /// Bytes that the file has by now, holes included.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Appends bytes; pages of zeros become holes. Pages are counted from the beginning of
    /// `bytes`, so whole pages should be given but for the last time.
    ///
    /// # Errors
    /// When the file system has no room, or fails.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let mut at = self.len;
        for run in bytes.chunks(PAGE).collect::<Vec<_>>().chunk_by(|a, b| is_zero(a) == is_zero(b))
        {
            let run_len: usize = run.iter().map(|page| page.len()).sum();
            let start = usize::try_from(at.saturating_sub(self.len)).unwrap_or(usize::MAX);
            let run_bytes = bytes.get(start..start.saturating_add(run_len)).unwrap_or_default();
            if !run.first().is_some_and(|page| is_zero(page)) {
                self.write_at(run_bytes, at)?;
            }
            at = at.saturating_add(run_len as u64);
        }
        self.len = at;
        Ok(())
    }

    /// Leaves out what lies behind the first `len` bytes; nothing is appended later.
    pub fn cut(&mut self, len: u64) {
        self.len = self.len.min(len);
    }

    /// Appends so many zeros, which take no room.
    pub const fn append_zeros(&mut self, count: u64) {
        self.len = self.len.saturating_add(count);
    }

    /// Writes over what was appended first.
    ///
    /// # Errors
    /// When the file system has no room, or fails.
    pub fn write_first(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_at(bytes, 0)
    }

    /// What was appended so far, mapped.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub fn so_far(&self) -> io::Result<FileBytes> {
        self.file.set_len(self.len)?;
        FileBytes::map_sparse(&self.file)
    }

    /// The finished file, to be read from its beginning.
    ///
    /// # Errors
    /// When its end cannot be set.
    pub fn into_file(self) -> io::Result<File> {
        self.file.set_len(self.len)?;
        Ok(self.file)
    }

    /// The finished file, mapped.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub fn finish(self) -> io::Result<FileBytes> {
        self.file.set_len(self.len)?;
        FileBytes::map_sparse(&self.file)
    }

    fn write_at(&mut self, bytes: &[u8], at: u64) -> Result<(), WriteError> {
        self.unchecked = self.unchecked.saturating_add(bytes.len() as u64);
        if self.unchecked >= CHECK_EVERY {
            self.unchecked = 0;
            let free = free_space(&self.dir)?;
            if free < RESERVE {
                return Err(WriteError::NoSpace(free));
            }
        }
        Ok(self.file.write_all_at(bytes, at)?)
    }
}

fn is_zero(page: &[u8]) -> bool {
    page.iter().all(|byte| *byte == 0)
}

fn free_space(dir: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(dir)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn zeros_take_no_room_and_come_back_as_zeros() {
        let mut file = SparseFile::create_in(&std::env::temp_dir()).unwrap();
        let mut block = vec![0; 1 << 20];
        block[5 * PAGE + 1] = 7;
        file.append(&block).unwrap();
        file.append(&block[..PAGE]).unwrap();
        let taken = file.file.metadata().unwrap().blocks() * 512;
        assert!(taken <= 16 * PAGE as u64, "{taken} bytes taken");
        let bytes = file.finish().unwrap();
        assert_eq!(bytes.len(), (1 << 20) + PAGE);
        assert_eq!(&bytes[..1 << 20], &block[..]);
        assert!(bytes[1 << 20..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_last_part_of_a_page_is_kept() {
        let mut file = SparseFile::create_in(&std::env::temp_dir()).unwrap();
        let bytes: Vec<u8> = (0..=255).cycle().take(PAGE * 2 + 17).collect();
        file.append(&bytes).unwrap();
        assert_eq!(&file.finish().unwrap()[..], &bytes[..]);
    }
}
