//! Stacks whose memory a core holds as zeros, because whoever wrote it could not read it: gcore of gdb 13
//! writes zeros for a whole megabyte when one page of it cannot be read, as the guard pages that glibc 2.42
//! and newer set up within the mappings of stacks.

use kcore_mem::{Addr, AddressSpace};

const PAGE: u64 = 4096;

/// Whether all bytes of the page that holds `at` are there, and zero. In the memory of a live stack
/// that is no page with a return address: what was called from there left words below it.
pub fn is_zero_page(space: &dyn AddressSpace, at: Addr) -> bool {
    let mut page = [0xff; PAGE as usize];
    let start = Addr::new(at.get() & !(PAGE - 1));
    space.read(start, &mut page).is_ok() && page.iter().all(|byte| *byte == 0)
}
