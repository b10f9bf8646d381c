//! Reading the memory of another process: by the file of its memory, or by process_vm_readv(2).

use std::{fs::File, io, mem::MaybeUninit, os::fd::AsRawFd, ptr::without_provenance_mut};

use kcore_mem::AddrRange;
use libc::{iovec, pid_t};

/// Reads a piece by `/proc/PID/mem` onto the end of `bytes`; the answer is the number of bytes up to the
/// first page that cannot be read. 0 when the memory is no process's any more.
///
/// # Errors
/// When nothing could be read: `EIO` where the first page refuses.
pub fn append_by_file(file: &File, piece: AddrRange, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let buffer = room(piece, bytes);
    let offset = libc::off_t::try_from(piece.start.get()).map_err(io::Error::other)?;
    // SAFETY: the kernel writes at most `buffer.len()` bytes, to `buffer`, which is borrowed for
    // writing.
    let read =
        unsafe { libc::pread(file.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), offset) };
    took(read, bytes)
}

/// The same by process_vm_readv, which takes no file.
///
/// # Errors
/// When nothing could be read: `EFAULT` where the first page refuses, `EPERM` or `ENOSYS` where the
/// call does, `ESRCH` when the process has ended.
pub fn append_by_call(pid: pid_t, piece: AddrRange, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let buffer = room(piece, bytes);
    let start = usize::try_from(piece.start.get()).map_err(io::Error::other)?;
    let local = iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = iovec { iov_base: without_provenance_mut(start), iov_len: buffer.len() };
    // SAFETY: the kernel writes at most `buffer.len()` bytes, to `buffer`, which is borrowed for
    // writing; the remote address is of the other process, and is checked by the kernel.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    took(read, bytes)
}

/// Room for a piece behind the end.
fn room(piece: AddrRange, bytes: &mut Vec<u8>) -> &mut [MaybeUninit<u8>] {
    let len = usize::try_from(piece.len()).unwrap_or_default();
    bytes.reserve(len);
    let spare = bytes.spare_capacity_mut();
    let len = len.min(spare.len());
    spare.split_at_mut(len).0
}

fn took(read: isize, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let read = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
    let len = bytes.len().saturating_add(read).min(bytes.capacity());
    // SAFETY: the kernel has written so many bytes behind the end, within the capacity.
    unsafe { bytes.set_len(len) };
    Ok(read)
}
