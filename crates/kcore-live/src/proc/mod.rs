//! What `/proc` tells of a process: see proc(5).

mod descendants;
mod look;
mod smaps;
mod stat;
mod status;
mod turns;

use std::{fs, io, path::Path};

pub use descendants::{Descendant, ProcessKey, descendants};
pub use look::{ProcessLook, ThreadLook};
pub use smaps::MapDetails;
pub use stat::TaskStat;
pub use status::Status;
pub use turns::Turns;

/// Bytes of one file of `/proc` that are read, at most: far above the mappings that a process may have.
const MAX_FILE: u64 = 1 << 30;

/// The bytes of a file of `/proc`.
///
/// # Errors
/// What the system says.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read;
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The ids of the threads of the process whose folder is `process`, in the order of the system.
///
/// # Errors
/// What the system says.
pub fn tasks(process: &Path) -> io::Result<Vec<i32>> {
    let names = fs::read_dir(process.join("task"))?;
    let id = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().to_str()?.parse().ok();
    Ok(names.filter_map(id).collect())
}
