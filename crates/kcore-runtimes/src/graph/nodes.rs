//! Numbers of objects.

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

/// Objects whose addresses differ above this bit alone are searched among each other.
const PAGE_BITS: u32 = 12;

/// The numbers of objects: from 0, the lowest address first.
pub trait Nodes: Send + Sync {
    /// The number of the object that begins at an address.
    fn number(&self, at: Addr) -> Option<u32>;

    /// Where the object of a number begins.
    fn address(&self, node: u32) -> Option<Addr>;
}

/// The addresses of objects in order, with an index of pages: most words that are asked about are of no object, and
/// the few objects of a page are near each other.
pub struct SortedNodes {
    addresses: Vec<Addr>,
    /// Where the first object of each page stands.
    pages: FxHashMap<u64, u32>,
}

impl SortedNodes {
    /// Of addresses in order, each once.
    pub fn new(addresses: Vec<Addr>) -> Self {
        let mut pages = FxHashMap::default();
        for (index, at) in (0_u32..).zip(&addresses) {
            pages.entry(page(*at)).or_insert(index);
        }
        Self { addresses, pages }
    }
}

impl Nodes for SortedNodes {
    fn number(&self, at: Addr) -> Option<u32> {
        let wanted = page(at);
        let first = *self.pages.get(&wanted)?;
        let rest = self.addresses.get(first as usize..)?;
        // No more objects begin in a page than it has bytes.
        let rest = rest.get(..1 << PAGE_BITS).unwrap_or(rest);
        let index = rest.binary_search(&at).ok()?;
        first.checked_add(u32::try_from(index).ok()?)
    }

    fn address(&self, node: u32) -> Option<Addr> {
        self.addresses.get(node as usize).copied()
    }
}

const fn page(at: Addr) -> u64 {
    at.get() >> PAGE_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_addresses_are_each_others() {
        let at = [0x10, 0x18, 0xff8, 0x1000, 0x1008, 0x7fff_0000, u64::MAX].map(Addr::new);
        let nodes = SortedNodes::new(at.to_vec());
        for (number, at) in (0..).zip(at) {
            assert_eq!((nodes.number(at), nodes.address(number)), (Some(number), Some(at)));
        }
        let others = [0, 0x11, 0xff0, 0x1010, 0x2000, 0x7fff_0008].map(Addr::new);
        assert!(others.into_iter().all(|at| nodes.number(at).is_none()));
        assert_eq!(nodes.address(7), None);
    }
}
