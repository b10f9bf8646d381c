//! Opening a file that a core named: for reading, if it is a regular file, and nothing else.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use kcore_elf::{FileBytes, Image};

use crate::Why;

/// Maps and parses the ELF file at `path`.
///
/// # Errors
/// Why there is none.
pub fn open_image(path: &Path) -> Result<Image, Why> {
    let bytes = FileBytes::map(&open(path)?).map_err(why)?;
    Image::parse(bytes).map_err(|error| Why::NotElf(error.to_string()))
}

/// Opens the file at `path`.
///
/// # Errors
/// Why it cannot be read. A device, a pipe or a folder is never opened.
pub fn open(path: &Path) -> Result<File, Why> {
    let metadata = std::fs::metadata(path).map_err(why)?;
    if !metadata.is_file() {
        return Err(Why::NotRegular);
    }
    // The file may have become a pipe since: that must not block.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).map_err(why)?;
    if !file.metadata().map_err(why)?.is_file() {
        return Err(Why::NotRegular);
    }
    Ok(file)
}

/// Why the system refused a file.
pub fn why(error: io::Error) -> Why {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Why::NotFound,
        _ => Why::Unreadable(error.to_string()),
    }
}
