//! Reading the memory of a process that is there, whether it stands still or runs.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    sync::atomic::{AtomicBool, Ordering},
};

use kcore_mem::{Addr, AddrRange};

use crate::{LiveError, Process, sys::vm};

/// The memory of a process, by process_vm_readv and, where that is refused, by `/proc/PID/mem`.
#[derive(Debug)]
pub struct LiveMemory {
    pid: i32,
    /// `/proc/PID/mem`, which belongs to the program that ran when it was opened. It reads pages too
    /// that the process itself may not read.
    file: Option<File>,
    /// Whether process_vm_readv is of use: a filter of system calls may refuse it.
    by_call: AtomicBool,
}

impl LiveMemory {
    /// Opens the memory of a process.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn open(process: &Process) -> Result<Self, LiveError> {
        let file = File::open(process.folder().join("mem")).ok();
        let memory = Self { pid: process.holder(), file, by_call: AtomicBool::new(true) };
        let start = AddrRange::with_len(Addr::new(0), 1);
        match vm::append(memory.pid, &[start], &mut Vec::with_capacity(1)) {
            Err(error) if is_refused(&error) => memory.by_call.store(false, Ordering::Relaxed),
            _ => {}
        }
        match memory.by_call.load(Ordering::Relaxed) || memory.file.is_some() {
            true => Ok(memory),
            false => Err(process.not_permitted()),
        }
    }

    /// Reads pieces one behind the other onto the end of `bytes`, which has room for them. The
    /// answer is how many bytes were read, from the first piece on, until a page refused.
    pub(crate) fn append(&self, pieces: &[AddrRange], bytes: &mut Vec<u8>) -> usize {
        if !self.by_call.load(Ordering::Relaxed) {
            return pieces.first().map_or(0, |piece| self.append_by_file(*piece, bytes));
        }
        match vm::append(self.pid, pieces, bytes) {
            Ok(read) => read,
            Err(error) if is_refused(&error) => {
                self.by_call.store(false, Ordering::Relaxed);
                self.append(pieces, bytes)
            }
            Err(_) => 0,
        }
    }

    /// The bytes of a piece as far as they can be read, by the file alone.
    pub(crate) fn append_by_file(&self, piece: AddrRange, bytes: &mut Vec<u8>) -> usize {
        let (Some(file), Ok(len)) = (&self.file, usize::try_from(piece.len())) else { return 0 };
        let start = bytes.len();
        bytes.resize(start.saturating_add(len), 0);
        let buffer = bytes.get_mut(start..).unwrap_or_default();
        let read = file.read_at(buffer, piece.start.get()).unwrap_or(0);
        bytes.truncate(start.saturating_add(read));
        read
    }

    /// The bytes of a range; `None` when not all of them can be read.
    pub fn read(&self, range: AddrRange) -> Option<Vec<u8>> {
        let len = usize::try_from(range.len()).ok()?;
        let mut bytes = Vec::with_capacity(len);
        if self.append(&[range], &mut bytes) != len {
            bytes.clear();
            self.append_by_file(range, &mut bytes);
        }
        (bytes.len() == len).then_some(bytes)
    }
}

/// Whether the call itself is refused, and not an address.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS | libc::EACCES))
}
