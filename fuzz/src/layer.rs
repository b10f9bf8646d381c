//! Tar archives of the layers of containers.

use kcore_files::{Finder, SearchPaths, WantedModule, check_layer};
use kcore_mem::Arch;

use crate::open::Held;

/// `data` is an archive: all its headers are read, and a file of it is looked for.
pub fn run(data: &[u8]) {
    let held = Held::new(data);
    let _ = check_layer(&held.path());
    let finder = Finder::new(SearchPaths { layers: vec![held.path()], ..SearchPaths::default() });
    let path = std::path::Path::new("/usr/a");
    finder.find(&WantedModule { path, build_id: None, is_exe: true, arch: Arch::X86_64 });
}
