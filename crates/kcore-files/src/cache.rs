//! A folder of what was worked out before and can be worked out again. Whoever reads from it checks
//! what he reads: the folder may be emptied at any time, and files of it may be cut or old.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::PathBuf,
};

use kcore_elf::{FileBytes, Section};

use crate::open_regular;

/// Files that are kept; beyond it the oldest go when one is added.
const MAX_FILES: usize = 128;

/// A folder of derived data.
#[derive(Clone, Debug)]
pub struct CacheDir(PathBuf);

impl CacheDir {
    /// The cache in that folder, which need not exist yet.
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// What is kept by that name.
    pub fn load(&self, name: &str) -> Option<Section> {
        let file = open_regular(&self.0.join(name)).ok()?;
        let bytes = FileBytes::map(&file).ok()?;
        Some(bytes.whole())
    }

    /// Keeps bytes by that name. A reader sees all of them or what was there before.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn store(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let new = self.0.join(format!("{name}.{}.new", std::process::id()));
        let written = write(&new, bytes).and_then(|()| fs::rename(&new, self.0.join(name)));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        self.forget_oldest();
        written
    }

    fn forget_oldest(&self) {
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        let mut files: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let excess = files.len().saturating_sub(MAX_FILES);
        for (_, path) in files.into_iter().take(excess) {
            let _ = fs::remove_file(path);
        }
    }
}

fn write(path: &std::path::Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let cache = CacheDir::new(dir.path().join("deep").join("kcore"));
        assert!(cache.load("names").is_none());
        cache.store("names", b"first").unwrap();
        cache.store("names", b"second").unwrap();
        assert_eq!(&cache.load("names").unwrap()[..], b"second");
        let names: Vec<_> = fs::read_dir(&cache.0).unwrap().flatten().collect();
        assert_eq!(names.len(), 1);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("names");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        assert!(CacheDir::new(dir.path().to_owned()).load("names").is_none());
    }

    #[test]
    fn a_folder_that_cannot_be_written_keeps_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = CacheDir::new(file.join("below"));
        assert!(cache.store("names", b"bytes").is_err());
        assert!(cache.load("names").is_none());
    }

    #[test]
    fn the_oldest_files_go() {
        let dir = tempfile::tempdir().unwrap();
        let cache = CacheDir::new(dir.path().to_owned());
        for number in 0..MAX_FILES + 3 {
            cache.store(&number.to_string(), b"bytes").unwrap();
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), MAX_FILES);
        assert!(cache.load(&(MAX_FILES + 2).to_string()).is_some());
    }
}
