//! Segments of 2.x: 32 MiB each, or longer for one huge block, at multiples of 32 MiB.

use std::collections::BTreeMap;

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::layout::{Layout, SegmentLayout};
use super::page::{Page, SLICE, Slices};
use crate::HeapHost;

const ALIGNMENT: u64 = 32 << 20;
/// Slices of a segment's header, at most: it has a descriptor for each slice.
const MAX_INFO: u64 = 64;
const MAX_SLICES: u64 = 512;

/// A segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) at: Addr,
    /// Slices in all, of its header, and with a descriptor.
    slices: u64,
    info: u64,
    entries: u64,
    /// The thread pointer of the owner; 0 if it is gone.
    thread: u64,
    /// Its cookie without its address: the same in all segments of a process.
    pub(super) key: u64,
}

impl Segment {
    fn load(
        space: &dyn AddressSpace,
        layout: &Layout,
        own: &SegmentLayout,
        at: Addr,
    ) -> Option<Self> {
        let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let segment = Self {
            at,
            slices: word(own.slices)?,
            info: word(own.info_slices)?,
            entries: word(own.entries)?,
            thread: word(own.thread)?,
            key: word(own.cookie).filter(|cookie| *cookie != 0)? ^ at.get(),
        };
        let kind = space.read_uint(at.checked_add(own.kind)?, 4).ok()?;
        // The first descriptor describes the header of the segment.
        let header = space.read_uint(at.checked_add(own.pages)?, 4).ok()?;
        let is_segment = kind < 2
            && (1..=MAX_INFO).contains(&segment.info)
            && header == segment.info
            && segment.entries >= segment.info
            && segment.entries <= MAX_SLICES
            && segment.slices < 1 << 31
            && at.checked_add(segment.slices.checked_mul(SLICE)?).is_some();
        (is_segment && segment.ends_exactly(space, layout, own)).then_some(segment)
    }

    /// Whether its spans, one after the other, end where it ends.
    fn ends_exactly(&self, space: &dyn AddressSpace, layout: &Layout, own: &SegmentLayout) -> bool {
        let mut ends = self.info;
        let walked = self.spans(space, layout, own).all(|(slice, count, _)| {
            ends = slice.saturating_add(count);
            count > 0
        });
        walked && ends >= self.entries
    }

    /// Its spans: the first slice, how many slices, and the descriptor.
    fn spans<'s>(
        &self,
        space: &'s dyn AddressSpace,
        layout: &Layout,
        own: &SegmentLayout,
    ) -> impl Iterator<Item = (u64, u64, Addr)> + 's {
        let (mut slice, entries) = (self.info, self.entries);
        let (base, bytes) = (self.at.saturating_add(own.pages), layout.page.bytes);
        std::iter::from_fn(move || {
            let at = base.saturating_add(slice.checked_mul(bytes)?);
            let count = space.read_uint(at, 4).ok().filter(|_| slice < entries)?;
            let first = slice;
            // A span of none would not end.
            slice = if count == 0 { entries } else { slice.saturating_add(count) };
            Some((first, count, at))
        })
    }

    /// Its pages, lowest first: spans whose blocks have a size.
    pub(super) fn pages(
        &self,
        space: &dyn AddressSpace,
        layout: &Layout,
        own: &SegmentLayout,
    ) -> Vec<Page> {
        let spans = self.spans(space, layout, own);
        let page = |(slice, count, at): (u64, u64, Addr)| {
            let first = self.at.saturating_add(slice.saturating_mul(SLICE));
            Page::load(space, &layout.page, at, Some(Slices { first, count }), self.thread)
        };
        let end = self.range().end;
        spans.filter_map(page).filter(|page| page.start >= self.at && page.start < end).collect()
    }

    /// Its memory.
    pub(super) fn range(&self) -> AddrRange {
        AddrRange::with_len(self.at, self.slices.saturating_mul(SLICE))
    }

    /// Bytes of its header.
    pub(super) const fn metadata(&self) -> u64 {
        self.info.saturating_mul(SLICE)
    }
}

/// The segments of a process by a layout, lowest first.
pub(super) fn find(host: &dyn HeapHost, layout: &Layout, own: &SegmentLayout) -> Vec<Segment> {
    let anonymous = host.mappings().iter().filter(|mapping| mapping.writable && !mapping.is_file);
    let starts = anonymous.flat_map(|mapping| {
        let first = mapping.range.start.get().next_multiple_of(ALIGNMENT);
        (first..mapping.range.end.get()).step_by(ALIGNMENT as usize)
    });
    let found = starts.filter_map(|at| Segment::load(host.space(), layout, own, Addr::new(at)));
    let mut end = Addr::new(0);
    // A huge one may hold what looks like another.
    let apart = found.filter(|segment| {
        let is_apart = segment.at >= end;
        if is_apart {
            end = segment.range().end;
        }
        is_apart
    });
    of_one_copy(apart.collect())
}

/// Those with the cookie that most have: others only look like segments, or are another copy's.
fn of_one_copy(mut segments: Vec<Segment>) -> Vec<Segment> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for segment in &segments {
        let count = counts.entry(segment.key).or_default();
        *count = count.saturating_add(1);
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(key, _)| key);
    segments.retain(|segment| Some(segment.key) == most);
    segments
}
