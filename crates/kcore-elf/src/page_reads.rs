//! Which memory of a core was read.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use kcore_mem::{Addr, AddrRange};

/// Bytes that are noted together: a page of most machines, of others a part of one.
const PAGE: u64 = 4096;

/// The pages that were read, by however many threads.
#[derive(Debug, Default)]
pub struct PageReads(Mutex<BTreeSet<u64>>);

impl PageReads {
    /// Notes the page at whose byte `at` a read begins: the bytes up to its end, of those that are there.
    pub(crate) fn first_page<'a>(&self, at: Addr, bytes: &'a [u8]) -> &'a [u8] {
        let start = at.get() & !(PAGE - 1);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(start);
        let left = PAGE.saturating_sub(at.get().wrapping_sub(start));
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        bytes.get(..left).unwrap_or(bytes)
    }

    /// The pages that were read so far, neighbours together, lowest first.
    pub fn ranges(&self) -> Vec<AddrRange> {
        let starts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        AddrRange::merged(starts.iter().map(|start| AddrRange::with_len(Addr::new(*start), PAGE)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_ends_with_its_page_and_is_noted() {
        let reads = PageReads::default();
        let bytes = [0; 3 * PAGE as usize];
        assert_eq!(reads.first_page(Addr::new(0x1ff0), &bytes).len(), 16);
        assert_eq!(reads.first_page(Addr::new(0x2000), &bytes).len() as u64, PAGE);
        assert_eq!(reads.first_page(Addr::new(0x9001), &bytes[..5]).len(), 5);
        let ranges: Vec<_> =
            reads.ranges().iter().map(|range| (range.start.get(), range.len())).collect();
        assert_eq!(ranges, [(0x1000, 2 * PAGE), (0x9000, PAGE)]);
    }
}
