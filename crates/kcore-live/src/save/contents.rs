//! What the pages of a mapping hold, before any of them is copied: bytes, zeros, or nothing that can
//! be read.
//!
//! What takes time is that which is there, however much is set aside.

use std::{mem::discriminant, ops::Range, sync::Arc};

use kcore_mem::{Addr, AddrRange};

use crate::{
    LiveMemory, Process,
    proc::MapDetails,
    resident::{Backing, Extent, Files, Page, PageMap},
};

const PAGE: u64 = 4096;

/// What pages hold.
#[derive(Clone, Debug)]
pub enum Content {
    /// Bytes, which are to be copied from the process.
    Memory,
    /// Bytes that other processes share and this one has not touched: from this offset of the file on. They are to be
    /// copied while the process stands still.
    Shared(Arc<Backing>, u64),
    /// Bytes of a file on a disk that the process has not changed, from this offset on.
    File(Arc<Backing>, u64),
    /// Zeros: nobody has ever touched them.
    Zeros,
    /// Nothing that can be read.
    Nothing,
    /// Nobody can tell without making pages: the file behind it may not be opened.
    Unseen,
    /// Nobody has looked while the process stood still: the time was over.
    Late,
}

/// Pages in a row that hold the same.
#[derive(Clone, Debug)]
pub struct Run {
    /// Their addresses.
    pub range: AddrRange,
    /// What they hold.
    pub content: Content,
}

impl Run {
    /// Adds the next run of a mapping to those before it. It is joined to the last one if both hold the same kind of
    /// content; bytes of a file then follow each other in the file as well.
    pub fn add_to(self, runs: &mut Vec<Self>) {
        match runs.last_mut() {
            _ if self.range.is_empty() => {}
            Some(last) if discriminant(&last.content) == discriminant(&self.content) => {
                last.range.end = self.range.end;
            }
            _ => runs.push(self),
        }
    }
}

/// Tells what pages hold.
pub struct Contents<'a> {
    pages: Option<PageMap>,
    files: Files,
    memory: &'a LiveMemory,
}

impl<'a> Contents<'a> {
    /// Of a process.
    pub fn of(process: &Process, memory: &'a LiveMemory) -> Self {
        Self { pages: PageMap::open(process), files: Files::of(process), memory }
    }

    /// The same where the system cannot scan.
    #[cfg(test)]
    pub fn by_entries(self) -> Self {
        Self { pages: self.pages.map(PageMap::by_entries), ..self }
    }

    /// Opens the file behind a mapping, which may take its time, so that it is there later.
    pub fn prepare(&self, map: &MapDetails) {
        self.files.behind(&map.line, true);
    }

    /// Bytes of untouched memory up to which it does not pay to look around them; `None` where the system tells
    /// nothing of pages but by reading them.
    pub fn stride(&self) -> Option<u64> {
        self.pages.as_ref().map(PageMap::stride)
    }

    /// The runs of a part of a mapping, lowest first and without gaps. What was not looked at once `is_over`
    /// says so is missing at the end.
    pub fn runs(&self, map: &MapDetails, part: AddrRange, is_over: &dyn Fn() -> bool) -> Vec<Run> {
        let looking = Looking {
            contents: self,
            map,
            backing: self.files.behind(&map.line, false),
            is_over,
            runs: Vec::new(),
        };
        looking.at(part)
    }
}

/// A look at one mapping.
struct Looking<'a> {
    contents: &'a Contents<'a>,
    map: &'a MapDetails,
    backing: Option<Arc<Backing>>,
    is_over: &'a dyn Fn() -> bool,
    runs: Vec<Run>,
}

impl Looking<'_> {
    fn at(mut self, part: AddrRange) -> Vec<Run> {
        let Some(pages) = &self.contents.pages else {
            // There is no other way then than to ask for each page, which makes those of shared memory.
            if self.map.line.shared {
                self.add(part, Content::Unseen)
            } else {
                self.ask(part)
            }
            return self.runs;
        };
        let (is_over, mut next) = (self.is_over, part.start);
        let came = pages.scan((part, self.is_partly_of_file()), is_over, &mut |run, page| {
            self.absent(AddrRange::new(next, run.start));
            self.present(run, page);
            next = run.end;
        });
        if came {
            self.absent(AddrRange::new(next, part.end));
        }
        self.runs
    }

    /// Whether it has pages of a file, which the process has not changed, beside its own.
    fn is_partly_of_file(&self) -> bool {
        !self.map.line.shared && !self.map.line.is_own()
    }

    fn present(&mut self, run: AddrRange, page: Page) {
        let content = match page {
            Page::Own | Page::Swapped => Content::Memory,
            Page::OfFile => self.of_file(run.start),
            Page::Zero => Content::Zeros,
            Page::Guard => Content::Nothing,
            Page::SwappedOrMark => return self.ask(run),
        };
        self.add(run, content);
    }

    /// A page that the process has of a file: what it has not changed is the file's, and need not be copied
    /// while it stands still.
    fn of_file(&self, at: Addr) -> Content {
        match &self.backing {
            Some(file) if !self.map.line.shared && !file.is_memory() => {
                Content::File(file.clone(), self.offset(at))
            }
            _ => Content::Memory,
        }
    }

    /// Asks for each page whether it can be read.
    fn ask(&mut self, run: AddrRange) {
        let mut at = run.start;
        while at < run.end && !(self.is_over)() {
            let page = AddrRange::with_len(at, PAGE);
            let first = AddrRange::with_len(at, 1);
            let can = self.contents.memory.append_through(first, &mut Vec::new()) > 0;
            self.add(page, if can { Content::Memory } else { Content::Nothing });
            at = page.end;
        }
    }

    /// Pages that are not there. A page that another process would have to fill (userfaultfd(2)) is not
    /// asked for: that one may wait for this one.
    fn absent(&mut self, gap: AddrRange) {
        let line = &self.map.line;
        if gap.is_empty() {
        } else if self.map.has("um") {
            self.add(gap, Content::Nothing);
        } else if line.is_own() {
            self.add(gap, Content::Zeros);
        } else if line.name.starts_with(b"[v") {
            // The kernel's own pages are there in any case.
            self.ask(gap);
        } else {
            self.behind(gap);
        }
    }

    /// Pages that are not there, but may be in the file behind the mapping.
    fn behind(&mut self, gap: AddrRange) {
        let Some(file) = self.backing.clone() else { return self.add(gap, Content::Unseen) };
        let first = self.offset(gap.start);
        let range = |part: &Range<u64>| {
            let start = gap.start.saturating_add(part.start.saturating_sub(first));
            AddrRange::with_len(start, part.end.saturating_sub(part.start))
        };
        let part = first..first.saturating_add(gap.len());
        if !file.is_memory() {
            // The disk is asked for holes when they are written.
            let end = file.end().clamp(part.start, part.end);
            self.add(range(&(first..end)), Content::File(file, first));
            return self.add(range(&(end..part.end)), Content::Nothing);
        }
        for extent in file.extents(part, self.is_over) {
            match extent {
                Extent::Hole(part) => self.add(range(&part), Content::Zeros),
                Extent::Behind(part) => self.add(range(&part), Content::Nothing),
                Extent::Data(part) => {
                    self.add(range(&part), Content::Shared(file.clone(), part.start));
                }
            }
        }
    }

    fn offset(&self, at: Addr) -> u64 {
        let line = &self.map.line;
        let within = at.offset_from(line.range.start).unwrap_or_default();
        line.offset.get().saturating_add(within)
    }

    fn add(&mut self, range: AddrRange, content: Content) {
        Run { range, content }.add_to(&mut self.runs);
    }
}
