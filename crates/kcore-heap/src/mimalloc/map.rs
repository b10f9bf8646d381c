//! The map of all pages of 3.x: a table of tables, with an entry for each slice of 64 KiB.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use rustc_hash::FxHashSet;

use super::layout::Layout;
use super::page::Page;
use crate::module_words::{each_word, is_anonymous, word};
use crate::{HeapHost, HeapModule};

const PAGE: u64 = 4096;
const LG_SLICE: u32 = 16;
/// Entries of an inner table, as a power of two.
const LG_INNER: u32 = 13;
/// Entries of the outer table: it is for addresses of 48 bits.
const OUTER: u64 = 1 << 19;
/// Tables that are tried.
const MAX_TABLES: usize = 16;
/// Entries of a table that are looked at to tell whether it is one.
const SAMPLE: u32 = 128;
const DOUBTS: u32 = 8;
/// Marks in the low bits of a thread's identity.
const MARKS: u64 = 7;

/// Where the map lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map(pub(super) Addr);

impl Map {
    /// The map that a module's data leads to, and whose entries prove themselves.
    pub(super) fn find(
        host: &dyn HeapHost,
        module: &dyn HeapModule,
        layout: &Layout,
    ) -> Option<Self> {
        let by_symbol = module.symbol("_mi_page_map").map(|(at, _)| word(host.space(), at));
        let by_symbol = by_symbol.map(|table| Self(Addr::new(table)));
        by_symbol
            .filter(|map| map.is_proven(host, layout))
            .or_else(|| Self::search(host, module, layout))
    }

    fn search(host: &dyn HeapHost, module: &dyn HeapModule, layout: &Layout) -> Option<Self> {
        let mut tried = FxHashSet::default();
        let mut found = None;
        for range in module.data() {
            let _ = each_word(host.space(), range, &mut |_, value| {
                let at = Addr::new(value);
                if may_be_map(host, at)
                    && tried.len() < MAX_TABLES
                    && tried.insert(value)
                    && Self(at).is_proven(host, layout)
                {
                    found = Some(Self(at));
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
        }
        found
    }

    /// Whether the entries lead to pages that lie where they are entered.
    fn is_proven(self, host: &dyn HeapHost, layout: &Layout) -> bool {
        let (mut proofs, mut doubts) = (0_u32, 0_u32);
        let _ = self.each_entry(host, &mut |slice, descriptor| {
            match page_in(host.space(), layout, slice, descriptor) {
                Some(_) => proofs = proofs.saturating_add(1),
                None => doubts = doubts.saturating_add(1),
            }
            let enough = proofs >= SAMPLE || doubts > proofs.saturating_add(DOUBTS);
            if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        proofs > 0 && proofs / 16 >= doubts
    }

    /// Tells of every entry: the number of the slice, and the descriptor. Each inner table counts once.
    fn each_entry(
        self,
        host: &dyn HeapHost,
        tell: &mut dyn FnMut(u64, Addr) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let space = host.space();
        let mut inner = Vec::new();
        let mut seen = FxHashSet::default();
        // The inner table that was made with it ends it.
        let bytes = Addr::new(word(space, self.0)).offset_from(self.0).unwrap_or(0);
        let table = AddrRange::with_len(self.0, bytes.min(OUTER << 3));
        let _ = each_word(space, table, &mut |at, to| {
            let index = at.offset_from(self.0).unwrap_or(0) >> 3;
            if to.is_multiple_of(8) && is_anonymous(host, Addr::new(to)) && seen.insert(to) {
                inner.push((index, Addr::new(to)));
            }
            ControlFlow::Continue(())
        });
        inner.into_iter().try_for_each(|(index, table)| {
            each_word(space, AddrRange::with_len(table, 8 << LG_INNER), &mut |at, descriptor| {
                let slice = index << LG_INNER | (at.offset_from(table).unwrap_or(0) >> 3);
                tell(slice, Addr::new(descriptor))
            })
        })
    }

    /// All pages, lowest first.
    pub(super) fn pages(self, host: &dyn HeapHost, layout: &Layout) -> Vec<Page> {
        let mut pages: Vec<Page> = Vec::new();
        let _ = self.each_entry(host, &mut |slice, descriptor| {
            if pages.last().is_none_or(|last| last.at != descriptor) {
                pages.extend(page_in(host.space(), layout, slice, descriptor));
            }
            ControlFlow::Continue(())
        });
        pages
    }
}

/// Whether a map could lie at an address: its first entry leads to the inner table that was made with it, right behind the
/// outer one (`_mi_page_map_init`).
fn may_be_map(host: &dyn HeapHost, at: Addr) -> bool {
    if !at.get().is_multiple_of(PAGE) || at.get() >> 47 != 0 || !is_anonymous(host, at) {
        return false;
    }
    let outer = Addr::new(word(host.space(), at)).offset_from(at);
    outer.is_some_and(|bytes| bytes.is_power_of_two() && (PAGE..=OUTER << 3).contains(&bytes))
}

/// The page of a descriptor, if it lies where a slice says.
fn page_in(
    space: &dyn AddressSpace,
    layout: &Layout,
    slice: u64,
    descriptor: Addr,
) -> Option<Page> {
    let thread = space.read_word(descriptor).ok()? & !MARKS;
    let page = Page::load(space, &layout.page, descriptor, None, thread)?;
    let (first, end) = (page.start.get() >> LG_SLICE, page.range().end.get());
    // Descriptors may lie before the blocks, and the one block of a page may be aligned to many slices.
    let is_there = first <= slice.saturating_add(1) || page.capacity == 1;
    (is_there && slice <= end >> LG_SLICE && end >> 47 == 0).then_some(page)
}
