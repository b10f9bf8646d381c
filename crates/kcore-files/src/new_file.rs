//! A file that has its name only once it is complete.
//!
//! Until then it has none at all, so that nothing is left of it however kcore ends. There are two exceptions.
//! Nothing but a rename takes the place of a file that is there, and what is renamed has a name: the new file
//! has one between, from one system call to the next. And on file systems without nameless files it has one
//! from the beginning. Whoever is killed then leaves it; it is locked for as long as it is written, so the next
//! one that makes a file in the folder knows it for a leftover, and removes it.

mod leftovers;

use std::{
    fs::{self, File},
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};
use tempfile::NamedTempFile;

/// A file that has its name only once it is complete: whoever is killed before leaves nothing, and
/// nobody finds half of it.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// Its name until then, where the file system has no files without one.
    draft: Option<NamedTempFile>,
    path: PathBuf,
}

impl NewFile {
    /// Begins a file that shall be called `path`, for its owner alone to read. Where the path is that of a symbolic
    /// link, the file that it leads to is the one that is replaced.
    ///
    /// # Errors
    /// When its folder cannot be written, or the path is that of anything but a regular file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = place_of(path)?;
        leftovers::remove(folder(&path));
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::open(folder(&path), flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Self { file: file.into(), draft: None, path }),
            // Not every file system has files without a name, and each says so in its way.
            Err(_) => {
                let draft = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder(&path))?;
                lock(draft.as_file());
                Ok(Self { file: draft.as_file().try_clone()?, draft: Some(draft), path })
            }
        }
    }

    /// What is written to.
    ///
    /// # Errors
    /// When the system has no more open files.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Gives the complete file its name; one that had the name before is gone.
    ///
    /// # Errors
    /// When the system refuses; nothing is left of the file then.
    pub fn finish(self) -> io::Result<()> {
        match self.draft {
            Some(draft) => draft.persist(&self.path).map(drop).map_err(|failed| failed.error),
            None => name(&self.file, &self.path),
        }
    }
}

/// Where a file of that path comes to lie. What is no regular file is never replaced: a device or a pipe would be gone
/// for all others.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    let Ok(own) = fs::symlink_metadata(path) else { return Ok(path.to_owned()) };
    let meant = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::other("a symbolic link that leads to no file"),
        _ => error,
    })?;
    if meant.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if !meant.is_file() {
        return Err(io::Error::other("not a regular file, and it is not replaced by one"));
    }
    if own.is_symlink() { fs::canonicalize(path) } else { Ok(path.to_owned()) }
}

/// How names begin that files have for a time.
const PREFIX: &str = ".kcore-";

/// Says that a file is written, until it is closed. Where it cannot be locked, it is never removed.
fn lock(file: &File) {
    let _ = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Names a file without a name. A link cannot take the place of another file, and a new name can: only
/// where there is another one has it a name between, for an instant.
fn name(file: &File, path: &Path) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    match link(file, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        linked => return linked,
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let between = folder(path).join(format!("{PREFIX}{}-{count}", std::process::id()));
    lock(file);
    link(file, &between)?;
    fs::rename(&between, path).inspect_err(|_| drop(fs::remove_file(&between)))
}

fn link(file: &File, path: &Path) -> io::Result<()> {
    let descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, descriptor, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

fn folder(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn it_has_its_name_once_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new");
        fs::write(&path, b"old").unwrap();
        let new = NewFile::create(&path).unwrap();
        new.file().unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        new.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_left_of_one_that_is_not_completed() {
        let dir = tempfile::tempdir().unwrap();
        let new = NewFile::create(&dir.path().join("new")).unwrap();
        new.file().unwrap().write_all(b"half").unwrap();
        drop(new);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(NewFile::create(dir.path()).is_err());
    }
    #[test]
    fn nothing_but_a_regular_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        rustix::fs::mknodat(CWD, path("pipe"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::os::unix::fs::symlink("pipe", path("to-pipe")).unwrap();
        std::os::unix::fs::symlink("nowhere", path("to-nothing")).unwrap();
        for name in ["pipe", "to-pipe", "to-nothing"] {
            assert!(NewFile::create(&path(name)).is_err(), "{name}");
        }
        fs::write(path("file"), b"old").unwrap();
        std::os::unix::fs::symlink("file", path("to-file")).unwrap();
        let new = NewFile::create(&path("to-file")).unwrap();
        new.file().unwrap().write_all(b"new").unwrap();
        new.finish().unwrap();
        assert!(fs::symlink_metadata(path("to-file")).unwrap().is_symlink());
        assert_eq!(fs::read(path("file")).unwrap(), b"new");
    }
}
