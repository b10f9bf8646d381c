//! `/proc/PID/pagemap` (Linux `Documentation/admin-guide/mm/pagemap.rst`).

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    sync::atomic::{AtomicU8, Ordering},
    time::{Duration, Instant},
};

use kcore_mem::AddrRange;

use crate::{
    Process,
    sys::pagemap::{self, IS_FILE, IS_GUARD, IS_PRESENT, IS_SWAPPED, IS_ZERO},
};

/// Bytes in a page, the smallest there is.
pub const PAGE: u64 = 4096;
/// Pages whose entries are read at once, where the system cannot scan.
const BATCH: u64 = 8192;
/// Bytes of memory that one call scans: between two calls it is looked whether the time is over. It is more as long as
/// calls take no time, since there is nothing.
const STEP: u64 = 256 << 20;
const LONGEST_STEP: u64 = 1 << 40;
const NO_TIME: Duration = Duration::from_micros(200);
/// Bits of an entry.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const OF_FILE: u64 = 1 << 61;

/// What stands in the place of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// A page of the process' own.
    Own,
    /// A page of a file, or of shared memory.
    OfFile,
    /// The page of zeros that all processes share.
    Zero,
    /// Something that was swapped out.
    Swapped,
    /// A mark, or something that was swapped out: the system does not tell which.
    SwappedOrMark,
    /// Nothing that can be read.
    Guard,
}

/// The page map of a process.
#[derive(Debug)]
pub struct PageMap {
    file: File,
    /// How it is asked: see `WAYS`.
    way: AtomicU8,
}

/// What is asked of each page, best first; at the end nothing: then entries are read.
const WAYS: [Option<u64>; 3] = {
    const ALL: u64 = IS_FILE | IS_PRESENT | IS_SWAPPED | IS_ZERO;
    [Some(ALL | IS_GUARD), Some(ALL), None]
};

impl PageMap {
    /// Opens it; nothing where there is none, or a right is missing.
    pub fn open(process: &Process) -> Option<Self> {
        let file = File::open(process.folder().join("pagemap")).ok()?;
        Some(Self { file, way: AtomicU8::new(0) })
    }

    /// The same as on a system that cannot scan.
    #[cfg(test)]
    pub fn by_entries(self) -> Self {
        Self { way: AtomicU8::new(2), ..self }
    }

    /// Bytes of untouched memory that it takes about as long to look through as one call takes. By entries it is what
    /// one page table tells of; a scan passes over what has no page tables.
    pub fn stride(&self) -> u64 {
        const BY_ENTRIES: u64 = 2 << 20;
        const BY_SCAN: u64 = 1 << 40;
        let way = WAYS.get(usize::from(self.way.load(Ordering::Relaxed)));
        if way.copied().flatten().is_some() { BY_SCAN } else { BY_ENTRIES }
    }

    /// Calls `seen` with the pages that are there, lowest first, those in a row that are alike together. It
    /// ends early once `is_over` says so; the answer is whether it came to the end. Unless `tells_files`, pages of
    /// files are told as [`Page::Own`].
    pub fn scan(
        &self,
        (range, tells_files): (AddrRange, bool),
        is_over: &dyn Fn() -> bool,
        seen: &mut dyn FnMut(AddrRange, Page),
    ) -> bool {
        let (mut at, mut len) = (range.start, STEP);
        let mut told = range.start;
        // No page is told of twice, whatever the system says: what is copied by that would lie in a wrong place.
        let seen = &mut |run: AddrRange, page: Page| {
            let run = AddrRange::new(run.start.max(told), run.end.min(range.end));
            if run.start < run.end {
                told = run.end;
                seen(run, page);
            }
        };
        while at < range.end {
            if is_over() {
                return false;
            }
            let start = Instant::now();
            let step = AddrRange::new(at, range.end.min(at.saturating_add(len)));
            match self.scan_step((step, tells_files), seen) {
                Some(next) if next.end > at => at = next.end,
                _ => return false,
            }
            let longer = len.saturating_mul(4).min(LONGEST_STEP);
            len = if start.elapsed() < NO_TIME { longer } else { STEP };
        }
        true
    }

    /// Scans the beginning of a range; the answer is what of it. `None` when the process has ended.
    fn scan_step(
        &self,
        (range, tells_files): (AddrRange, bool),
        seen: &mut dyn FnMut(AddrRange, Page),
    ) -> Option<AddrRange> {
        let way = self.way.load(Ordering::Relaxed);
        let Some(wanted) = WAYS.get(usize::from(way)).copied().flatten() else {
            return self.entries_of(range, seen);
        };
        // To tell pages of files, the system looks at its record of each page, which takes seven times as long.
        let wanted = if tells_files { wanted } else { wanted & !IS_FILE };
        let mut told = |range, bits| seen(range, page_of(bits, wanted & IS_GUARD != 0));
        match pagemap::scan(&self.file, range, wanted, &mut told) {
            Ok(end) => Some(AddrRange::new(range.start, end)),
            Err(error) if is_unknown(&error) => {
                self.way.fetch_max(way.saturating_add(1), Ordering::Relaxed);
                self.scan_step((range, tells_files), seen)
            }
            Err(_) => None,
        }
    }

    fn entries_of(
        &self,
        range: AddrRange,
        seen: &mut dyn FnMut(AddrRange, Page),
    ) -> Option<AddrRange> {
        let batch = AddrRange::with_len(range.start, range.len().min(BATCH.saturating_mul(PAGE)));
        let entries = self.entries(batch)?;
        let mut at = batch.start;
        for alike in entries.chunk_by(|a, b| page_of_entry(*a) == page_of_entry(*b)) {
            let run = AddrRange::with_len(at, (alike.len() as u64).saturating_mul(PAGE));
            if let Some(page) = alike.first().and_then(|entry| page_of_entry(*entry)) {
                seen(run, page);
            }
            at = run.end;
        }
        Some(batch)
    }

    /// The entries of pages; `None` when the process has ended.
    fn entries(&self, pages: AddrRange) -> Option<Vec<u64>> {
        const SIZE: u64 = 8;
        let len = usize::try_from((pages.len() / PAGE).checked_mul(SIZE)?).ok()?;
        let mut bytes = vec![0; len];
        let offset = (pages.start.get() / PAGE).checked_mul(SIZE)?;
        self.file.read_exact_at(&mut bytes, offset).ok()?;
        let words = bytes.chunks_exact(8).filter_map(<[u8]>::first_chunk);
        Some(words.map(|word| u64::from_ne_bytes(*word)).collect())
    }

    /// Says of each page whether something is there; `None` when the process has ended.
    pub fn presence(&self, pages: AddrRange) -> Option<Vec<bool>> {
        let entries = self.entries(pages)?;
        Some(entries.into_iter().map(|entry| entry & (PRESENT | SWAPPED) != 0).collect())
    }
}

/// Whether the system does not know the call, or not all that was asked.
fn is_unknown(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL | libc::ENOSYS))
}

const fn page_of(bits: u64, knows_guards: bool) -> Page {
    if bits & IS_GUARD != 0 {
        Page::Guard
    } else if bits & IS_PRESENT == 0 {
        if knows_guards { Page::Swapped } else { Page::SwappedOrMark }
    } else if bits & IS_ZERO != 0 {
        Page::Zero
    } else if bits & IS_FILE != 0 {
        Page::OfFile
    } else {
        Page::Own
    }
}

/// `None` when nothing is there.
const fn page_of_entry(entry: u64) -> Option<Page> {
    if entry & PRESENT != 0 {
        Some(if entry & OF_FILE != 0 { Page::OfFile } else { Page::Own })
    } else if entry & SWAPPED != 0 {
        Some(Page::SwappedOrMark)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Addr;

    use super::*;
    use crate::{Pid, sys::mapped::Mapped};

    /// Memory of this process of 64 pages, of which the third and fourth were written to, the tenth read.
    fn touched() -> (Vec<u8>, AddrRange) {
        let mut memory: Vec<u8> = vec![0; 65 * 4096 + (4 << 20)];
        let start = (memory.as_ptr() as u64 + (2 << 20)).next_multiple_of(4096);
        let offset = (start - memory.as_ptr() as u64) as usize;
        memory[offset + 2 * 4096] = 1;
        memory[offset + 3 * 4096] = 1;
        assert_eq!(std::hint::black_box(&memory)[offset + 9 * 4096], 0);
        (memory, AddrRange::with_len(Addr::new(start), 64 * 4096))
    }

    #[test]
    fn what_was_touched_is_seen_whichever_way_it_is_asked() {
        let own = Process::own().unwrap();
        assert_eq!(own.pid(), Pid::new(i32::try_from(std::process::id()).unwrap()));
        let (_memory, range) = touched();
        for way in 0..3 {
            let map = PageMap::open(&own).unwrap();
            map.way.store(way, Ordering::Relaxed);
            let mut written = Vec::new();
            let came = map.scan((range, true), &|| false, &mut |run, page| {
                // A huge page, or a page of zeros that was read, may be there besides.
                written.push((
                    run.start.offset_from(range.start).unwrap() >> 12,
                    run.len() >> 12,
                    page,
                ));
            });
            assert!(came);
            let has = |page: u64| {
                written
                    .iter()
                    .any(|(at, len, kind)| (*at..at + len).contains(&page) && *kind == Page::Own)
            };
            assert!(has(2) && has(3), "way {way}: {written:?}");
            let presence = map.presence(range).unwrap();
            assert!(presence[2] && presence[3]);
        }
    }

    #[test]
    fn every_run_is_seen_once_however_many_there_are() {
        let own = Process::own().unwrap();
        for runs in [1, 511, 512, 513, 600, 2047, 2048, 2049, 5000] {
            let mapped = Mapped::of_pages(2 * runs);
            (0..runs).for_each(|run| mapped.touch(2 * run));
            for way in 0..3 {
                let map = PageMap::open(&own).unwrap();
                map.way.store(way, Ordering::Relaxed);
                let mut seen = Vec::new();
                assert!(map.scan((mapped.range(), true), &|| false, &mut |run, _| seen.push(run)));
                let all = (0..runs).map(|run| AddrRange::with_len(mapped.page(2 * run), PAGE));
                assert!(seen.iter().copied().eq(all), "{runs} runs, way {way}: {}", seen.len());
            }
        }
    }

    #[test]
    fn a_scan_ends_when_the_time_is_over() {
        let map = PageMap::open(&Process::own().unwrap()).unwrap();
        let all = AddrRange::new(Addr::new(0), Addr::new(1 << 46));
        assert!(!map.scan((all, true), &|| true, &mut |_, _| ()));
    }
}
