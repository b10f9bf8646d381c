//! The radix tree that leads from every page to the descriptor of its extent.
//!
//! Two levels of 18 bits each: the root is an array in the module's zeros, its leaves lie in memory of the allocator's own.
//! From `rtree.h`, with `RTREE_LEAF_COMPACT`.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use rustc_hash::FxHashSet;

use super::extent::{Extent, address_in};
use super::layout::{LAYOUTS, LEAF_CLASS, LEAF_SLAB, Layout};
use crate::module_words::{each_word, is_among, is_anonymous, word};
use crate::{HeapHost, HeapModule};

/// Words of the root, and of a leaf.
const WORDS: u64 = 1 << 18;
const BYTES: u64 = WORDS << 3;
const LG_PAGE: u32 = 12;
const PAGES_OF_WORDS: u64 = 512;
/// Entries of a leaf that are looked at to tell whether it is one.
const SAMPLE: u32 = 256;
/// What may contradict it before the rest is not looked at any more.
const DOUBTS: u32 = 24;
/// Pointers that are tried as leaves.
const LEAVES_TRIED: usize = 512;

/// The tree of one copy of the allocator.
#[derive(Debug)]
pub(super) struct Tree {
    /// Where the root lies.
    pub(super) root: Addr,
    pub(super) layout: &'static Layout,
    /// The high bits of the addresses that a leaf holds, and where it lies, lowest first.
    leaves: Vec<(u64, Addr)>,
}

/// An entry of a leaf whose extent begins with its page.
pub(super) struct Entry {
    pub(super) extent: Extent,
    /// What the leaf says.
    pub(super) class: u8,
    pub(super) is_slab: bool,
}

impl Tree {
    /// The tree of a module: where its symbols tell, or by search.
    pub(super) fn find(host: &dyn HeapHost, module: &dyn HeapModule) -> Option<Self> {
        Self::by_symbol(host, module).or_else(|| Self::by_search(host, module))
    }

    fn by_symbol(host: &dyn HeapHost, module: &dyn HeapModule) -> Option<Self> {
        LAYOUTS.iter().find_map(|layout| {
            let (suffix, offset) = layout.root;
            let symbols = module.symbols_ending(suffix);
            symbols
                .iter()
                .find_map(|(_, at, _)| Self::proven(host, at.checked_add(offset)?, layout))
        })
    }

    /// Looks for a pointer to a leaf: its entries lead to descriptors that say at which page they are entered. Where a
    /// leaf is entered in the root follows from those as well.
    fn by_search(host: &dyn HeapHost, module: &dyn HeapModule) -> Option<Self> {
        let data = module.data();
        let mut tried = FxHashSet::default();
        let mut found = None;
        for range in data.iter().rev() {
            let _ = each_word(host.space(), *range, &mut |at, value| {
                if may_be_leaf(host, value)
                    && is_among(host, at, &|value| may_be_leaf(host, value))
                    && tried.insert(value)
                {
                    found = Self::led_to_by(host, *range, at, Addr::new(value));
                }
                let is_over = found.is_some() || tried.len() >= LEAVES_TRIED;
                if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        found
    }

    /// The tree in whose root the word at `at` leads to a leaf.
    fn led_to_by(host: &dyn HeapHost, data: AddrRange, at: Addr, leaf: Addr) -> Option<Self> {
        LAYOUTS.iter().find_map(|layout| {
            let region = region_of(host.space(), layout, leaf)?;
            let root = Addr::new(at.get().checked_sub(region.checked_mul(8)?)?);
            let fits = data.contains(root) && root.saturating_add(BYTES) <= data.end;
            fits.then(|| Self::proven(host, root, layout)).flatten()
        })
    }

    /// The tree with this root, if more of its entries prove it than contradict it, and the descriptors say of themselves
    /// what the leaves say of them.
    fn proven(host: &dyn HeapHost, root: Addr, layout: &'static Layout) -> Option<Self> {
        let space = host.space();
        let tree = Self { root, layout, leaves: leaves(space, root) };
        let (mut same, mut other) = (0_u32, 0_u32);
        let _ = tree.each_entry(
            space,
            AddrRange::new(Addr::new(0), Addr::new(u64::MAX)),
            &mut |entry| {
                let agrees =
                    entry.class == entry.extent.class && entry.is_slab == entry.extent.is_slab;
                // Leaves say nothing true of the classes of free extents.
                if entry.extent.state == super::extent::ExtentState::Active {
                    let counter = if agrees { &mut same } else { &mut other };
                    *counter = counter.saturating_add(1);
                }
                if same.saturating_add(other) < SAMPLE {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            },
        );
        (same > 0 && same / 16 >= other).then_some(tree)
    }

    /// Tells of every extent in a range, lowest first.
    pub(super) fn each_entry(
        &self,
        space: &dyn AddressSpace,
        within: AddrRange,
        tell: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let last = within.end.get().saturating_sub(1) >> LG_PAGE;
        // The extent that holds the first address may begin before it.
        let first = Some(within.start).filter(|start| start.get() > 0);
        let first =
            first.and_then(|start| self.extent_at(space, start)).map(|extent| extent.pages.start);
        let mut page = first.unwrap_or(within.start).get() >> LG_PAGE;
        for (region, leaf) in &self.leaves {
            let (first, end) = (region << 18, region.saturating_add(1) << 18);
            page = page.max(first);
            while page < end && page <= last {
                let slot = leaf.saturating_add(page.wrapping_sub(first) << 3);
                let Some((skipped, bits)) = next_entry(space, slot, end.wrapping_sub(page)) else {
                    break;
                };
                page = page.saturating_add(skipped);
                if page > last {
                    break;
                }
                page = self.enter(space, page, bits, tell)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Tells of the extent of an entry, if it begins there; gives the page to go on with.
    fn enter(
        &self,
        space: &dyn AddressSpace,
        page: u64,
        bits: u64,
        tell: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> ControlFlow<(), u64> {
        let next = page.saturating_add(1);
        let Some(entry) = self.entry(space, bits) else { return ControlFlow::Continue(next) };
        let pages = entry.extent.pages;
        if pages.start.get() >> LG_PAGE != page {
            return ControlFlow::Continue(next);
        }
        tell(entry)?;
        ControlFlow::Continue((pages.end.get() >> LG_PAGE).max(next))
    }

    fn entry(&self, space: &dyn AddressSpace, bits: u64) -> Option<Entry> {
        let descriptor = Addr::new(bits & self.layout.pointer);
        let extent =
            Extent::load(space, self.layout, descriptor).filter(|_| descriptor.get() != 0)?;
        Some(Entry { extent, class: LEAF_CLASS.of(bits) as u8, is_slab: LEAF_SLAB.of(bits) == 1 })
    }

    /// The extent that holds an address. Slabs are entered at each of their pages, others at the first and the last.
    pub(super) fn extent_at(&self, space: &dyn AddressSpace, at: Addr) -> Option<Extent> {
        let page = at.get() >> LG_PAGE;
        let through = self.leaves.partition_point(|(region, _)| *region <= page >> 18);
        for (region, leaf) in self.leaves.get(..through)?.iter().rev() {
            let first = region << 18;
            let from = page.wrapping_sub(first).min(WORDS.wrapping_sub(1));
            if let Some(bits) = last_entry(space, *leaf, from) {
                let extent = self.entry(space, bits)?.extent;
                return extent.pages.contains(at).then_some(extent);
            }
        }
        None
    }

    /// Where its leaves lie.
    pub(super) fn leaves(&self) -> impl Iterator<Item = Addr> {
        self.leaves.iter().map(|(_, leaf)| *leaf)
    }

    /// The memory of its leaves.
    pub(super) fn leaf_bytes(&self) -> u64 {
        (self.leaves.len() as u64).saturating_mul(BYTES)
    }
}

/// Whether a word could lead to a leaf: 2 MiB of memory that is no file's.
fn may_be_leaf(host: &dyn HeapHost, value: u64) -> bool {
    let at = Addr::new(value);
    value.is_multiple_of(64)
        && value >> 47 == 0
        && value > 0x1_0000
        && host.mapping_at(at).is_some_and(|mapping| {
            mapping.writable && !mapping.is_file && mapping.range.end >= at.saturating_add(BYTES)
        })
        && is_anonymous(host, at)
}

/// The region whose pages a leaf holds, if most of its entries agree on one.
fn region_of(space: &dyn AddressSpace, layout: &Layout, leaf: Addr) -> Option<u64> {
    let (mut proofs, mut doubts, mut region) = (0_u32, 0_u32, None);
    let _ = each_word(space, AddrRange::with_len(leaf, BYTES), &mut |at, bits| {
        let descriptor = Addr::new(bits & layout.pointer);
        if descriptor.get() == 0 {
            return ControlFlow::Continue(());
        }
        let index = at.offset_from(leaf).unwrap_or(0) >> 3;
        let page = address_in(space, descriptor).map(|address| address >> LG_PAGE);
        match page.filter(|page| page & WORDS.wrapping_sub(1) == index) {
            Some(page) if region.is_none_or(|region| region == page >> 18) => {
                region = Some(page >> 18);
                proofs = proofs.saturating_add(1);
            }
            // An inner page of a slab, or the last page of a large extent: both lie behind its first one.
            _ if is_inner(page, region, index) => {}
            _ => doubts = doubts.saturating_add(1),
        }
        let enough = proofs >= SAMPLE || doubts >= DOUBTS.saturating_add(proofs);
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    region.filter(|_| proofs > doubts)
}

fn is_inner(page: Option<u64>, region: Option<u64>, index: u64) -> bool {
    page.zip(region).is_some_and(|(page, region)| {
        page >> 18 <= region && (region << 18 | index) > page && page >> 36 == 0
    })
}

/// The leaves that a root leads to. Each counts once, whatever the root says.
fn leaves(space: &dyn AddressSpace, root: Addr) -> Vec<(u64, Addr)> {
    let mut seen = FxHashSet::default();
    let mut leaves = Vec::new();
    let _ = each_word(space, AddrRange::with_len(root, BYTES), &mut |at, leaf| {
        let region = at.offset_from(root).unwrap_or(0) >> 3;
        if leaf.is_multiple_of(64) && space.slice(Addr::new(leaf)).is_ok() && seen.insert(leaf) {
            leaves.push((region, Addr::new(leaf)));
        }
        ControlFlow::Continue(())
    });
    leaves
}

/// The next word that is not zero of so many from `slot` on: how many lie before it, and what it holds.
fn next_entry(space: &dyn AddressSpace, slot: Addr, count: u64) -> Option<(u64, u64)> {
    let mut found = None;
    let _ = each_word(space, AddrRange::with_len(slot, count << 3), &mut |at, bits| {
        found = Some((at.offset_from(slot).unwrap_or(0) >> 3, bits));
        ControlFlow::Break(())
    });
    found
}

/// The last entry of a leaf up to an index that leads to a descriptor.
fn last_entry(space: &dyn AddressSpace, leaf: Addr, from: u64) -> Option<u64> {
    let mut index = from;
    loop {
        let slot = leaf.saturating_add(index << 3);
        if space.slice(slot).is_err() {
            // A page of words that has no bytes.
            index = index.checked_sub(index % PAGES_OF_WORDS)?;
        } else {
            let bits = word(space, slot);
            // Old size classes stay where the descriptor is gone.
            if bits & 0x0000_ffff_ffff_ff80 != 0 {
                return Some(bits);
            }
        }
        index = index.checked_sub(1)?;
    }
}
