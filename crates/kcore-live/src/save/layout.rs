//! The segments of a core: every mapping is in one or more of them, whatever the core has of it.

use std::collections::HashSet;

use kcore_mem::{Addr, AddrRange};

use super::contents::{Content, Run};
use crate::{
    SnapThread,
    image::{Segment, stack_pointer_of},
    proc::MapDetails,
};

/// Untouched memory in a row that is in the core as zeros, at most, and all together: it takes no room in a
/// file that has holes, but time where zeros are packed. More is not in the core.
const ZEROS: u64 = 64 << 20;
const ZEROS_IN_ALL: u64 = 16 << 30;
/// Writable memory up to which a mapping is copied before larger ones.
const SMALL: u64 = 64 << 20;

/// What comes first when the time may not do for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Stack,
    Small,
    Large,
    ReadOnly,
}

/// A segment, and what it holds.
#[derive(Debug)]
pub struct Planned {
    /// The segment, as it is when all can be copied.
    pub segment: Segment,
    /// What it holds, in order; empty when the core has nothing of it.
    pub runs: Vec<Run>,
    rank: Rank,
}

/// The segments of a core, and how much is not in it.
#[derive(Debug, Default)]
pub struct Layout {
    /// The segments, in the order of addresses.
    pub segments: Vec<Planned>,
    /// Bytes that cannot be read.
    pub refused: u64,
    /// Bytes that are not wanted.
    pub left_out: u64,
    /// Bytes that nobody has ever touched, and that are not in the core.
    pub untouched: u64,
    /// Bytes of which only the file behind them could tell whether they are there, which may not be opened.
    pub unseen: u64,
    /// Bytes that were not looked at, since the time was over.
    pub late: u64,
    /// Pages of stacks that threads stand on.
    stacks: HashSet<Addr>,
    zeros: u64,
}

impl Layout {
    /// With nothing in it yet, of a process that has these threads.
    pub fn of(threads: &[SnapThread], maps: &[MapDetails]) -> Self {
        let pointers = threads.iter().filter_map(stack_pointer_of);
        let stack = |at: Addr| {
            let after = maps.partition_point(|map| map.line.range.start <= at);
            let map = maps.get(after.checked_sub(1)?)?;
            map.line.range.contains(at).then_some(map.line.range.start)
        };
        Self { stacks: pointers.filter_map(stack).collect(), ..Self::default() }
    }

    /// Mappings by what is missed most.
    pub fn ranked(&self, maps: &[MapDetails]) -> Vec<usize> {
        let mut ranked: Vec<usize> = (0..maps.len()).collect();
        ranked.sort_by_key(|index| maps.get(*index).map(|map| self.rank_of(map)));
        ranked
    }

    /// Bytes of memory in the core.
    pub fn memory(&self) -> u64 {
        let sizes = self.segments.iter().map(|planned| planned.segment.file_size);
        sizes.fold(0, u64::saturating_add)
    }

    /// The order in which segments are copied, and so lie in the core: by what is missed most.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.segments.len()).collect();
        order.sort_by_key(|index| self.segments.get(*index).map(|planned| planned.rank));
        order
    }

    /// Takes a mapping, whose wanted part has these runs. The part begins with the mapping; runs may end
    /// before it does, when the time was over.
    pub fn add(&mut self, map: &MapDetails, wanted: AddrRange, runs: Vec<Run>) {
        let mut at = map.line.range.start;
        let runs: Vec<(bool, Run)> =
            runs.into_iter().map(|run| (self.is_held(&run), run)).collect();
        for part in runs.chunk_by(|a, b| a.0 == b.0) {
            let (Some((is_held, first)), Some((_, last))) = (part.first(), part.last()) else {
                continue;
            };
            let range = AddrRange::new(first.range.start, last.range.end);
            at = range.end;
            let part = if *is_held { part } else { &[] };
            self.segment(map, range, part.iter().map(|(_, run)| run.clone()).collect());
        }
        let late = AddrRange::new(at, wanted.end.max(at));
        let rest = AddrRange::new(late.end, map.line.range.end);
        self.late = self.late.saturating_add(late.len());
        self.left_out = self.left_out.saturating_add(rest.len());
        let behind = AddrRange::new(at, map.line.range.end);
        if !behind.is_empty() {
            self.segment(map, behind, Vec::new());
        }
    }

    /// Whether the core has a run; if not it is counted why.
    fn is_held(&mut self, run: &Run) -> bool {
        let len = run.range.len();
        let count = match run.content {
            Content::Nothing => &mut self.refused,
            Content::Unseen => &mut self.unseen,
            Content::Late => &mut self.late,
            Content::Zeros if len > ZEROS || self.zeros.saturating_add(len) > ZEROS_IN_ALL => {
                &mut self.untouched
            }
            Content::Zeros => {
                self.zeros = self.zeros.saturating_add(len);
                return true;
            }
            Content::Memory | Content::Shared(..) | Content::File(..) => return true,
        };
        *count = count.saturating_add(len);
        false
    }

    fn segment(&mut self, map: &MapDetails, range: AddrRange, runs: Vec<Run>) {
        let file_size = if runs.is_empty() { 0 } else { range.len() };
        let rank = self.rank_of(map);
        let segment = Segment { range, flags: map.line.flags, file_size };
        self.segments.push(Planned { segment, runs, rank });
    }

    fn rank_of(&self, map: &MapDetails) -> Rank {
        const PF_W: u32 = 2;
        match map.line.range {
            range if self.stacks.contains(&range.start) => Rank::Stack,
            _ if map.line.flags & PF_W == 0 => Rank::ReadOnly,
            range if range.len() <= SMALL => Rank::Small,
            _ => Rank::Large,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> AddrRange {
        AddrRange::new(Addr::new(start), Addr::new(end))
    }

    fn run(start: u64, end: u64, content: Content) -> Run {
        Run { range: range(start, end), content }
    }

    fn map(line: &str) -> MapDetails {
        MapDetails::parse(format!("{line}\n").as_bytes()).remove(0)
    }

    fn shown(layout: &Layout) -> Vec<(u64, u64, u64)> {
        let segments = layout.segments.iter().map(|planned| planned.segment);
        segments
            .map(|segment| (segment.range.start.get(), segment.range.end.get(), segment.file_size))
            .collect()
    }

    #[test]
    fn a_mapping_is_in_segments_whatever_can_be_read_of_it() {
        let mut layout = Layout::default();
        let runs = vec![
            run(0x1000, 0x2000, Content::Memory),
            run(0x2000, 0x3000, Content::Zeros),
            run(0x3000, 0x4000, Content::Nothing),
            run(0x4000, 0x5000, Content::Memory),
        ];
        layout.add(&map("1000-8000 rw-p 0 0:0 0"), range(0x1000, 0x7000), runs);
        layout.add(&map("9000-a000 ---p 0 0:0 0"), range(0x9000, 0x9000), Vec::new());
        let wanted = [
            (0x1000, 0x3000, 0x2000),
            (0x3000, 0x4000, 0),
            (0x4000, 0x5000, 0x1000),
            (0x5000, 0x8000, 0),
            (0x9000, 0xa000, 0),
        ];
        assert_eq!(shown(&layout), wanted);
        assert_eq!((layout.refused, layout.late, layout.left_out), (0x1000, 0x2000, 0x2000));
        assert_eq!(layout.memory(), 0x3000);
    }

    #[test]
    fn what_nobody_touched_is_zeros_unless_it_is_much() {
        const GIB: u64 = 1 << 30;
        let mut layout = Layout::default();
        let map = map("40000000-100000000000 rw-p 0 0:0 0");
        let runs = vec![
            run(GIB, GIB + ZEROS, Content::Zeros),
            run(GIB + ZEROS, 2 * GIB, Content::Memory),
            run(2 * GIB, 1 << 44, Content::Zeros),
        ];
        layout.add(&map, map.line.range, runs);
        assert_eq!(shown(&layout), [(GIB, 2 * GIB, GIB), (2 * GIB, 1 << 44, 0)]);
        assert_eq!(layout.untouched, (1 << 44) - 2 * GIB);
    }

    #[test]
    fn stacks_are_copied_first_and_what_cannot_be_written_last() {
        let mut layout = Layout { stacks: HashSet::from([Addr::new(0x7000)]), ..Layout::default() };
        for (line, start, end) in [
            ("1000-2000 r-xp 0 0:0 0", 0x1000, 0x2000),
            ("40000000-80000000 rw-p 0 0:0 0", 0x4000_0000, 0x8000_0000),
            ("80000000-80001000 rw-p 0 0:0 0", 0x8000_0000, 0x8000_1000),
            ("7000-8000 rw-p 0 0:0 0", 0x7000, 0x8000),
        ] {
            layout.add(&map(line), range(start, end), vec![run(start, end, Content::Memory)]);
        }
        assert_eq!(layout.order(), [3, 2, 1, 0]);
    }
}
