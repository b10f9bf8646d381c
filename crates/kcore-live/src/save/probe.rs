//! Which pages cannot be read, found by reading one byte of each.

use kcore_mem::AddrRange;

use crate::{LiveMemory, sys::vm::MAX_PIECES};

/// Says of each page whether it refuses to be read.
pub fn refuses(memory: &LiveMemory, pages: &[AddrRange]) -> Vec<bool> {
    let bytes: Vec<AddrRange> =
        pages.iter().map(|page| AddrRange::with_len(page.start, 1)).collect();
    let mut refused = Vec::with_capacity(bytes.len());
    let mut buffer = Vec::with_capacity(MAX_PIECES);
    while let Some(rest) = bytes.get(refused.len()..).filter(|rest| !rest.is_empty()) {
        let batch = rest.get(..MAX_PIECES).unwrap_or(rest);
        buffer.clear();
        let read = memory.append(batch, &mut buffer);
        refused.resize(refused.len().saturating_add(read), false);
        // What one way of reading refuses, the other one may give: memory without the right to read.
        if let Some(next) = batch.get(read) {
            refused.push(memory.read(*next).is_none());
        }
    }
    refused
}
