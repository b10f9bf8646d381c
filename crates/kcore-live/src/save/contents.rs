//! What the pages of a mapping hold, before any of them is copied: bytes, zeros, or nothing that can
//! be read.
//!
//! A program header says how many bytes a core has of a mapping, and comes before them. So it must be
//! known which pages refuse before the first one is written.

use std::{fs::File, os::unix::fs::FileExt};

use kcore_mem::AddrRange;

use super::probe::refuses;
use crate::{LiveMemory, Process, proc::MapDetails};

const PAGE: u64 = 4096;
/// Pages whose entries are read at once.
const BATCH: u64 = 8192;
/// `/proc/PID/pagemap` (Linux `Documentation/admin-guide/mm/pagemap.rst`).
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;

/// What pages hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes, which are to be copied.
    Bytes,
    /// Zeros: nobody has ever touched them.
    Zeros,
    /// Nothing that can be read.
    Nothing,
}

/// Pages in a row that hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Their addresses.
    pub range: AddrRange,
    /// What they hold.
    pub content: Content,
}

/// Tells what pages hold.
pub struct Contents<'a> {
    memory: &'a LiveMemory,
    entries: Option<File>,
}

impl<'a> Contents<'a> {
    /// Of a process that stands still.
    pub fn of(process: &Process, memory: &'a LiveMemory) -> Self {
        Self { memory, entries: File::open(process.folder().join("pagemap")).ok() }
    }

    /// The runs of a part of a mapping, lowest first.
    pub fn runs(&self, map: &MapDetails, part: AddrRange) -> Vec<Run> {
        let mut runs = Runs::default();
        let mut at = part.start;
        while at < part.end {
            let len = part.end.offset_from(at).unwrap_or(0).min(BATCH.saturating_mul(PAGE));
            let batch = AddrRange::with_len(at, len);
            self.add_batch(map, batch, &mut runs);
            at = batch.end;
        }
        runs.0
    }

    fn add_batch(&self, map: &MapDetails, batch: AddrRange, runs: &mut Runs) {
        let entries = self.entries(batch);
        let pages = (0..batch.len() / PAGE).map(|page| {
            AddrRange::with_len(batch.start.saturating_add(page.saturating_mul(PAGE)), PAGE)
        });
        let pages: Vec<AddrRange> = pages.collect();
        let kinds: Vec<Option<Content>> = (0..pages.len())
            .map(|page| entries.as_ref()?.get(page).and_then(|entry| known(map, *entry)))
            .collect();
        let unknown = pages.iter().zip(&kinds).filter(|(_, kind)| kind.is_none());
        let unknown: Vec<AddrRange> = unknown.map(|(page, _)| *page).collect();
        let mut refused = refuses(self.memory, &unknown).into_iter();
        for (page, kind) in pages.into_iter().zip(kinds) {
            let asked = || match refused.next() {
                Some(false) => Content::Bytes,
                _ => Content::Nothing,
            };
            runs.add(page, kind.unwrap_or_else(asked));
        }
    }

    /// The entries of pages; `None` where the system gives none.
    fn entries(&self, batch: AddrRange) -> Option<Vec<u64>> {
        const SIZE: u64 = 8;
        let len = usize::try_from((batch.len() / PAGE).checked_mul(SIZE)?).ok()?;
        let mut bytes = vec![0; len];
        let offset = (batch.start.get() / PAGE).checked_mul(SIZE)?;
        self.entries.as_ref()?.read_exact_at(&mut bytes, offset).ok()?;
        let words = bytes.chunks_exact(8).filter_map(<[u8]>::first_chunk);
        Some(words.map(|word| u64::from_ne_bytes(*word)).collect())
    }
}

/// What a page holds, where its entry alone tells. A page that is not there is asked for, unless
/// another process would have to fill it (userfaultfd(2)): that one may wait for this one.
fn known(map: &MapDetails, entry: u64) -> Option<Content> {
    let is_own = map.line.inode == 0 && !map.line.shared && !map.line.name.starts_with(b"[v");
    if entry & PRESENT != 0 {
        Some(Content::Bytes)
    } else if map.has("um") {
        Some(Content::Nothing)
    } else if is_own && entry & SWAPPED == 0 && !map.has("ht") {
        Some(Content::Zeros)
    } else {
        // Swapped out, of a file, or a guard page, whose entry looks like one that is swapped out.
        None
    }
}

#[derive(Default)]
struct Runs(Vec<Run>);

impl Runs {
    fn add(&mut self, page: AddrRange, content: Content) {
        match self.0.last_mut() {
            Some(last) if last.content == content && last.range.end == page.start => {
                last.range.end = page.end;
            }
            _ => self.0.push(Run { range: page, content }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(line: &str, flags: &str) -> MapDetails {
        MapDetails::parse(format!("{line}\nVmFlags: {flags}\n").as_bytes()).remove(0)
    }

    #[test]
    fn only_own_memory_that_was_never_there_is_zeros() {
        let own = map("1000-2000 rw-p 0 0:0 0", "rd wr");
        assert_eq!(known(&own, 0), Some(Content::Zeros));
        assert_eq!(known(&own, PRESENT), Some(Content::Bytes));
        assert_eq!(known(&own, SWAPPED), None);
        assert_eq!(known(&map("1000-2000 rw-p 0 fe:1 9 /a", "rd wr"), 0), None);
        assert_eq!(known(&map("1000-2000 rw-p 0 0:0 0", "rd wr um"), 0), Some(Content::Nothing));
    }
}
