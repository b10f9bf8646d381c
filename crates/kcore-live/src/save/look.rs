//! The look at all pages once the process stands still.

use kcore_mem::AddrRange;

use super::{
    Areas, CoreFilter,
    contents::{Content, Contents, Run},
    layout::Layout,
};
use crate::proc::MapDetails;

/// A part of a mapping that is looked at at once.
struct Part {
    map: usize,
    range: AddrRange,
    runs: Vec<Run>,
}

/// What is known before the look.
pub struct SecondLook<'a> {
    /// The mappings as they are.
    pub maps: &'a [MapDetails],
    /// What is wanted of them.
    pub filter: CoreFilter,
    /// Where something was there a moment ago.
    pub areas: &'a Areas,
}

impl SecondLook<'_> {
    /// The runs of each mapping. First it is looked where something was there before, in the order of what is missed
    /// most, and then at all else, short parts before long ones. What was not looked at once `is_over` says so is
    /// [`Content::Late`].
    pub fn look(
        &self,
        contents: &Contents<'_>,
        layout: &Layout,
        is_over: &dyn Fn() -> bool,
    ) -> Vec<Vec<Run>> {
        let mut parts = self.parts(layout);
        for part in &mut parts {
            let Some(map) = self.maps.get(part.map) else { continue };
            if map.is_told && !is_over() {
                part.runs = contents.runs(map, part.range, is_over);
            }
        }
        self.joined(parts)
    }

    /// All parts that are wanted, in the order in which they are looked at.
    fn parts(&self, layout: &Layout) -> Vec<Part> {
        let (mut known, mut others) = (Vec::new(), Vec::new());
        for index in layout.ranked(self.maps) {
            let wanted = self.maps.get(index).map(|map| self.filter.wanted(map));
            for (range, is_known) in wanted.into_iter().flat_map(|part| self.areas.parts(part)) {
                let parts = if is_known { &mut known } else { &mut others };
                parts.push(Part { map: index, range, runs: Vec::new() });
            }
        }
        others.sort_by_key(|part| part.range.len());
        known.append(&mut others);
        known
    }

    fn joined(&self, mut parts: Vec<Part>) -> Vec<Vec<Run>> {
        parts.sort_by_key(|part| part.range.start);
        let mut all: Vec<Vec<Run>> = vec![Vec::new(); self.maps.len()];
        for part in parts {
            let Some(runs) = all.get_mut(part.map) else { continue };
            let seen = part.runs.last().map_or(part.range.start, |last| last.range.end);
            part.runs.into_iter().for_each(|run| run.add_to(runs));
            let late = AddrRange::new(seen, part.range.end.max(seen));
            Run { range: late, content: Content::Late }.add_to(runs);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kcore_mem::Addr;

    use super::*;
    use crate::{
        LiveMemory, Process, freeze::Deadline, save::prepared::Prepared, sys::mapped::Mapped,
    };

    const PAGE: u64 = 4096;
    /// Pages of a mapping.
    const PAGES: u64 = 16384;

    fn details(mapped: &Mapped) -> MapDetails {
        let AddrRange { start, end } = mapped.range();
        let line = format!("{:x}-{:x} rw-p 0 00:00 0\n", start.get(), end.get());
        MapDetails::parse(line.as_bytes()).remove(0)
    }

    const EVERYTHING: CoreFilter = CoreFilter::Everything;

    fn looked(
        contents: &Contents<'_>,
        (map, areas): (&MapDetails, &Areas),
        is_over: bool,
    ) -> Vec<Run> {
        let maps = std::slice::from_ref(map);
        let known = SecondLook { maps, filter: EVERYTHING, areas };
        known.look(contents, &Layout::default(), &|| is_over).remove(0)
    }

    fn is(content: &Content, runs: &[Run], at: Addr) -> bool {
        let run = runs.iter().find(|run| run.range.contains(at)).unwrap();
        std::mem::discriminant(&run.content) == std::mem::discriminant(content)
    }

    #[test]
    fn a_page_touched_after_the_first_look_is_seen_by_the_second_one_or_said_to_be_late() {
        let (own, memory) = (Process::own().unwrap(), LiveMemory::of_self(false));
        for by_entries in [false, true] {
            let contents = Contents::of(&own, &memory);
            let contents = if by_entries { contents.by_entries() } else { contents };
            let mapped = Mapped::of_pages(PAGES);
            let map = details(&mapped);
            mapped.touch(1);
            let long = Deadline::after(Duration::MAX, None);
            let areas = Areas::find(&contents, std::slice::from_ref(&map), EVERYTHING, long);
            let known = areas.parts(mapped.range());
            let known: Vec<_> = known.iter().filter(|(_, known)| *known).collect();
            assert!(known.len() == 1 && known[0].0.len() == PAGE, "{known:?}");
            mapped.touch(9000);
            let at = |page: u64| mapped.page(page);
            let runs = looked(&contents, (&map, &areas), false);
            for (page, content) in
                [(1, Content::Memory), (9000, Content::Memory), (5000, Content::Zeros)]
            {
                assert!(is(&content, &runs, at(page)), "{by_entries} {page}: {runs:?}");
            }
            let runs = looked(&contents, (&map, &areas), true);
            assert!([1, 5000, 9000].iter().all(|page| is(&Content::Late, &runs, at(*page))));
        }
    }

    #[test]
    fn what_was_there_is_looked_at_first_and_then_short_parts_before_long_ones() {
        let (own, memory) = (Process::own().unwrap(), LiveMemory::of_self(false));
        let contents = Contents::of(&own, &memory).by_entries();
        let mapped = Mapped::of_pages(PAGES);
        let map = details(&mapped);
        mapped.touch(9000);
        let long = Deadline::after(Duration::MAX, None);
        let areas = Areas::find(&contents, std::slice::from_ref(&map), EVERYTHING, long);
        let maps = std::slice::from_ref(&map);
        let known = SecondLook { maps, filter: EVERYTHING, areas: &areas };
        let parts = known.parts(&Layout::default());
        let lens: Vec<u64> = parts.iter().map(|part| part.range.len() / PAGE).collect();
        assert_eq!(lens, [1, PAGES - 9001, 9000]);
    }

    #[test]
    fn a_mapping_made_after_the_first_look_is_seen_or_said_to_be_late() {
        let own = Process::own().unwrap();
        for (time, is_told) in [(Duration::MAX, true), (Duration::ZERO, false)] {
            let prepared = Prepared::of(&own).unwrap();
            let mapped = Mapped::of_pages(PAGES);
            mapped.touch(9000);
            let now = prepared.refreshed(&own, time).unwrap();
            let maps = now.details.iter();
            let map = maps.clone().find(|map| map.line.range == mapped.range()).unwrap();
            assert_eq!(map.is_told, is_told);
            // Only what is new is not known.
            let text = |map: &MapDetails| map.line.name.ends_with(b"]") && map.has("rd");
            assert!(now.details.iter().any(text));
            let memory = LiveMemory::of_self(false);
            let contents = Contents::of(&own, &memory);
            let runs = looked(&contents, (map, &Areas::default()), false);
            let content = if is_told { Content::Memory } else { Content::Late };
            assert!(is(&content, &runs, mapped.page(9000)), "{runs:?}");
        }
    }
}
