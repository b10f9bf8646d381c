//! process_vm_readv(2): many pieces of another process's memory by one call.

use std::{io, mem::MaybeUninit, ptr::without_provenance_mut};

use kcore_mem::AddrRange;
use libc::{iovec, pid_t};

/// Pieces that one call takes (`UIO_MAXIOV`, Linux `include/uapi/linux/uio.h`).
pub const MAX_PIECES: usize = 1024;

/// Reads pieces one behind the other, onto the end of `bytes`, which has room for all of them; the
/// answer is the number of bytes from the first piece on. It ends at the first page that cannot be
/// read, in whichever piece.
///
/// # Errors
/// When nothing could be read: `EFAULT` where the first page refuses, `EPERM` or `ENOSYS` where the
/// call does, `ESRCH` when the process has ended.
pub fn append(pid: pid_t, pieces: &[AddrRange], bytes: &mut Vec<u8>) -> io::Result<usize> {
    let read = read(pid, pieces, bytes.spare_capacity_mut())?;
    // SAFETY: the kernel has written so many bytes behind the end, within the capacity.
    unsafe { bytes.set_len(bytes.len().saturating_add(read)) };
    Ok(read)
}

fn read(pid: pid_t, pieces: &[AddrRange], buffer: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
    let local = iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut remote = [iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MAX_PIECES];
    let mut count: usize = 0;
    for (slot, piece) in remote.iter_mut().zip(pieces) {
        let start = usize::try_from(piece.start.get()).unwrap_or(usize::MAX);
        let len = usize::try_from(piece.len()).unwrap_or(usize::MAX);
        *slot = iovec { iov_base: without_provenance_mut(start), iov_len: len };
        count = count.saturating_add(1);
    }
    // SAFETY: the kernel writes at most `buffer.len()` bytes, to `buffer`, which is borrowed for
    // writing; the remote addresses are of the other process, and are checked by the kernel.
    let read =
        unsafe { libc::process_vm_readv(pid, &raw const local, 1, remote.as_ptr(), count as _, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}
