//! Where memory of a process is, found out while it runs.
//!
//! This is only a plan. Once the process stands still, these areas are looked at again, and then all other memory,
//! since the process may have touched some of it in the meantime.

use kcore_mem::{Addr, AddrRange};

use super::{
    CoreFilter,
    contents::{Content, Contents, Run},
};
use crate::{freeze::Deadline, proc::MapDetails};

/// Areas that are kept, at most; what lies between those that come after belongs to the last one.
const MOST: usize = 1 << 16;

/// Where something was there, lowest first, with gaps between.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Areas(Vec<AddrRange>);

impl Areas {
    /// Looks at mappings, small ones first, until the time is over. Gaps no longer than what
    /// [`Contents::stride`] says lie within an area.
    pub fn find(
        contents: &Contents<'_>,
        maps: &[MapDetails],
        filter: CoreFilter,
        until: Deadline<'_>,
    ) -> Self {
        // Where pages are told by reading them alone, looking twice would read all of them twice.
        let Some(stride) = contents.stride() else { return Self::default() };
        let mut wanted: Vec<_> = maps.iter().map(|map| (filter.wanted(map), map)).collect();
        wanted.retain(|(part, _)| !part.is_empty());
        wanted.sort_by_key(|(part, _)| part.len());
        let mut areas = Vec::new();
        for (part, map) in wanted {
            let runs = contents.runs(map, part, &|| until.is_over());
            let held = runs.iter().filter(|run| is_something(run)).map(|run| run.range);
            // The first look may have found out that the system cannot scan, which shortens the stride.
            areas.extend(merged(held, contents.stride().unwrap_or(stride)));
        }
        areas.sort_by_key(|area: &AddrRange| area.start);
        Self(merged(areas.into_iter(), 0))
    }

    /// The parts of a range, in order and without gaps, and whether each was an area.
    pub fn parts(&self, range: AddrRange) -> Vec<(AddrRange, bool)> {
        let mut parts = Vec::new();
        let mut at = range.start;
        let first = self.0.partition_point(|area| area.end <= at);
        let areas = self.0.get(first..).unwrap_or_default().iter();
        for area in areas.take_while(|area| area.start < range.end) {
            let area = AddrRange::new(area.start.max(at), area.end.min(range.end));
            parts.push((AddrRange::new(at, area.start), false));
            parts.push((area, true));
            at = area.end;
        }
        parts.push((AddrRange::new(at, range.end.max(at)), false));
        parts.retain(|(part, _)| !part.is_empty());
        parts
    }
}

/// Whether it takes time to copy a run.
const fn is_something(run: &Run) -> bool {
    !matches!(run.content, Content::Zeros | Content::Nothing | Content::Unseen | Content::Late)
}

/// Ranges, lowest first; those with no more than a stride between them become one.
fn merged(ranges: impl Iterator<Item = AddrRange>, stride: u64) -> Vec<AddrRange> {
    let mut all: Vec<AddrRange> = Vec::new();
    for range in ranges {
        let is_full = all.len() >= MOST;
        let reach = |last: &AddrRange| Addr::new(last.end.get().saturating_add(stride));
        match all.last_mut().filter(|last| is_full || range.start <= reach(last)) {
            Some(last) => last.end = last.end.max(range.end),
            None => all.push(range),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> AddrRange {
        AddrRange::new(Addr::new(start), Addr::new(end))
    }

    #[test]
    fn short_gaps_belong_to_an_area() {
        let ranges = [range(10, 20), range(25, 30), range(40, 50), range(51, 52)];
        assert_eq!(merged(ranges.into_iter(), 5), [range(10, 30), range(40, 52)]);
        assert_eq!(merged(ranges.into_iter(), 0), ranges);
    }

    #[test]
    fn a_range_is_made_of_areas_and_of_what_lies_between() {
        let areas = Areas(vec![range(10, 20), range(30, 40)]);
        let parts = [(range(15, 20), true), (range(20, 30), false), (range(30, 35), true)];
        assert_eq!(areas.parts(range(15, 35)), parts);
        assert_eq!(areas.parts(range(20, 30)), [(range(20, 30), false)]);
        assert_eq!(areas.parts(range(40, 50)), [(range(40, 50), false)]);
        assert_eq!(areas.parts(range(0, 60)).len(), 5);
        assert!(areas.parts(range(12, 12)).is_empty());
    }
}
