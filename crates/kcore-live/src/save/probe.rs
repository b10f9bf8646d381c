//! Which pages cannot be read, found by reading one byte of each.

use kcore_mem::AddrRange;

use crate::LiveMemory;

/// Says of each page whether it refuses to be read.
pub fn refuses(memory: &LiveMemory, pages: &[AddrRange]) -> Vec<bool> {
    pages.iter().map(|page| !memory.is_there(page.start)).collect()
}
