//! Memory of this process for tests, of which nobody else touches anything.

use std::ptr::{null_mut, with_exposed_provenance_mut, without_provenance_mut};

use kcore_mem::{Addr, AddrRange};

const PAGE: u64 = 4096;

/// A mapping between two pages that cannot be used, so that it has no neighbour of its kind.
pub struct Mapped {
    start: u64,
    len: u64,
}

impl Mapped {
    /// With nothing touched.
    pub fn of_pages(pages: u64) -> Self {
        let len = pages * PAGE;
        let all = usize::try_from(len + 2 * PAGE).unwrap();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: it is new memory.
        let at = unsafe { libc::mmap(null_mut(), all, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(at, libc::MAP_FAILED);
        let mapped = Self { start: at.expose_provenance() as u64 + PAGE, len };
        let middle = without_provenance_mut(usize::try_from(mapped.start).unwrap());
        let len = usize::try_from(len).unwrap();
        // SAFETY: it is the middle of that memory. A kernel without huge pages refuses the second call, which then
        // is not needed.
        unsafe {
            assert_eq!(libc::mprotect(middle, len, libc::PROT_READ | libc::PROT_WRITE), 0);
            libc::madvise(middle, len, libc::MADV_NOHUGEPAGE);
        }
        mapped
    }

    /// Its addresses.
    pub fn range(&self) -> AddrRange {
        AddrRange::with_len(Addr::new(self.start), self.len)
    }

    /// The address of a page.
    pub fn page(&self, index: u64) -> Addr {
        assert!(index < self.len / PAGE);
        Addr::new(self.start + index * PAGE)
    }

    /// Writes to a page.
    pub fn touch(&self, index: u64) {
        let at = usize::try_from(self.page(index).get()).unwrap();
        let at: *mut u8 = with_exposed_provenance_mut(at);
        // SAFETY: it lies in memory that is mapped as long as this is there, and that nobody else uses.
        unsafe { at.write_volatile(1) };
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let at = without_provenance_mut(usize::try_from(self.start - PAGE).unwrap());
        // SAFETY: nobody uses it any more.
        unsafe { libc::munmap(at, usize::try_from(self.len + 2 * PAGE).unwrap()) };
    }
}
