//! Reading the memory of a process that is there, whether it stands still or runs.

use std::{fs::File, io};

use kcore_elf::core_file::MapLine;
use kcore_mem::{Addr, AddrRange};

use crate::{
    LiveError, Process,
    resident::{Closed, Guard},
    sys::{own::own_thread, vm},
};

/// The memory of a process, by `/proc/PID/mem`; that of the process that runs this by process_vm_readv.
///
/// That file belongs to the program that ran when it was opened: once this has ended, or has started
/// another program, nothing is read any more, whoever has its id then. And a page that only a thread of
/// the process itself could fill (userfaultfd) is refused there, while process_vm_readv would wait for
/// that thread, which stands still. It reads pages too that the process itself may not read. Of many
/// short pieces it costs a third more, which is 0.4 µs a piece.
///
/// A page that is not there is not made by reading it, where the system tells which are: what nobody has
/// touched is zeros, and what lies in a file is read from there.
///
/// In the process that runs this no file is kept: its program may close any file, and open another one under the same
/// number. Its threads run, and it reads what they may read.
#[derive(Debug)]
pub struct LiveMemory {
    pid: i32,
    way: ReadMethod,
    /// What keeps pages from being made; nothing where the system does not tell which there are.
    guard: Option<Guard>,
}

/// How memory is read.
#[derive(Debug)]
enum ReadMethod {
    File(File),
    /// There is no such file: process_vm_readv is all that is left.
    Call,
    /// The memory of the process that runs this.
    Own,
}

impl LiveMemory {
    /// Opens the memory of a process.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn open(process: &Process) -> Result<Self, LiveError> {
        let pid = process.holder();
        if let Ok(file) = File::open(process.folder().join("mem")) {
            return Ok(Self { pid, way: ReadMethod::File(file), guard: Guard::of(process) });
        }
        let nowhere = AddrRange::with_len(Addr::new(0), 1);
        match vm::append_by_call(pid, nowhere, &mut Vec::new()) {
            Err(error) if error.raw_os_error() != Some(libc::EFAULT) => {
                Err(process.why("its memory", error))
            }
            _ => Ok(Self { pid, way: ReadMethod::Call, guard: Guard::of(process) }),
        }
    }

    /// The memory of the process that runs this.
    pub fn own() -> Self {
        Self { pid: own_thread(), way: ReadMethod::Own, guard: None }
    }

    /// Takes note of the mappings as they are now: by them it is known what a page is that is not there.
    pub fn set_maps(&self, maps: &[MapLine]) {
        if let Some(guard) = &self.guard {
            guard.set_maps(maps);
        }
    }

    /// Prepares to go through much of the memory: from now on not even page tables are made for what nobody
    /// has touched.
    pub fn expect_searches(&self, process: &Process) {
        if let Some(guard) = &self.guard {
            guard.learn(process);
        }
    }

    /// How many pages of ranges hold something, in memory or swapped out: one that nobody has written to does not. `None`
    /// where the system does not tell, and when the process has ended. Ranges begin and end with pages.
    pub fn count_filled(&self, ranges: &[AddrRange]) -> Option<u64> {
        self.guard.as_ref()?.count_filled(ranges)
    }

    /// Opens no file behind a mapping, until what this gives is dropped.
    pub(crate) fn standing(&self) -> Option<Closed<'_>> {
        self.guard.as_ref().map(Guard::close)
    }

    /// Reads a piece onto the end of `bytes`, and makes no page by that. The answer is how many bytes were
    /// read until a page refused.
    pub(crate) fn append(&self, piece: AddrRange, bytes: &mut Vec<u8>) -> u64 {
        match &self.guard {
            Some(guard) => {
                guard.append(piece, bytes, &|part, bytes| self.append_through(part, bytes))
            }
            None => self.append_through(piece, bytes),
        }
    }

    /// The same whether pages are there or not: the system makes those that are not.
    pub(crate) fn append_through(&self, piece: AddrRange, bytes: &mut Vec<u8>) -> u64 {
        let read = match &self.way {
            ReadMethod::File(file) => vm::append_by_file(file, piece, bytes),
            ReadMethod::Call => vm::append_by_call(self.pid, piece, bytes),
            ReadMethod::Own => append_own(piece, bytes),
        };
        read.map_or(0, |read| read as u64)
    }

    /// The same by process_vm_readv first, which takes two thirds of the time for memory of any length:
    /// of a process that stands still, and of pages that are there, so that nobody has to fill them.
    pub(crate) fn append_present(&self, piece: AddrRange, bytes: &mut Vec<u8>) -> u64 {
        match vm::append_by_call(self.pid, piece, bytes) {
            Ok(read) if read > 0 => read as u64,
            _ => self.append_through(piece, bytes),
        }
    }

    /// The bytes of a range; `None` when not all of them can be read.
    pub fn read(&self, range: AddrRange) -> Option<Vec<u8>> {
        let len = usize::try_from(range.len()).ok()?;
        let mut bytes = Vec::new();
        self.append(range, &mut bytes);
        (bytes.len() == len).then_some(bytes)
    }

    /// The bytes of a range up to the first page that refuses.
    pub fn read_held(&self, range: AddrRange) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append(range, &mut bytes);
        bytes
    }

    /// Whether the program whose memory it is still runs; `mapped` is any address that it has.
    pub fn is_there(&self, mapped: Addr) -> bool {
        match &self.guard {
            Some(guard) => guard.is_there(),
            None => self.read(AddrRange::with_len(mapped, 1)).is_some(),
        }
    }

    /// The memory of this process itself, by either way.
    #[cfg(test)]
    pub(crate) fn of_self(by_call: bool) -> Self {
        let file = || File::open("/proc/self/mem").unwrap();
        let way = if by_call { ReadMethod::Call } else { ReadMethod::File(file()) };
        Self { pid: i32::try_from(std::process::id()).unwrap(), way, guard: None }
    }
}

/// Reads a piece of the memory of the process that runs this onto the end of `bytes`: by the thread that asks, since
/// the first one may have ended. Where a sandbox refuses the call, by a file that is closed again.
fn append_own(piece: AddrRange, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let read = vm::append_by_call(own_thread(), piece, bytes);
    let is_refused =
        |error: &io::Error| matches!(error.raw_os_error(), Some(number) if number != libc::EFAULT);
    if read.as_ref().err().is_some_and(is_refused) { append_own_file(piece, bytes) } else { read }
}

/// The same by the file. While it was read, the program may have closed it and opened another one under its number.
fn append_own_file(piece: AddrRange, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let file = File::open("/proc/thread-self/mem")?;
    let before = bytes.len();
    let read = vm::append_by_file(&file, piece, bytes)?;
    if is_own(&file) {
        return Ok(read);
    }
    bytes.truncate(before);
    Err(io::Error::from_raw_os_error(libc::EBADF))
}

/// Whether a file is the memory of the process that runs this.
fn is_own(file: &File) -> bool {
    /// What that file has where this is, and no other one.
    static CANARY: [u8; 16] = *b"kcore-live own m";
    let mut bytes = Vec::new();
    let at = Addr::new(CANARY.as_ptr().expose_provenance() as u64);
    let read = vm::append_by_file(file, AddrRange::with_len(at, 16), &mut bytes);
    read.is_ok() && bytes == CANARY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::mapped::Mapped;

    #[test]
    fn pages_that_nobody_has_written_to_hold_nothing() {
        let mapped = Mapped::of_pages(16);
        [3, 7].into_iter().for_each(|page| mapped.touch(page));
        let memory = LiveMemory::open(&Process::own().unwrap()).unwrap();
        assert_eq!(memory.count_filled(&[mapped.range()]), Some(2));
        let nothing = AddrRange::with_len(mapped.page(8), 4 * 4096);
        assert_eq!(memory.count_filled(&[nothing]), Some(0));
    }

    #[test]
    fn own_memory_is_read_by_either_way_and_no_other_file_is_taken_for_it() {
        let text = *b"own memory";
        let at = Addr::new(text.as_ptr().expose_provenance() as u64);
        let piece = AddrRange::with_len(at, text.len() as u64);
        assert_eq!(LiveMemory::own().read(piece).as_deref(), Some(&text[..]));
        let mut bytes = b"before ".to_vec();
        assert_eq!(append_own_file(piece, &mut bytes).unwrap(), text.len());
        assert_eq!(bytes, b"before own memory");
        assert_eq!(LiveMemory::own().read(AddrRange::with_len(Addr::new(0), 8)), None);
        assert!(!is_own(&File::open("/dev/zero").unwrap()));
    }
}
