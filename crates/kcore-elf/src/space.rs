//! The memory of a core file.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use kcore_mem::{Addr, AddrRange, AddressSpace, Fault, Origin, Region, Target};

use crate::{CoreFile, FileBytes, PageReads, core_file::CoreSegment};

/// The memory that a core file holds, without what files of modules could add.
#[derive(Debug)]
pub struct CoreSpace {
    bytes: FileBytes,
    target: Target,
    segments: Vec<CoreSegment>,
    /// Where its bytes come from: a core file, or the snapshot of a live process.
    origin: Origin,
    /// The segment that was asked for last: a walk asks for its stack again and again.
    last: AtomicUsize,
    /// Who notes what is read.
    reads: Option<Arc<PageReads>>,
}

impl CoreSpace {
    /// Lays out the memory of `core`. Segments may come in any order; where two overlap, the one
    /// that begins higher counts from where it begins.
    pub fn new(core: &CoreFile) -> Self {
        Self::with_origin(core, Origin::Core)
    }

    /// As [`CoreSpace::new`], for a core that was never a file: a snapshot of a live process.
    pub fn of_snapshot(core: &CoreFile) -> Self {
        Self::with_origin(core, Origin::Snapshot)
    }

    fn with_origin(core: &CoreFile, origin: Origin) -> Self {
        let mut segments: Vec<_> =
            core.segments().iter().filter(|segment| segment.is_load()).copied().collect();
        segments.sort_by_key(|segment| segment.range.start);
        Self {
            bytes: core.bytes().clone(),
            target: core.target(),
            segments,
            origin,
            last: AtomicUsize::new(0),
            reads: None,
        }
    }

    /// The same, and `reads` notes what is read of it. A run of bytes ends with its page then.
    pub fn noted_by(self, reads: Arc<PageReads>) -> Self {
        Self { reads: Some(reads), ..self }
    }

    /// Where its bytes come from.
    pub const fn bytes_origin(&self) -> Origin {
        self.origin
    }

    /// Why an address that is mapped has no bytes.
    fn left_out(&self, at: Addr) -> Fault {
        if self.origin == Origin::Snapshot { Fault::NotCopied(at) } else { Fault::NotDumped(at) }
    }

    /// The segments that describe memory, lowest address first.
    pub fn segments(&self) -> &[CoreSegment] {
        &self.segments
    }

    /// The segment that holds `at`.
    pub fn segment_at(&self, at: Addr) -> Option<&CoreSegment> {
        let last = self.last.load(Ordering::Relaxed);
        let holds = |segment: &&CoreSegment| segment.range.contains(at);
        // Where two overlap, the next one counts from where it begins.
        let is_next = |next: &CoreSegment| next.range.start <= at;
        if let Some(segment) = self.segments.get(last).filter(holds)
            && !self.segments.get(last.saturating_add(1)).is_some_and(is_next)
        {
            return Some(segment);
        }
        let after = self.segments.partition_point(|segment| segment.range.start <= at);
        let index = after.checked_sub(1)?;
        self.last.store(index, Ordering::Relaxed);
        self.segments.get(index).filter(holds)
    }

    /// The first segment that begins behind `at`.
    pub fn segment_after(&self, at: Addr) -> Option<&CoreSegment> {
        let after = self.segments.partition_point(|segment| segment.range.start <= at);
        self.segments.get(after)
    }

    /// The part of a segment whose bytes the file holds.
    fn held(&self, segment: &CoreSegment) -> AddrRange {
        let left = (self.bytes.len() as u64).saturating_sub(segment.offset.get());
        let len = segment.file_size.min(left).min(segment.range.len());
        AddrRange::with_len(segment.range.start, len)
    }

    /// Where the bytes from `at` to the end of what the file holds of the segment lie in the file.
    fn file_range(&self, segment: &CoreSegment, at: Addr) -> Option<Range<usize>> {
        let held = self.held(segment);
        let into = at.offset_from(held.start).filter(|into| *into < held.len())?;
        let start = usize::try_from(segment.offset.checked_add(into)?.get()).ok()?;
        let len = usize::try_from(held.len().checked_sub(into)?).ok()?;
        Some(start..start.checked_add(len)?)
    }
}

impl AddressSpace for CoreSpace {
    fn target(&self) -> Target {
        self.target
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let segment = self.segment_at(at).ok_or(Fault::Unmapped(at))?;
        let range = self.file_range(segment, at).ok_or_else(|| {
            let dumped = AddrRange::with_len(segment.range.start, segment.file_size);
            if dumped.contains(at) { Fault::Truncated(at) } else { self.left_out(at) }
        })?;
        let bytes = self.bytes.intact(range).ok_or(Fault::Unreadable(at))?;
        Ok(match &self.reads {
            Some(reads) => reads.first_page(at, bytes),
            None => bytes,
        })
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| self.origin)
    }

    fn regions(&self) -> Vec<Region> {
        let next = self.segments.iter().skip(1).map(|next| next.range.start);
        let ends = next.chain([Addr::new(u64::MAX)]);
        let held = self.segments.iter().zip(ends).map(|(segment, end)| {
            let held = self.held(segment);
            AddrRange::new(held.start, held.end.min(end))
        });
        held.filter(|range| !range.is_empty())
            .map(|range| Region { range, origin: self.origin })
            .collect()
    }

    fn first_data(&self, mut range: AddrRange) -> Option<AddrRange> {
        // Where the rest of a segment is a hole, the next one may hold more.
        loop {
            let segment = self.segment_at(range.start);
            let in_file = segment.and_then(|segment| self.file_range(segment, range.start));
            let Some(in_file) = in_file else { return Some(range) };
            let len = usize::try_from(range.len()).unwrap_or(usize::MAX);
            let end = in_file.end.min(in_file.start.saturating_add(len));
            let at =
                |offset: usize| range.start.saturating_add(offset.abs_diff(in_file.start) as u64);
            if let Some(data) = self.bytes.first_data(in_file.start..end) {
                return Some(AddrRange::new(at(data.start), at(data.end)));
            }
            let next = at(end);
            if next >= range.end || next <= range.start {
                return None;
            }
            range = AddrRange::new(next, range.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kcore_mem::FileOff;

    fn segment(start: u64, offset: u64, file_size: u64, mem_size: u64) -> CoreSegment {
        CoreSegment {
            kind: 1,
            flags: 6,
            offset: FileOff::new(offset),
            range: AddrRange::with_len(Addr::new(start), mem_size),
            file_size,
        }
    }

    /// Whole at 0x1000, half dumped at 0x2000, cut off by the end of the file at 0x4000.
    fn space() -> CoreSpace {
        let segments = vec![
            segment(0x1000, 0, 0x10, 0x10),
            segment(0x2000, 0x10, 0x8, 0x10),
            segment(0x4000, 0x18, 0x10, 0x10),
        ];
        let bytes: Vec<u8> = (0..0x20).collect();
        CoreSpace {
            bytes: bytes.into(),
            target: Target::X86_64,
            segments,
            origin: Origin::Core,
            last: AtomicUsize::new(0),
            reads: None,
        }
    }

    #[test]
    fn the_three_answers_are_bytes_not_dumped_and_not_mapped() {
        let space = space();
        assert_eq!(space.slice(Addr::new(0x100f)), Ok(&[0x0f][..]));
        assert_eq!(space.slice(Addr::new(0x2008)), Err(Fault::NotDumped(Addr::new(0x2008))));
        assert_eq!(space.slice(Addr::new(0x3000)), Err(Fault::Unmapped(Addr::new(0x3000))));
        assert_eq!(space.slice(Addr::new(0)), Err(Fault::Unmapped(Addr::new(0))));
    }

    #[test]
    fn what_the_file_lost_is_neither_zero_nor_never_dumped() {
        let space = space();
        assert_eq!(space.slice(Addr::new(0x4007)), Ok(&[0x1f][..]));
        assert_eq!(space.slice(Addr::new(0x4008)), Err(Fault::Truncated(Addr::new(0x4008))));
    }

    #[test]
    fn regions_are_what_the_file_holds() {
        let lengths: Vec<_> = space().regions().iter().map(|region| region.range.len()).collect();
        assert_eq!(lengths, [0x10, 0x8, 0x8]);
    }

    #[test]
    fn regions_of_segments_that_overlap_are_those_that_reads_see() {
        let mut space = space();
        space.segments = vec![segment(0x1000, 0, 0x10, 0x10), segment(0x1008, 0x10, 0x4, 0x10)];
        let regions = space.regions();
        let ranges: Vec<_> =
            regions.iter().map(|it| (it.range.start.get(), it.range.len())).collect();
        assert_eq!(ranges, [(0x1000, 8), (0x1008, 4)]);
        assert_eq!(space.slice(Addr::new(0x1008)).map(<[u8]>::len), Ok(4));
    }

    #[test]
    fn data_is_found_in_a_segment_behind_one_that_is_a_hole() {
        const MIB: u64 = 1 << 20;
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 * MIB).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &[1; 16], 3 * MIB).unwrap();
        let segments =
            [0, 1].map(|part| segment((4 + part * 2) * MIB, part * 2 * MIB, 2 * MIB, 2 * MIB));
        let bytes = FileBytes::map_sparse(&file).unwrap();
        let space = CoreSpace { bytes, segments: segments.into(), ..space() };
        let range = AddrRange::new(Addr::new(4 * MIB), Addr::new(8 * MIB));
        let found = space.first_data(range).expect("there is data");
        // A file system without holes stores the zeros too, and then the data begins at once.
        let is_whole = found.start == range.start;
        assert!(is_whole || found.contains(Addr::new(7 * MIB)), "{found:?}");
    }

    #[test]
    fn a_segment_at_the_end_of_the_file_size_type_holds_nothing() {
        let mut space = space();
        space.segments = vec![segment(0x1000, u64::MAX - 4, u64::MAX, u64::MAX)];
        assert!(space.slice(Addr::new(0x1000)).is_err());
    }
}
