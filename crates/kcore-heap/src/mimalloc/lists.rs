//! The lists of free blocks of a page.

use kcore_mem::{Addr, AddressSpace};

use super::page::Page;
use crate::ListId;

/// Free blocks that the owner hands out next.
pub(super) const FREE: ListId = ListId(0);
/// Blocks that the owner freed since.
pub(super) const LOCAL: ListId = ListId(1);
/// Blocks that other threads freed.
pub(super) const THREAD: ListId = ListId(2);
/// Blocks that other threads freed, in the list of the heap.
pub(super) const DELAYED: ListId = ListId(3);

/// A page's blocks, at most: 16 bits count them.
const NOT_FREE: u8 = u8::MAX;

/// What is wrong in a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Broken {
    pub(super) list: ListId,
    /// What the list leads to.
    pub(super) to: Addr,
    /// Whether that is a block of the page, which is in a list already.
    pub(super) is_again: bool,
}

/// The free blocks of a page.
#[derive(Debug)]
pub(super) struct FreeBlocks {
    /// For each block the number of its list.
    lists: Vec<u8>,
    /// How many blocks each list has.
    pub(super) counts: [u64; 3],
    pub(super) broken: Option<Broken>,
}

impl FreeBlocks {
    /// Follows the three lists of a page, up to what is wrong in one.
    pub(super) fn of(space: &dyn AddressSpace, page: &Page) -> Self {
        let capacity = usize::try_from(page.capacity).unwrap_or(0);
        let mut blocks = Self { lists: vec![NOT_FREE; capacity], counts: [0; 3], broken: None };
        for (list, head) in [FREE, LOCAL, THREAD].into_iter().zip(page.lists) {
            blocks.follow(space, page, list, head);
        }
        blocks
    }

    fn follow(&mut self, space: &dyn AddressSpace, page: &Page, list: ListId, head: Addr) {
        // The heads are plain in all builds.
        let mut next = Some(head).filter(|head| head.get() > 0);
        while let Some(at) = next {
            let mark = page
                .index_of(at)
                .and_then(|index| self.lists.get_mut(usize::try_from(index).ok()?));
            let link = space.read_word(at).ok();
            match (mark, link) {
                (Some(mark), Some(link)) if *mark == NOT_FREE => {
                    *mark = list.0 as u8;
                    if let Some(count) = self.counts.get_mut(list.0 as usize) {
                        *count = count.saturating_add(1);
                    }
                    next = page.decode(link);
                }
                (mark, _) => {
                    self.broken.get_or_insert(Broken { list, to: at, is_again: mark.is_some() });
                    return;
                }
            }
        }
    }

    /// The list that holds a block.
    pub(super) fn list(&self, index: u64) -> Option<ListId> {
        let list = self.lists.get(usize::try_from(index).ok()?)?;
        (*list != NOT_FREE).then_some(ListId(u32::from(*list)))
    }

    /// How many blocks are in lists.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Whether the counters of the page say the same: blocks that other threads freed count as used.
    pub(super) fn agree(&self, page: &Page) -> bool {
        let [free, local, thread] = self.counts;
        let sum = page.used.saturating_add(free).saturating_add(local);
        self.broken.is_none() && sum == page.capacity && thread <= page.used
    }
}
