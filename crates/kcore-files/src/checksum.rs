//! The checksums by which `.gnu_debuglink` identifies a debug file. Each file is read once, and only a
//! limited number of bytes in all.

use std::{
    collections::HashMap,
    fs::File,
    os::unix::fs::{FileExt, MetadataExt},
    sync::{Mutex, MutexGuard, PoisonError},
};

use kcore_mem::Budget;

use crate::{Why, regular::why};

/// Bytes read for checksums, of all files together. A sparse file can have any length.
const MAX_READ: u64 = 4 << 30;
/// Bytes that are read at a time.
const CHUNK: usize = 256 << 10;

/// Device, inode and length identify a file.
type FileId = (u64, u64, u64);

/// The checksums computed so far.
#[derive(Debug, Default)]
pub struct Checksums(Mutex<ComputedSums>);

#[derive(Debug, Default)]
struct ComputedSums {
    sums: HashMap<FileId, u32>,
    /// Bytes read so far.
    read: u64,
}

impl Checksums {
    /// The CRC32 of `file`. The file is read, not mapped: touched pages of a map would stay in
    /// memory.
    ///
    /// # Errors
    /// When the file cannot be read, is too long, or the command has to end.
    pub fn of(&self, file: &File, budget: &Budget) -> Result<u32, Why> {
        let metadata = file.metadata().map_err(why)?;
        let id = (metadata.dev(), metadata.ino(), metadata.len());
        if let Some(sum) = self.lock().sums.get(&id) {
            return Ok(*sum);
        }
        self.reserve(metadata.len())?;
        let sum = read(file, metadata.len(), budget)?;
        self.lock().sums.insert(id, sum);
        Ok(sum)
    }

    /// Charges bytes before they are read.
    fn reserve(&self, len: u64) -> Result<(), Why> {
        let mut known = self.lock();
        let read = known.read.checked_add(len).filter(|read| *read <= MAX_READ);
        known.read = read.ok_or(Why::TooLong(len))?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, ComputedSums> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(file: &File, len: u64, budget: &Budget) -> Result<u32, Why> {
    let mut crc = flate2::Crc::new();
    let (mut at, mut chunk) = (0_u64, vec![0; CHUNK]);
    while at < len {
        if budget.halt().is_some() {
            let ended = "the command ended before its checksum was known";
            return Err(Why::Unreadable(ended.to_owned()));
        }
        let read = file.read_at(&mut chunk, at).map_err(why)?;
        if read == 0 {
            break;
        }
        crc.update(chunk.get(..read).unwrap_or_default());
        at = at.saturating_add(read as u64);
    }
    Ok(crc.sum())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn temporary(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("kcore-checksum-{}-{name}", std::process::id()))
    }

    #[test]
    fn a_checksum_is_that_of_the_bytes_and_is_known_from_then_on() {
        let path = temporary("short");
        fs::write(&path, b"123456789").unwrap();
        let file = File::open(&path).unwrap();
        let checksums = Checksums::default();
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(checksums.of(&file, &Budget::default()), Ok(0xcbf4_3926));
        assert_eq!(checksums.of(&file, &Budget::default()), Ok(0xcbf4_3926));
        assert_eq!(checksums.lock().read, 9);
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_of_holes_is_not_read() {
        let path = temporary("sparse");
        let file = File::create(&path).unwrap();
        file.set_len(20 << 30).unwrap();
        let checksums = Checksums::default();
        assert_eq!(checksums.of(&file, &Budget::default()), Err(Why::TooLong(20 << 30)));
        assert_eq!(checksums.lock().read, 0);
        fs::remove_file(&path).unwrap();
    }
}
