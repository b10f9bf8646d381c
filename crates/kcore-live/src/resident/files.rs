//! The files behind the mappings of a process, each opened once.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata, OpenOptions},
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, OpenOptionsExt},
        },
    },
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use kcore_elf::core_file::MapLine;

use super::Backing;
use crate::Process;

/// Files that are kept open, at most; what lies behind mappings of more is left out.
const MAX_OPEN: usize = 512;
/// Open files of the process that are looked at, at most.
const MAX_LISTED: usize = 1 << 16;

/// Device and inode, by which the system knows a file.
type Key = ((u32, u32), u64);

/// The files behind the mappings of a process.
#[derive(Debug)]
pub struct Files {
    folder: PathBuf,
    known: Mutex<HashMap<Key, Option<Arc<Backing>>>>,
}

impl Files {
    /// Of a process; none of them is open yet.
    pub fn of(process: &Process) -> Self {
        Self { folder: process.holder_folder(), known: Mutex::default() }
    }

    /// The file behind a mapping; `None` when there is none that has bytes, or it may not be opened. If
    /// `opens`, it is opened now if it was not before: that may wait for a disk or for a network.
    pub fn behind(&self, map: &MapLine, opens: bool) -> Option<Arc<Backing>> {
        // The inode of System V shared memory is its id, and ids begin with 0.
        if map.inode == 0 && !map.name.starts_with(b"/SYSV") {
            return None;
        }
        let key = (map.device, map.inode);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&key) {
            return found.clone();
        }
        if !opens || known.len() >= MAX_OPEN {
            return None;
        }
        let found = self.open(map).and_then(|file| Backing::of(file).ok()).map(Arc::new);
        known.insert(key, found.clone());
        found
    }

    /// Opens the very file that is mapped: by the link that the system has of the mapping, by its path, or by
    /// an open file of the process.
    fn open(&self, map: &MapLine) -> Option<File> {
        let (start, end) = (map.range.start.get(), map.range.end.get());
        let link = self.folder.join(format!("map_files/{start:x}-{end:x}"));
        let name = Path::new(std::ffi::OsStr::from_bytes(&map.name));
        let inside = name.strip_prefix("/").ok().map(|name| self.folder.join("root").join(name));
        let mut by_name = inside.into_iter().chain(name.is_absolute().then(|| name.to_owned()));
        // A file system above another one may have other numbers for a file than the mapping has.
        let is_named =
            |link: &Path| fs::read_link(link).is_ok_and(|to| to.as_os_str().as_bytes() == map.name);
        open_if(&link, |data| is_mapped(data, map) || is_named(&link))
            .or_else(|| by_name.find_map(|path| open_if(&path, |data| is_mapped(data, map))))
            .or_else(|| self.among_open_files(map))
    }

    /// A file without a name may still be open, as one that memfd_create made most often is.
    fn among_open_files(&self, map: &MapLine) -> Option<File> {
        if !map.name.ends_with(b" (deleted)") {
            return None;
        }
        let files = fs::read_dir(self.folder.join("fd")).ok()?;
        let mut paths = files.take(MAX_LISTED).filter_map(|file| Some(file.ok()?.path()));
        paths.find_map(|path| open_if(&path, |data| is_mapped(data, map)))
    }
}

/// Opens a file if it is the one that is mapped, and is one that has bytes. It is looked at before: to
/// open a device may do something.
fn open_if(path: &Path, is_mapped: impl Fn(&Metadata) -> bool) -> Option<File> {
    let place = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path).ok()?;
    let is_it = place.metadata().is_ok_and(|data| data.is_file() && is_mapped(&data));
    is_it.then(|| File::open(format!("/proc/self/fd/{}", place.as_raw_fd())).ok()).flatten()
}

fn is_mapped(data: &Metadata, map: &MapLine) -> bool {
    let device = (libc::major(data.dev()), libc::minor(data.dev()));
    data.ino() == map.inode && device == map.device
}
