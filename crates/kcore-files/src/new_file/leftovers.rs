//! Names that a killed kcore has left in a folder.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
    time::Duration,
};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::PREFIX;

/// Files of a folder that are looked at, at most.
const MAX_LISTED: usize = 4096;
/// A file that is younger may not be locked yet.
const AGE: Duration = Duration::from_secs(10);

/// Removes what was left by one that was killed: files with a name that is given for a time alone, that
/// nobody writes any more. What cannot be removed stays.
pub fn remove(folder: &Path) {
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.take(MAX_LISTED).filter_map(Result::ok) {
        let is_ours = file.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_ours && is_left(&file.path()) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Whether nobody writes a file any more that this user's kcore made.
fn is_left(path: &Path) -> bool {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    opened.is_ok_and(|file| is_old(&file) && is_unlocked(&file))
}

fn is_old(file: &File) -> bool {
    let user = rustix::process::geteuid().as_raw();
    file.metadata().is_ok_and(|data| {
        let age = data.modified().ok().and_then(|at| at.elapsed().ok());
        data.is_file() && data.uid() == user && age.is_some_and(|age| age > AGE)
    })
}

fn is_unlocked(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::new_file::{NewFile, lock};

    #[test]
    fn what_a_killed_one_left_is_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let names = [".kcore-1-0", ".kcore-ab", ".kcore-new", "core", ".other"];
        let make = |name: &str| {
            let file = File::create(dir.path().join(name)).unwrap();
            let old = SystemTime::now().checked_sub(Duration::from_secs(60)).unwrap();
            file.set_modified(if name == ".kcore-new" { SystemTime::now() } else { old }).unwrap();
            file
        };
        let files = names.map(make);
        lock(&files[1]);
        drop(NewFile::create(&dir.path().join("next")).unwrap());
        let has = |name: &str| dir.path().join(name).exists();
        assert_eq!(names.map(has), [false, true, true, true, true]);
    }
}
