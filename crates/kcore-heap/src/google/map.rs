//! The map from pages to spans: two levels, whose root lies in the module's data (`PageMap2`).

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use rustc_hash::FxHashSet;

use super::descriptors::Descriptors;
use super::layout::{LAYOUTS, Layout};
use super::span::Span;
use crate::module_words::{each_word, is_anonymous, word};
use crate::{HeapHost, HeapModule};

/// The lower part of an entry leads to the span, the upper one has the size class again (`PackedSpanAndSizeclass`).
const SPAN: u64 = (1 << 48) - 1;
/// Words of the data that are tried as pointers to leaves.
const MAX_TRIED: usize = 4096;
/// Entries of a leaf that are looked at to tell whether it is one.
const SAMPLE: i64 = 256;
/// Leaves that are kept: each is for 256 MiB.
const MAX_LEAVES: usize = 1 << 20;
/// Pages of one block: 32 GiB of the smallest ones.
const MAX_PAGES: u64 = 1 << 22;

/// All addresses.
pub(super) const EVERYWHERE: AddrRange = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));

/// The map of one copy of the allocator.
#[derive(Debug)]
pub(super) struct Map {
    /// Where the root lies.
    pub(super) root: Addr,
    pub(super) layout: Layout,
    /// The number of each leaf, and where it lies, lowest first.
    leaves: Vec<(u64, Addr)>,
}

impl Map {
    /// The map whose root is known, if its leaves prove it.
    pub(super) fn at(host: &dyn HeapHost, module: &dyn HeapModule, root: Addr) -> Option<Self> {
        let data = module.data().into_iter().find(|data| data.contains(root))?;
        LAYOUTS.iter().find_map(|layout| Self::proven(host.space(), *layout, root, data))
    }

    /// The map of a module, found by pointers to leaves: spans in them say which pages they have, and so where the root is.
    pub(super) fn find(host: &dyn HeapHost, module: &dyn HeapModule) -> Option<Self> {
        LAYOUTS.iter().find_map(|layout| Self::with_layout(host, module, *layout))
    }

    fn with_layout(host: &dyn HeapHost, module: &dyn HeapModule, layout: Layout) -> Option<Self> {
        let (mut tried, mut found) = (FxHashSet::default(), None);
        for data in module.data() {
            let _ = each_word(host.space(), data, &mut |at, leaf| {
                if may_be_leaf(host, layout, leaf) && tried.insert(leaf) {
                    let root = root_of(host.space(), layout, at, Addr::new(leaf));
                    let root = root.filter(|root| data.contains(*root));
                    found = root.and_then(|root| Self::proven(host.space(), layout, root, data));
                }
                match found.is_some() || tried.len() >= MAX_TRIED {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
            if found.is_some() {
                break;
            }
        }
        found
    }

    /// The map with a root in some data, if more of its entries prove it than contradict it.
    fn proven(
        space: &dyn AddressSpace,
        layout: Layout,
        root: Addr,
        data: AddrRange,
    ) -> Option<Self> {
        let table = AddrRange::with_len(root, layout.root_bytes()).intersection(&data)?;
        let map = Self { root, layout, leaves: leaves(space, table) };
        let (mut right, mut seen) = (0_i64, 0_i64);
        for leaf in &map.leaves {
            let _ = map.each_entry(space, *leaf, &mut |page, entry, class| {
                // The entry of a freed page has lost its class in the table, and keeps it in its upper 16 bits.
                let is_right = match (class, entry >> 48) {
                    (0, 1..) => return ControlFlow::Continue(()),
                    (class, again) => u64::from(class) == again || again == 0,
                };
                let span = Span::load(space, layout, Addr::new(entry & SPAN), class);
                let holds =
                    |span: &Span| span.first <= page && page.wrapping_sub(span.first) < span.pages;
                right =
                    right.saturating_add(i64::from(is_right && span.as_ref().is_some_and(holds)));
                seen = seen.saturating_add(1);
                if seen < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
        }
        (right > seen / 2).then_some(map)
    }

    /// Tells of the entries of a leaf that lead somewhere: the page, the entry, and its size class.
    fn each_entry(
        &self,
        space: &dyn AddressSpace,
        (number, leaf): (u64, Addr),
        tell: &mut dyn FnMut(u64, u64, u16) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let entries = leaf.saturating_add(self.layout.spans_at());
        let base = number.saturating_mul(self.layout.leaf_entries());
        let table = AddrRange::with_len(entries, self.layout.leaf_entries() << 3);
        each_word(space, table, &mut |at, entry| {
            let index = at.offset_from(entries).unwrap_or(0) >> 3;
            tell(base.saturating_add(index), entry, self.class_at(space, leaf, index))
        })
    }

    fn class_at(&self, space: &dyn AddressSpace, leaf: Addr, index: u64) -> u16 {
        let at = leaf.saturating_add(index.saturating_mul(self.layout.class_bytes));
        let class = space.read_uint(at, self.layout.class_bytes as usize).unwrap_or(0);
        u16::try_from(class).unwrap_or(u16::MAX)
    }

    /// Tells of all spans that the program has and that begin in a range, or hold its begin, lowest first. Entries of spans
    /// that were freed are left as they were: of those with small blocks the size class is gone; the descriptors of all
    /// of them are among those that are free, or have become other spans.
    pub(super) fn each_span(
        &self,
        space: &dyn AddressSpace,
        descriptors: &Descriptors,
        within: AddrRange,
        tell: &mut dyn FnMut(Span) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let first = Some(within.start).filter(|start| start.get() > 0);
        let first = first.and_then(|start| self.span_at(space, descriptors, start));
        let first = first.map_or(within.start, |span| span.range.start);
        let mut next = first.get().wrapping_shr(self.layout.lg_page);
        let last = within.end.get().saturating_sub(1).wrapping_shr(self.layout.lg_page);
        let leaves = self.layout.leaf_of(next)..=self.layout.leaf_of(last);
        for leaf in self.leaves.iter().filter(|(number, _)| leaves.contains(number)) {
            self.each_entry(space, *leaf, &mut |page, entry, class| {
                if page < next || page > last {
                    return ControlFlow::Continue(());
                }
                let span = self.live(space, descriptors, page, entry, class);
                let Some(span) = span.filter(|span| span.first == page) else {
                    return ControlFlow::Continue(());
                };
                next = page.saturating_add(span.pages);
                tell(span)
            })?;
        }
        ControlFlow::Continue(())
    }

    /// The span that an entry leads to, if it is one that the program has.
    fn live(
        &self,
        space: &dyn AddressSpace,
        descriptors: &Descriptors,
        page: u64,
        entry: u64,
        class: u16,
    ) -> Option<Span> {
        let was_freed = class == 0 && entry >> 48 != 0;
        let at = Addr::new(entry & SPAN);
        if was_freed || descriptors.is_free(at) {
            return None;
        }
        let span = Span::load(space, self.layout, at, class)?;
        (span.first <= page && page.wrapping_sub(span.first) < span.pages).then_some(span)
    }

    /// The span that holds an address: those with small blocks are entered at each page, others at the first.
    pub(super) fn span_at(
        &self,
        space: &dyn AddressSpace,
        descriptors: &Descriptors,
        at: Addr,
    ) -> Option<Span> {
        let page = at.get().wrapping_shr(self.layout.lg_page);
        // Where a large span lies that begins below can only be told from what is entered there.
        let leaf = self.layout.leaf_of(page);
        let below = self.leaves.partition_point(|(number, _)| *number <= leaf);
        let mut steps = 0_u64;
        for (number, table) in self.leaves.get(..below)?.iter().rev() {
            let base = number.saturating_mul(self.layout.leaf_entries());
            let entries = table.saturating_add(self.layout.spans_at());
            let top = page.min(base.saturating_add(self.layout.leaf_entries()).saturating_sub(1));
            for here in (base..=top).rev() {
                steps = steps.saturating_add(1);
                if steps > MAX_PAGES {
                    return None;
                }
                let index = here.wrapping_sub(base);
                let entry = word(space, entries.saturating_add(index << 3));
                if entry == 0 {
                    continue;
                }
                let class = self.class_at(space, *table, index);
                if let Some(span) = self.live(space, descriptors, here, entry, class) {
                    return span.range.contains(at).then_some(span);
                }
            }
        }
        None
    }

    /// Bytes of its leaves.
    pub(super) fn leaf_bytes(&self) -> u64 {
        (self.leaves.len() as u64).saturating_mul(self.layout.leaf_bytes())
    }

    /// Where its leaves lie.
    pub(super) fn leaves(&self) -> impl Iterator<Item = Addr> {
        self.leaves.iter().map(|(_, leaf)| *leaf)
    }

    /// How many spans there are, of all contents.
    pub(super) fn count(&self, space: &dyn AddressSpace, descriptors: &Descriptors) -> u64 {
        let mut count = 0_u64;
        let _ = self.each_span(space, descriptors, EVERYWHERE, &mut |_| {
            count = count.saturating_add(1);
            ControlFlow::Continue(())
        });
        count
    }
}

fn may_be_leaf(host: &dyn HeapHost, layout: Layout, value: u64) -> bool {
    let at = Addr::new(value);
    let end = at.saturating_add(layout.spans_at());
    value.is_multiple_of(8)
        && value >> 47 == 0
        && host.mapping_at(at).is_some_and(|mapping| mapping.range.end > end)
        && is_anonymous(host, at)
}

/// The root in which the word at `at` leads to a leaf, as the first span says that is entered at its first page.
fn root_of(space: &dyn AddressSpace, layout: Layout, at: Addr, leaf: Addr) -> Option<Addr> {
    let entries = leaf.saturating_add(layout.spans_at());
    let table = AddrRange::with_len(entries, layout.leaf_entries() << 3);
    let (mut doubts, mut number) = (0_i64, None);
    let _ = each_word(space, table, &mut |at, entry| {
        let index = at.offset_from(entries).unwrap_or(0) >> 3;
        let span = Span::load(space, layout, Addr::new(entry & SPAN), 0);
        match span.filter(|span| layout.index_of(span.first) == index) {
            Some(span) => number = Some(layout.leaf_of(span.first)),
            None => doubts = doubts.saturating_add(1),
        }
        let is_over = number.is_some() || doubts > SAMPLE;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    at.get().checked_sub(number?.checked_mul(8)?).map(Addr::new)
}

/// The leaves that a root leads to, with their numbers.
fn leaves(space: &dyn AddressSpace, root: AddrRange) -> Vec<(u64, Addr)> {
    let (mut seen, mut leaves) = (FxHashSet::default(), Vec::new());
    let _ = each_word(space, root, &mut |at, leaf| {
        if leaf.is_multiple_of(8) && space.slice(Addr::new(leaf)).is_ok() && seen.insert(leaf) {
            leaves.push((at.offset_from(root.start).unwrap_or(0) >> 3, Addr::new(leaf)));
        }
        if leaves.len() < MAX_LEAVES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    leaves
}
