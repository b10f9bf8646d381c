//! Where the files of a live process are: its own root, and files that only it still has.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use kcore_elf::core_file::MapLine;
use kcore_files::{Finder, SearchPaths, open_regular};
use kcore_live::Process;

use super::LiveOptions;
use crate::{
    OpenOptions,
    open::{self, search_paths},
};

const DELETED: &[u8] = b" (deleted)";

/// Finds the files of a process: below its own root where that is another one than kcore's, and those
/// that were deleted by the links that the system has for them.
pub fn finder(
    process: &Process,
    maps: &[MapLine],
    live: &LiveOptions,
    options: &OpenOptions,
) -> Finder {
    let paths = SearchPaths {
        sysroot: options.sysroot.clone().or_else(|| foreign_root(process)),
        nameless: nameless(process, maps),
        distrust_deleted: !live.ignore_deleted,
        ..search_paths(options)
    };
    open::finder(options, paths)
}

/// The root of a process that sees other files than kcore does: in another mount namespace, or
/// after chroot(2).
fn foreign_root(process: &Process) -> Option<PathBuf> {
    let root = process.folder().join("root");
    let link = |folder: &Path, name: &str| fs::read_link(folder.join(name)).ok();
    let own = Path::new("/proc/self");
    let is_same = link(&process.folder(), "ns/mnt") == link(own, "ns/mnt")
        && link(&process.folder(), "root") == link(own, "root");
    (!is_same).then_some(root)
}

/// Files whose names were taken away: the executable has a link of its own, which needs no right, and
/// each mapping has one.
fn nameless(process: &Process, maps: &[MapLine]) -> BTreeMap<PathBuf, PathBuf> {
    let deleted = maps.iter().filter(|map| map.is_file() && map.name.ends_with(DELETED));
    let exe = process.folder().join("exe");
    let program = fs::read_link(&exe).ok();
    let mut found = BTreeMap::new();
    for map in deleted {
        let path = Path::new(OsStr::from_bytes(&map.name)).to_owned();
        let link = if program.as_ref() == Some(&path) {
            exe.clone()
        } else {
            let (start, end) = (map.range.start.get(), map.range.end.get());
            process.folder().join("map_files").join(format!("{start:x}-{end:x}"))
        };
        found.entry(path).or_insert(link);
    }
    found.retain(|_, link| open_regular(link).is_ok());
    found
}
