//! Walking an area from object to object.

use std::ops::Range;

use kcore_mem::{Addr, AddrRange, Fault};

use super::{super::Heap, maps::Maps, shape::Extent};

/// An object whose end only the next one tells is no longer than this.
const MAX_UNTOLD: u64 = 1 << 16;
const WORD: u64 = 8;
/// Chunks lie anywhere here, and what is no address seldom does.
const HEAPS: Range<u64> = 1 << 32..1 << 47;

/// What was found in an area beside objects, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rest {
    /// What V8 says is free.
    pub free: u64,
    /// What is zero: nothing was ever written there, or it was not dumped and not missed.
    pub blank: u64,
    /// What is no object: left of dead ones, or damaged.
    pub skipped: u64,
    /// What the process had there and was not dumped.
    pub missing: u64,
}

impl Rest {
    /// Both together.
    pub const fn plus(self, other: Self) -> Self {
        Self {
            free: self.free.saturating_add(other.free),
            blank: self.blank.saturating_add(other.blank),
            skipped: self.skipped.saturating_add(other.skipped),
            missing: self.missing.saturating_add(other.missing),
        }
    }
}

/// An object that a step led over.
pub struct Step {
    /// Its map, among those that were met.
    pub map: u32,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it fills a gap.
    pub is_gap: bool,
}

/// Walks areas.
pub struct Walk<'w, 'a> {
    heap: Heap<'a>,
    maps: &'w mut Maps<'a>,
    bytes: &'a [u8],
    base: Addr,
    /// Whether objects are made one behind the other: behind one that was moved away none is left, only what
    /// the memory was used for before.
    pub is_young: bool,
    /// Where objects begin, as indices of words.
    pub starts: Vec<u32>,
    /// What is no object.
    pub rest: Rest,
}

impl<'w, 'a> Walk<'w, 'a> {
    /// Of nothing yet.
    pub fn new(heap: Heap<'a>, maps: &'w mut Maps<'a>) -> Self {
        let base = Addr::new(0);
        let (starts, rest) = (Vec::new(), Rest::default());
        Self { heap, maps, bytes: &[], base, is_young: false, starts, rest }
    }

    /// Walks an area, of which these parts are held, lowest first. What is `unused` holds no objects.
    pub fn area(&mut self, area: AddrRange, held: &[AddrRange], unused: &[AddrRange]) {
        let mut at = area.start;
        for part in held {
            let in_step = at >= part.start;
            at = self.held(area, AddrRange::new(at.max(part.start), part.end), unused, in_step);
        }
    }

    /// Walks a part that is held, around what is unused in it. Says where its last object ends.
    fn held(
        &mut self,
        area: AddrRange,
        part: AddrRange,
        unused: &[AddrRange],
        mut in_step: bool,
    ) -> Addr {
        let mut at = part.start;
        let first = unused.partition_point(|gap| gap.start < part.start);
        let gaps = unused.get(first..).unwrap_or_default().iter();
        for gap in gaps.take_while(|gap| gap.end <= part.end) {
            // What is said to be unused may lie within an object, if that is not so.
            let end = self.part(area, AddrRange::new(at, gap.start), in_step);
            self.rest.free = self.rest.free.saturating_add(gap.len());
            (at, in_step) = (gap.end.max(end), true);
        }
        self.part(area, AddrRange::new(at, part.end), in_step)
    }

    /// Walks the one object of an area; what lies behind it is unused.
    pub fn one(&mut self, area: AddrRange, held: &[AddrRange]) {
        let Some(part) = held.first().filter(|part| part.start == area.start) else {
            return self.area(area, held, &[]);
        };
        let Some(step) = self.step(area.start, area.end) else {
            return self.area(area, held, &[]);
        };
        self.take(area, area.start, &step);
        let end = area.start.saturating_add(step.size);
        let unused = part.end.offset_from(end).unwrap_or(0);
        self.rest.free = self.rest.free.saturating_add(unused);
    }

    /// Walks on; an object begins with the part, or is to be searched. Says where its last object ends.
    fn part(&mut self, area: AddrRange, part: AddrRange, mut in_step: bool) -> Addr {
        let mut at = part.start;
        while at < part.end {
            match self.step(at, area.end).filter(|step| in_step || self.fits(at, step, part.end)) {
                Some(step) => {
                    self.take(area, at, &step);
                    at = at.saturating_add(step.size);
                    in_step = true;
                }
                None if in_step && self.is_young && self.was_moved(at) => {
                    let stale = part.end.offset_from(at).unwrap_or(0);
                    self.rest.free = self.rest.free.saturating_add(stale);
                    return part.end;
                }
                None => {
                    self.skip(at);
                    at = at.saturating_add(WORD);
                    in_step = false;
                }
            }
        }
        at
    }

    fn take(&mut self, area: AddrRange, at: Addr, step: &Step) {
        if step.is_gap {
            self.rest.free = self.rest.free.saturating_add(step.size);
            return;
        }
        let word = at.offset_from(area.start).map(|offset| offset / WORD);
        if let Some(word) = word.and_then(|word| u32::try_from(word).ok()) {
            self.starts.push(word);
            self.maps.count(step.map, at, step.size);
        }
    }

    /// Whether an object was moved away from `at`: its map is replaced by the address that it has now
    /// (`MapWord::FromForwardingAddress` in `src/objects/objects.h`), or had, in a chunk that is gone by now.
    fn was_moved(&mut self, at: Addr) -> bool {
        let now = self.word(at).filter(|word| HEAPS.contains(word) && word.is_multiple_of(8));
        now.map(Addr::new).is_some_and(|now| {
            let is_gone = matches!(self.heap.space.slice(now), Err(Fault::Unmapped(_)));
            is_gone || self.heap.object_at(now).is_some()
        })
    }

    fn skip(&mut self, at: Addr) {
        let is_blank = self.word(at) == Some(0);
        let count = if is_blank { &mut self.rest.blank } else { &mut self.rest.skipped };
        *count = count.saturating_add(WORD);
    }

    /// The size of the object that begins at `at`, which must end before `end`.
    pub fn size(&mut self, at: Addr, end: Addr) -> Option<u64> {
        self.step(at, end).map(|step| step.size)
    }

    /// The object at `at`, which must end before `end`.
    pub fn step(&mut self, at: Addr, end: Addr) -> Option<Step> {
        let word = self.word(at)?;
        let map = self.maps.find(word)?;
        let shape = self.maps.shape(map)?;
        let size = match shape.extent {
            Extent::Fixed(size) => size,
            Extent::ToNext => self.distance_to_next(at, end),
            _ => {
                let second = self.word(at.checked_add(WORD)?)?;
                shape.size(&self.heap, at, second)?
            }
        };
        let fits = size >= WORD && at.checked_add(size)? <= end;
        fits.then_some(Step { map, size, is_gap: shape.is_gap })
    }

    /// Whether an object that was searched is one: another begins where it ends.
    fn fits(&mut self, at: Addr, step: &Step, end: Addr) -> bool {
        let next = at.saturating_add(step.size);
        next >= end || self.word(next).is_some_and(|word| self.maps.find(word).is_some())
    }

    /// How far it is to the next object.
    fn distance_to_next(&mut self, at: Addr, end: Addr) -> u64 {
        let end = end.min(at.saturating_add(MAX_UNTOLD));
        let mut next = at.saturating_add(WORD);
        while next < end {
            match self.word(next) {
                Some(word) if self.maps.find(word).is_none() => {
                    next = next.saturating_add(WORD);
                }
                _ => break,
            }
        }
        next.offset_from(at).unwrap_or(0)
    }

    fn word(&mut self, at: Addr) -> Option<u64> {
        if let Some(word) = word_in(self.bytes, self.base, at) {
            return Some(word);
        }
        self.bytes = self.heap.space.slice(at).ok()?;
        self.base = at;
        word_in(self.bytes, self.base, at).or_else(|| self.heap.word(at, 0))
    }
}

fn word_in(bytes: &[u8], base: Addr, at: Addr) -> Option<u64> {
    let offset = usize::try_from(at.offset_from(base)?).ok()?;
    bytes.get(offset..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Bytes of ranges.
pub fn len(ranges: &[AddrRange]) -> u64 {
    ranges.iter().map(AddrRange::len).fold(0, u64::saturating_add)
}

/// The parts of an area that memory holds, lowest first.
pub fn held(area: AddrRange, regions: &[AddrRange]) -> Vec<AddrRange> {
    let first = regions.partition_point(|region| region.end <= area.start);
    let rest = regions.get(first..).unwrap_or_default().iter();
    rest.take_while(|region| region.start < area.end)
        .filter_map(|region| region.intersection(&area))
        .collect()
}
