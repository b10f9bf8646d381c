//! Opening a file that a core named: for reading, if it is a regular file, and nothing else.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use kcore_elf::{FileBytes, Image};
use kcore_mem::Budget;
use rustix::fs::OFlags;

use crate::Why;

/// What the system is asked for when a file that may be anything is opened: not to wait for the other end of a
/// pipe, and not to make a terminal ours.
pub const CAREFULLY: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Maps and parses the ELF file that lies at `path`; its inflated sections are charged to `budget`.
///
/// # Errors
/// Why it is none.
pub fn image_of(file: &File, path: &Path, budget: &Budget) -> Result<Image, Why> {
    let bytes = FileBytes::map(file).map_err(why)?;
    let image = Image::parse(bytes).map_err(|error| Why::NotElf(error.to_string()))?;
    Ok(image.within(budget, path.display().to_string()))
}

/// Opens the file at `path`.
///
/// # Errors
/// Why it cannot be read. A device, a pipe or a folder is never opened.
pub fn open(path: &Path) -> Result<File, Why> {
    opened(path).map_err(why)?.ok_or(Why::NotRegular)
}

/// Opens a file that a user named and that has to be a regular one: neither a pipe, for which the caller would
/// wait, nor a device or a folder.
///
/// # Errors
/// What the system says, or that it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    opened(path)?.ok_or_else(|| io::Error::other(Why::NotRegular.to_string()))
}

/// Opens the file at `path`; `None`: it is no regular one.
fn opened(path: &Path) -> io::Result<Option<File>> {
    if !std::fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    // The file may have become a pipe since: that must not block.
    let flags = i32::try_from(CAREFULLY.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

/// An open file, if it is a regular one.
///
/// # Errors
/// When it is not.
pub fn regular(file: File) -> Result<File, Why> {
    if file.metadata().map_err(why)?.is_file() { Ok(file) } else { Err(Why::NotRegular) }
}

/// Why the system refused a file.
pub fn why(error: io::Error) -> Why {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Why::NotFound,
        _ => Why::Unreadable(error.to_string()),
    }
}
