//! Files that a user names: they are read, or added to, and never block.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use kcore::Core;

/// Opens a file for reading.
///
/// # Errors
/// When it cannot be read, or is a folder, a pipe or a socket: whoever opens a pipe waits for another
/// to open it too. Next to a core that nobody trusts no file is opened.
pub fn open(core: &Core, path: &Path) -> io::Result<File> {
    check_trust(core)?;
    check(path)?;
    File::open(path)
}

/// Opens a file to add to its end; one that is not there is made.
///
/// # Errors
/// As [`open`].
pub fn append(core: &Core, path: &Path) -> io::Result<File> {
    check_trust(core)?;
    match check(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => OpenOptions::new().append(true).create(true).open(path),
    }
}

fn check_trust(core: &Core) -> io::Result<()> {
    if core.is_untrusted() {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "not with --untrusted"));
    }
    Ok(())
}

fn check(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if kind.is_fifo() || kind.is_socket() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a file"));
    }
    Ok(())
}

/// What the system says of an error, without its number, as the end of a message.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut rest = text.chars();
    rest.next().map(|first| first.to_lowercase().chain(rest).collect()).unwrap_or_default()
}
