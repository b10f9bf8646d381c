//! Objects of the heap by the pages in which they lie: `gc.c` of 2.7 to 3.3, `gc/default/default.c` of 3.4.
//!
//! `heap_pages.sorted` has all pages by address. It is found by what it leads to: each page says where its objects begin,
//! and the beginning of that memory points back to the page.

use kcore_mem::Addr;

use super::{
    Ruby,
    heap::{Heap, OBJECT, Object, RATIONAL, SYMBOL},
    version::Version,
};
use crate::{
    Host,
    objects::{Stopped, Watch},
};

/// Words of `rb_objspace_t` that are looked at.
const MAX_WORDS: u64 = 512;
/// Pages of a heap, at most.
const MAX_PAGES: u64 = 1 << 24;
/// `HEAP_PAGE_ALIGN`: of 2.7 to 3.1, and later.
const ALIGNMENTS: [u64; 2] = [16 << 10, 64 << 10];
/// Where `start` of `struct heap_page` may stand.
const STARTS: [u64; 4] = [24, 32, 40, 48];
/// Bytes of the place of an object, `RVALUE`, before there were several sizes.
const SLOT: u64 = 40;
/// Bytes of the largest place.
const MAX_SLOT: u64 = 1280;
/// Objects between two looks at whether to go on.
const EVERY: u64 = 1 << 14;

/// The memory of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where its first object lies.
    pub start: Addr,
    /// Bytes of the place of an object.
    pub slot: u64,
    /// How many places there are.
    pub count: u64,
}

impl Page {
    fn end(&self) -> Addr {
        self.start.saturating_add(self.slot.saturating_mul(self.count))
    }
}

/// The pages of the heap, lowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// They.
    pub pages: Vec<Page>,
    /// How many cannot be read.
    pub unread: u64,
    /// Whether they were found at all.
    pub is_found: bool,
}

impl Pages {
    /// The place of an object that holds an address, and how big it is.
    pub fn slot_at(&self, at: Addr) -> Option<(Addr, u64)> {
        let after = self.pages.partition_point(|page| page.start <= at);
        let page = self.pages.get(after.checked_sub(1)?)?;
        let offset = at.offset_from(page.start).filter(|_| at < page.end())?;
        let inside = offset.checked_rem(page.slot)?;
        Some((page.start.checked_add(offset.checked_sub(inside)?)?, page.slot))
    }
}

impl Ruby {
    /// The pages of the heap. They are looked for once.
    pub(super) fn pages(&self, host: &dyn Host) -> &Pages {
        self.pages.get_or_init(|| self.heap(host).pages(self.vm))
    }

    /// Calls `tell` with each object, and the bytes of its place.
    pub(super) fn each_slot(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Object, u64),
    ) -> Result<(), Stopped> {
        let heap = self.heap(host);
        let mut done = 0_u64;
        for page in &self.pages(host).pages {
            for index in 0..page.count {
                done = done.saturating_add(1);
                if done.is_multiple_of(EVERY) && watch(done, 0).is_break() {
                    return Err(Stopped);
                }
                let at = page.start.saturating_add(page.slot.saturating_mul(index));
                let Some(flags) = heap.word(at, 0) else { continue };
                let object = Object { at, flags };
                if is_live(object) {
                    tell(object, page.slot);
                }
            }
        }
        Ok(())
    }
}

/// Whether a place holds an object: neither nothing, nor what is left of one.
fn is_live(object: Object) -> bool {
    use super::heap::{ICLASS, IMEMO, NODE};
    matches!(object.kind(), OBJECT..=RATIONAL | SYMBOL | IMEMO | NODE | ICLASS)
}

impl Heap<'_> {
    fn pages(&self, vm: Addr) -> Pages {
        let lists = || {
            let space = self.pointer(vm, self.layout.vm.objspace)?;
            let words = (0..MAX_WORDS).map_while(|index| space.checked_add(index.checked_mul(8)?));
            // Each size of objects has lists of its own: the longest one has all pages.
            words.filter_map(|at| self.page_list(at)).max_by_key(|pages| pages.pages.len())
        };
        lists().unwrap_or_default()
    }

    /// The pages that a word of the object space lists, with their number behind it or before them.
    fn page_list(&self, at: Addr) -> Option<Pages> {
        let list = self.pointer(at, 0)?;
        let behind = || self.word(at, 8).map(|count| (list, count));
        let before = || {
            let (count, room) = (self.word(list, 0)?, self.word(list, 8)?);
            (count <= room).then_some((list.checked_add(16)?, count))
        };
        let lists = [behind(), before()].into_iter().flatten();
        let listed = lists.filter_map(|(list, count)| self.listed(list, count));
        listed.max_by_key(|pages| pages.pages.len())
    }

    fn listed(&self, list: Addr, count: u64) -> Option<Pages> {
        (1..=MAX_PAGES).contains(&count).then_some(())?;
        let page = |index: u64| self.page(self.pointer(list, index.checked_mul(8)?)?);
        page(0)?;
        page(count.checked_sub(1)?)?;
        let mut found = Pages { is_found: true, ..Pages::default() };
        for index in 0..count {
            // They are sorted, so that none counts twice.
            let last = found.pages.last().map(Page::end).unwrap_or_default();
            match page(index).filter(|page| page.start >= last) {
                Some(page) => found.pages.push(page),
                None => found.unread = found.unread.saturating_add(1),
            }
            if self.word(list, index.saturating_mul(8)).is_none() {
                found.unread = found.unread.saturating_add(count.saturating_sub(index));
                break;
            }
        }
        Some(found)
    }

    /// What a `struct heap_page` says.
    fn page(&self, at: Addr) -> Option<Page> {
        let has_sizes = self.layout.version >= Version::new(3, 1);
        let (slot, count) = match has_sizes {
            true => (self.uint(at, 0, 2)?, self.uint(at, 2, 2)?),
            false => (SLOT, self.uint(at, 0, 2)?),
        };
        let is_size = slot.is_multiple_of(SLOT) && (SLOT..=MAX_SLOT).contains(&slot);
        (is_size && count > 0).then_some(())?;
        STARTS.into_iter().find_map(|offset| {
            let start = self.pointer(at, offset)?;
            let leads_back = |alignment: &u64| {
                let body = start.get().checked_div(*alignment)?.checked_mul(*alignment)?;
                let end = start.get().checked_add(slot.checked_mul(count)?)?;
                let fits = end <= body.checked_add(*alignment)?;
                // 3.4 has the beginning of that memory in a word of its own before `start`.
                let is_behind = start.get() > body;
                (fits && is_behind && self.word(Addr::new(body), 0)? == at.get()).then_some(())
            };
            ALIGNMENTS.iter().find_map(leads_back)?;
            Some(Page { start, slot, count })
        })
    }
}
