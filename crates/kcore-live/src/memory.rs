//! Reading the memory of a process that is there, whether it stands still or runs.

use std::fs::File;

use kcore_mem::{Addr, AddrRange};

use crate::{LiveError, Process, sys::vm};

/// The memory of a process, by `/proc/PID/mem`.
///
/// That file belongs to the program that ran when it was opened: once this has ended, or has started
/// another program, nothing is read any more, whoever has its id then. And a page that only a thread of
/// the process itself could fill (userfaultfd) is refused there, while process_vm_readv would wait for
/// that thread, which stands still. It reads pages too that the process itself may not read. Of many
/// short pieces it costs a third more, which is 0.4 µs a piece.
#[derive(Debug)]
pub struct LiveMemory(Source);

#[derive(Debug)]
enum Source {
    File(File),
    /// Where there is no such file: process_vm_readv, for this process.
    Call(i32),
}

impl LiveMemory {
    /// Opens the memory of a process.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn open(process: &Process) -> Result<Self, LiveError> {
        if let Ok(file) = File::open(process.folder().join("mem")) {
            return Ok(Self(Source::File(file)));
        }
        let (pid, start) = (process.holder(), AddrRange::with_len(Addr::new(0), 1));
        match vm::append_by_call(pid, start, &mut Vec::new()) {
            Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(Self(Source::Call(pid))),
            Err(error) => Err(process.why("its memory", error)),
            Ok(_) => Ok(Self(Source::Call(pid))),
        }
    }

    /// Reads a piece onto the end of `bytes`. The answer is how many bytes were read until a page
    /// refused.
    pub(crate) fn append(&self, piece: AddrRange, bytes: &mut Vec<u8>) -> u64 {
        let read = match &self.0 {
            Source::File(file) => vm::append_by_file(file, piece, bytes),
            Source::Call(pid) => vm::append_by_call(*pid, piece, bytes),
        };
        read.map_or(0, |read| read as u64)
    }

    /// The bytes of a range; `None` when not all of them can be read.
    pub fn read(&self, range: AddrRange) -> Option<Vec<u8>> {
        let len = usize::try_from(range.len()).ok()?;
        let mut bytes = Vec::new();
        self.append(range, &mut bytes);
        (bytes.len() == len).then_some(bytes)
    }

    /// Whether the program whose memory it is still runs; `mapped` is any address that it has.
    pub fn is_there(&self, mapped: Addr) -> bool {
        self.read(AddrRange::with_len(mapped, 1)).is_some()
    }

    /// The memory of this process itself, by either way.
    #[cfg(test)]
    pub(crate) fn of_self(by_call: bool) -> Self {
        let own = i32::try_from(std::process::id()).unwrap();
        let file = || Source::File(File::open("/proc/self/mem").unwrap());
        Self(if by_call { Source::Call(own) } else { file() })
    }
}
