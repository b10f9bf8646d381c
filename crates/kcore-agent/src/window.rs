//! Memory as a handler reads it: through the system, which answers a bad address with an error.

#![allow(unsafe_code)]

use std::{
    cell::{Cell, UnsafeCell},
    os::fd::IntoRawFd,
    sync::atomic::{AtomicI32, Ordering},
};

use kcore::{Addr, AddressSpace, Fault, Origin, Region, Target};

use crate::sys;

/// Bytes that are read at once. Frames that follow each other most often lie in one such piece.
const PAGE: usize = 4096;
/// The bits of an address that tell where in its piece it lies.
const OFFSET: u64 = PAGE as u64 - 1;
/// Pieces that are kept: a walk reads the stack upwards, and code here and there.
const PAGES: usize = 2;

/// The file of the process's memory, where process_vm_readv is refused; negative while it is not needed.
static FILE: AtomicI32 = AtomicI32::new(NO_FILE);
const NO_FILE: i32 = -1;

/// What the file has to have where this is: a program that closes files it does not know opens another one under
/// the same number.
static CANARY: [u8; 16] = *b"kcore-agent mem\n";

/// Reads memory by its file from now on if process_vm_readv is refused. Not for a handler.
pub fn choose_way() {
    let refused = || read_by_call(CANARY.as_ptr().addr() as u64, &mut [0; 16]) != 16;
    if FILE.load(Ordering::Relaxed) >= 0 || refused() {
        read_by_file();
    }
}

/// Reads memory by its file from now on; says whether that is new. Not for a handler.
pub fn read_by_file() -> bool {
    let known = FILE.load(Ordering::Acquire);
    if known >= 0 && is_memory(known) {
        return false;
    }
    let file = std::fs::File::open("/proc/thread-self/mem").map_or(NO_FILE, IntoRawFd::into_raw_fd);
    FILE.store(file, Ordering::Release);
    file >= 0
}

/// Forgets the file, which is the memory of another process after a fork.
pub fn forget() {
    let file = FILE.swap(NO_FILE, Ordering::AcqRel);
    if file >= 0 && is_memory(file) {
        sys::close(file);
    }
}

/// Whether the file is the memory of this process.
fn is_memory(file: i32) -> bool {
    let mut bytes = [0; 16];
    let read = sys::read_file_at(file, CANARY.as_ptr().addr() as u64, &mut bytes);
    read == 16 && bytes == CANARY
}

/// By the thread that asks: the process's first one has no memory any more when it has ended.
fn read_by_call(at: u64, to: &mut [u8]) -> isize {
    sys::read_memory(sys::thread_id(), at, to)
}

/// The last pieces that were read. It serves one walk at a time, of one thread.
pub struct Window {
    target: Target,
    pages: [Page; PAGES],
    next: Cell<usize>,
    way: Cell<ReadMethod>,
}

/// How a walk reads memory.
#[derive(Clone, Copy)]
enum ReadMethod {
    Call,
    File(i32),
    /// The file is another one now.
    None,
}

struct Page {
    /// Its first address; odd where there is nothing.
    start: Cell<u64>,
    bytes: UnsafeCell<[u8; PAGE]>,
}

/// No page begins there.
const NOTHING: u64 = 1;

// SAFETY: `AddressSpace` wants it. A window belongs to a slot, and whoever has a slot has it alone: see
// `slots`.
unsafe impl Sync for Window {}

impl Window {
    /// One in which nothing was read yet.
    pub fn new(target: Target) -> Self {
        let page = || Page { start: Cell::new(NOTHING), bytes: UnsafeCell::new([0; PAGE]) };
        Self {
            target,
            pages: [page(), page()],
            next: Cell::new(0),
            way: Cell::new(ReadMethod::Call),
        }
    }

    /// Forgets what was read, before another walk.
    pub fn clear(&self) {
        self.way.set(match FILE.load(Ordering::Acquire) {
            NO_FILE => ReadMethod::Call,
            file if is_memory(file) => ReadMethod::File(file),
            _ => ReadMethod::None,
        });
        self.pages.iter().for_each(|page| page.start.set(NOTHING));
    }

    /// Copies what one piece holds from `at` on.
    fn copy(&self, at: u64, to: &mut [u8]) -> Option<usize> {
        let start = at & !OFFSET;
        let page = self.page(start)?;
        // SAFETY: the piece is written in `page` alone, which does not run now.
        let bytes = unsafe { &*page.bytes.get() };
        let from = bytes.get(usize::try_from(at.wrapping_sub(start)).ok()?..)?;
        let len = from.len().min(to.len());
        to.get_mut(..len)?.copy_from_slice(from.get(..len)?);
        Some(len)
    }

    /// The piece that begins at `start`.
    fn page(&self, start: u64) -> Option<&Page> {
        if let Some(page) = self.pages.iter().find(|page| page.start.get() == start) {
            return Some(page);
        }
        let page = self.pages.get(self.next.get())?;
        self.next.set(self.next.get().wrapping_add(1) % PAGES);
        page.start.set(NOTHING);
        // SAFETY: nobody reads the piece now: `copy` has returned.
        let bytes = unsafe { &mut *page.bytes.get() };
        let read = match self.way.get() {
            ReadMethod::Call => read_by_call(start, bytes),
            ReadMethod::File(file) => sys::read_file_at(file, start, bytes),
            ReadMethod::None => return None,
        };
        if read != PAGE as isize {
            return None;
        }
        page.start.set(start);
        Some(page)
    }
}

impl AddressSpace for Window {
    fn target(&self) -> Target {
        self.target
    }

    /// Nothing is held for longer than a copy takes.
    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        Err(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.read(at, &mut [0]).map(|()| Origin::Live)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }

    fn read_partial(&self, at: Addr, buf: &mut [u8]) -> (usize, Option<Fault>) {
        let mut done: usize = 0;
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let next = at.wrapping_offset(done as i64);
            match self.copy(next.get(), rest) {
                Some(copied) => done = done.saturating_add(copied),
                None => return (done, Some(Fault::Unmapped(next))),
            }
        }
        (done, None)
    }

    fn read_word(&self, at: Addr) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.read(at, &mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}
