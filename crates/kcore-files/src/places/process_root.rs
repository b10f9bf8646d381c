//! The root of the process itself, if it still runs, as one does whose core a debugger wrote: in a container it has
//! other files than this machine. Another process may have its number by now, so that only a build-id counts.

use std::path::{Path, PathBuf};

use crate::{Finder, Reach, WantedModule, finder::without_deleted};

pub fn candidates(finder: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    let may_look = finder.paths.reach == Reach::Host && wanted.build_id.is_some();
    let path = without_deleted(wanted.path);
    let below = path.strip_prefix("/").ok().filter(|_| may_look);
    let root = |pid: u32| Path::new("/proc").join(pid.to_string()).join("root");
    let root = finder.paths.pid.map(root).filter(|root| root.is_dir());
    root.zip(below).map(|(root, below)| root.join(below)).into_iter().collect()
}
