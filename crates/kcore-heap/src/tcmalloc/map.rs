//! The map from pages to spans: two levels, whose root lies in the module's data (`TCMalloc_PageMap2`).

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use rustc_hash::FxHashSet;

use super::span::Span;
use crate::module_words::{each_word, is_among, is_anonymous, word};
use crate::{HeapHost, HeapModule};

/// Sizes of pages that it is built for, as powers of two; the usual one first.
const PAGES: [u32; 4] = [13, 12, 15, 16];
const ADDRESS_BITS: u32 = 48;
/// Leaves that are tried.
const MAX_LEAVES: usize = 512;
/// Entries that are looked at to tell whether a leaf is one.
const SAMPLE: i64 = 256;
const DOUBTS: i64 = 24;

/// The map of one copy of the allocator.
#[derive(Debug)]
pub(super) struct Map {
    /// Where the root lies.
    pub(super) root: Addr,
    /// Of the size of a page, the binary logarithm.
    pub(super) lg_page: u32,
    /// The number of each leaf, and where it lies, lowest first.
    leaves: Vec<(u64, Addr)>,
}

/// Words of a leaf as a power of two.
const fn lg_leaf(lg_page: u32) -> u32 {
    ADDRESS_BITS.wrapping_sub(lg_page).wrapping_add(1) / 2
}

/// Words of the root as a power of two.
const fn lg_root(lg_page: u32) -> u32 {
    ADDRESS_BITS.wrapping_sub(lg_page).wrapping_sub(lg_leaf(lg_page))
}

const fn bytes(lg_words: u32) -> u64 {
    8_u64.wrapping_shl(lg_words)
}

impl Map {
    /// The map of a module, found by pointers to leaves: their entries lead to spans that say which pages they have.
    pub(super) fn find(host: &dyn HeapHost, module: &dyn HeapModule) -> Option<Self> {
        PAGES.iter().find_map(|lg_page| Self::with_pages(host, module, *lg_page))
    }

    fn with_pages(host: &dyn HeapHost, module: &dyn HeapModule, lg_page: u32) -> Option<Self> {
        let mut tried = FxHashSet::default();
        let mut best: Option<(i64, Self)> = None;
        let may_be = |value: u64| may_be_leaf(host, value, bytes(lg_leaf(lg_page)));
        for range in module.data() {
            let _ = each_word(host.space(), range, &mut |at, value| {
                if may_be(value) && is_among(host, at, &may_be) && tried.insert(value) {
                    let next = led_to_by(host, range, at, Addr::new(value), lg_page);
                    let is_better =
                        |score: i64| best.as_ref().is_none_or(|(best, _)| score > *best);
                    best = next.filter(|(score, _)| is_better(*score)).or(best.take());
                }
                if tried.len() < MAX_LEAVES {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
        }
        best.map(|(_, map)| map)
    }

    /// Tells of all spans that begin in a range, lowest first. Entries that lead to a span with another start are left
    /// over from spans that were joined.
    pub(super) fn each_span(
        &self,
        space: &dyn AddressSpace,
        within: AddrRange,
        tell: &mut dyn FnMut(Span) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let lg_leaf = lg_leaf(self.lg_page);
        let first = Some(within.start).filter(|start| start.get() > 0);
        let first = first.and_then(|start| self.span_at(space, start)).map(|span| span.range.start);
        let mut page = first.unwrap_or(within.start).get().wrapping_shr(self.lg_page);
        let last = within.end.get().saturating_sub(1).wrapping_shr(self.lg_page);
        for (number, leaf) in &self.leaves {
            let base = number.wrapping_shl(lg_leaf);
            let table = AddrRange::with_len(*leaf, bytes(lg_leaf));
            each_word(space, table, &mut |at, value| {
                let here = base.saturating_add(at.offset_from(*leaf).unwrap_or(0) >> 3);
                if here < page || here > last {
                    return ControlFlow::Continue(());
                }
                let span = Span::load(space, Addr::new(value), self.lg_page)
                    .filter(|span| span.first == here);
                let Some(span) = span else { return ControlFlow::Continue(()) };
                page = here.saturating_add(span.pages);
                tell(span)
            })?;
        }
        ControlFlow::Continue(())
    }

    /// The span that holds an address: in-use ones of small blocks are entered at each page, others at the first and the
    /// last.
    pub(super) fn span_at(&self, space: &dyn AddressSpace, at: Addr) -> Option<Span> {
        let page = at.get().wrapping_shr(self.lg_page);
        let lg_leaf = lg_leaf(self.lg_page);
        let leaf = |number: u64| {
            self.leaves
                .binary_search_by_key(&number, |(number, _)| *number)
                .ok()
                .and_then(|index| self.leaves.get(index))
        };
        let mut back = page;
        for _ in 0..1_u64.wrapping_shl(lg_leaf) {
            let Some((number, table)) = leaf(back.wrapping_shr(lg_leaf)) else {
                back = back.wrapping_shr(lg_leaf).wrapping_shl(lg_leaf).checked_sub(1)?;
                continue;
            };
            let index = back.wrapping_sub(number.wrapping_shl(lg_leaf));
            let entry = word(space, table.saturating_add(index << 3));
            let span = Some(entry).filter(|entry| *entry != 0);
            let span = span.and_then(|entry| Span::load(space, Addr::new(entry), self.lg_page));
            if let Some(span) = span
                .filter(|span| span.first <= back && back < span.first.saturating_add(span.pages))
            {
                return span.range.contains(at).then_some(span);
            }
            back = back.checked_sub(1)?;
        }
        None
    }

    /// Bytes of its leaves.
    pub(super) fn leaf_bytes(&self) -> u64 {
        (self.leaves.len() as u64).saturating_mul(bytes(lg_leaf(self.lg_page)))
    }
}

fn may_be_leaf(host: &dyn HeapHost, value: u64, bytes: u64) -> bool {
    let at = Addr::new(value);
    let holds_it = |end: Addr| end >= at.saturating_add(bytes);
    value.is_multiple_of(8)
        && value >> 47 == 0
        && value > 0x1_0000
        && host.mapping_at(at).is_some_and(|mapping| holds_it(mapping.range.end))
        && is_anonymous(host, at)
}

/// The map in whose root the word at `at` leads to a leaf, and how far its entries prove it.
fn led_to_by(
    host: &dyn HeapHost,
    data: AddrRange,
    at: Addr,
    leaf: Addr,
    lg_page: u32,
) -> Option<(i64, Map)> {
    let number = number_of(host.space(), leaf, lg_page)?;
    let root = Addr::new(at.get().checked_sub(number.checked_mul(8)?)?);
    let end = root.checked_add(bytes(lg_root(lg_page)))?;
    let fits = data.contains(root) && end <= data.end;
    fits.then(|| proven(host.space(), root, lg_page)).flatten()
}

/// The number of a leaf, as the first of its spans says that lies where it is entered.
fn number_of(space: &dyn AddressSpace, leaf: Addr, lg_page: u32) -> Option<u64> {
    let lg_leaf = lg_leaf(lg_page);
    let (mut doubts, mut number) = (0_i64, None);
    let _ = each_word(space, AddrRange::with_len(leaf, bytes(lg_leaf)), &mut |at, value| {
        let index = at.offset_from(leaf).unwrap_or(0) >> 3;
        let span = Span::load(space, Addr::new(value), lg_page);
        let mask = 1_u64.wrapping_shl(lg_leaf).wrapping_sub(1);
        match span.filter(|span| span.first & mask == index) {
            Some(span) => number = Some(span.first.wrapping_shr(lg_leaf)),
            None => doubts = doubts.saturating_add(1),
        }
        let is_over = number.is_some() || doubts > DOUBTS;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    number
}

/// The map with a root, and the entries that prove it without those that contradict it, if there are more of the former.
fn proven(space: &dyn AddressSpace, root: Addr, lg_page: u32) -> Option<(i64, Map)> {
    let leaves = leaves(space, root, lg_page);
    let map = Map { root, lg_page, leaves };
    let mut score = 0_i64;
    let mut seen = 0_i64;
    for (number, leaf) in &map.leaves {
        let base = number.wrapping_shl(lg_leaf(lg_page));
        let _ = each_word(
            space,
            AddrRange::with_len(*leaf, bytes(lg_leaf(lg_page))),
            &mut |at, value| {
                let page = base.saturating_add(at.offset_from(*leaf).unwrap_or(0) >> 3);
                let span = Span::load(space, Addr::new(value), lg_page);
                let holds = span.is_some_and(|span| {
                    span.first <= page && page < span.first.saturating_add(span.pages)
                });
                score = score.saturating_add(if holds { 1 } else { -1 });
                seen = seen.saturating_add(1);
                if seen < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
    }
    (score > seen / 2).then_some((score, map))
}

fn leaves(space: &dyn AddressSpace, root: Addr, lg_page: u32) -> Vec<(u64, Addr)> {
    let mut seen = FxHashSet::default();
    let mut leaves = Vec::new();
    let _ =
        each_word(space, AddrRange::with_len(root, bytes(lg_root(lg_page))), &mut |at, leaf| {
            if leaf.is_multiple_of(8) && space.slice(Addr::new(leaf)).is_ok() && seen.insert(leaf) {
                leaves.push((at.offset_from(root).unwrap_or(0) >> 3, Addr::new(leaf)));
            }
            ControlFlow::Continue(())
        });
    leaves
}
