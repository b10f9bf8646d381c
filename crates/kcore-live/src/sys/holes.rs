//! What a file holds: its kind of file system, and where it has no data.

use std::{fs::File, io, ops::Range, os::fd::AsRawFd};

/// What keeps the bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// Memory: tmpfs, shared memory, memfd.
    Memory,
    /// Memory in huge pages.
    HugePages,
    /// A disk, or something across a network.
    Disk,
}

/// What keeps the bytes of a file.
///
/// # Errors
/// What the system says.
pub fn keeper_of(file: &File) -> io::Result<Keeper> {
    /// Linux `include/uapi/linux/magic.h`.
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58f6;
    const HUGETLBFS: u64 = 0x9584_58f6;
    let mut info = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the answer is written to a local variable, which is valid when it is all zeros, too.
    let (answer, info) =
        unsafe { (libc::fstatfs(file.as_raw_fd(), info.as_mut_ptr()), info.assume_init()) };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(match info.f_type as u64 & 0xffff_ffff {
        TMPFS | RAMFS => Keeper::Memory,
        HUGETLBFS => Keeper::HugePages,
        _ => Keeper::Disk,
    })
}

/// The first data at or behind `from`, up to the hole that follows; `None` when there is no more. Of data that
/// begins at or behind `end` only the beginning is looked up.
///
/// # Errors
/// What the system says; above all that the file system knows of no holes.
pub fn data_from(file: &File, from: u64, end: u64) -> io::Result<Option<Range<u64>>> {
    let Some(start) = seek(file, from, libc::SEEK_DATA)? else { return Ok(None) };
    if start >= end {
        return Ok(Some(start..start));
    }
    let end = seek(file, start, libc::SEEK_HOLE)?;
    Ok(end.filter(|end| *end > start).map(|end| start..end))
}

/// `None` when nothing of that kind lies behind.
fn seek(file: &File, from: u64, whence: libc::c_int) -> io::Result<Option<u64>> {
    let from = libc::off_t::try_from(from).map_err(io::Error::other)?;
    // SAFETY: it takes no pointer.
    let found = unsafe { libc::lseek(file.as_raw_fd(), from, whence) };
    match u64::try_from(found) {
        Ok(found) => Ok(Some(found)),
        Err(_) => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
            error => Err(error),
        },
    }
}
