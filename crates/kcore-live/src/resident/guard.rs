//! Reading memory of a process without having the kernel make any for it.

use std::{
    collections::HashMap,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};

use kcore_elf::core_file::MapLine;
use kcore_mem::{Addr, AddrRange};

use super::{Files, Page, PageMap, backing::Extent, page_map::PAGE};
use crate::{Process, proc::MapDetails};

/// Bytes whose pages are looked at before any of them is read.
const WINDOW: u64 = 1 << 20;

/// What is known of the memory of a process besides its bytes.
#[derive(Debug)]
pub struct Guard {
    pages: PageMap,
    files: Files,
    maps: RwLock<Vec<MapLine>>,
    /// Of each mapping, by its beginning, whether another process fills its pages (userfaultfd(2)); nothing
    /// as long as nobody asked the system, which takes it a while.
    filled: RwLock<Option<HashMap<Addr, bool>>>,
    /// Whether files may be opened now.
    opens: AtomicBool,
}

/// As long as it is there, the guard opens no file: the process stands still, and the file may lie on a disk
/// that sleeps.
#[derive(Debug)]
pub struct Closed<'a>(&'a AtomicBool);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// How pages that are not there are read.
enum AbsentPageRead {
    /// As any other: that makes nothing that counts.
    Through,
    /// They are zeros.
    Zeros,
    /// By the file.
    File(std::sync::Arc<super::Backing>, u64),
    /// Not at all.
    Refused,
}

impl Guard {
    /// Of a process; nothing where the system has no page map of it.
    pub fn of(process: &Process) -> Option<Self> {
        let pages = PageMap::open(process)?;
        let (_, maps) = process.maps().ok()?;
        Some(Self {
            pages,
            files: Files::of(process),
            maps: RwLock::new(maps),
            filled: RwLock::default(),
            opens: AtomicBool::new(true),
        })
    }

    /// The mappings as they are now.
    pub fn set_maps(&self, maps: &[MapLine]) {
        let mut known = self.maps.write().unwrap_or_else(PoisonError::into_inner);
        if *known != maps {
            maps.clone_into(&mut known);
            *self.filled.write().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// Asks the system what it says of each mapping, so that pages which nobody has touched need not be
    /// looked at.
    pub fn learn(&self, process: &Process) {
        let text = process.read("smaps", "its mappings").unwrap_or_default();
        let details = MapDetails::parse(&text);
        let all = details.iter().map(|map| (map.line.range.start, map.has("um")));
        *self.filled.write().unwrap_or_else(PoisonError::into_inner) = Some(all.collect());
    }

    /// Opens no file from now on, until what this gives is dropped.
    pub fn close(&self) -> Closed<'_> {
        self.opens.store(false, Ordering::Release);
        Closed(&self.opens)
    }

    /// Whether the program whose memory it is still runs.
    pub fn is_there(&self) -> bool {
        self.pages.presence(AddrRange::with_len(Addr::new(0), PAGE)).is_some()
    }

    /// How many pages of ranges hold something, in memory or swapped out; `None` when the process has ended. A page that
    /// somebody has only read is that of zeros, as far as the system tells.
    pub fn count_filled(&self, ranges: &[AddrRange]) -> Option<u64> {
        let mut filled: u64 = 0;
        let mut seen = |run: AddrRange, page: Page| {
            let holds = !matches!(page, Page::Zero | Page::Guard);
            filled = filled.saturating_add(if holds { run.len() / PAGE } else { 0 });
        };
        let scan = |range| self.pages.scan((range, false), &|| false, &mut seen);
        ranges.iter().copied().all(scan).then_some(filled)
    }

    /// Reads a piece onto the end of `bytes`; `read` reads what is there. The answer is how many bytes were
    /// read until a page refused.
    pub fn append(
        &self,
        piece: AddrRange,
        bytes: &mut Vec<u8>,
        read: &dyn Fn(AddrRange, &mut Vec<u8>) -> u64,
    ) -> u64 {
        let mut at = piece.start;
        while at < piece.end {
            let boundary = Addr::new((at.get() | (WINDOW - 1)).saturating_add(1));
            let window = AddrRange::new(at, piece.end.min(boundary));
            let done = self.window(window, bytes, read);
            at = at.saturating_add(done);
            if done < window.len() {
                break;
            }
        }
        at.offset_from(piece.start).unwrap_or_default()
    }

    fn window(
        &self,
        window: AddrRange,
        bytes: &mut Vec<u8>,
        read: &dyn Fn(AddrRange, &mut Vec<u8>) -> u64,
    ) -> u64 {
        let first = Addr::new(window.start.get() & !(PAGE - 1));
        let end = window.end.get().checked_next_multiple_of(PAGE).unwrap_or(window.end.get());
        let Some(presence) = self.pages.presence(AddrRange::new(first, Addr::new(end))) else {
            return 0;
        };
        let mut page = first;
        let mut done: u64 = 0;
        for alike in presence.chunk_by(|a, b| a == b) {
            let run = AddrRange::with_len(page, (alike.len() as u64).saturating_mul(PAGE));
            page = run.end;
            let part = AddrRange::new(run.start.max(window.start), run.end.min(window.end));
            let is_there = alike.first() == Some(&true);
            let got = if is_there { read(part, bytes) } else { self.absent(part, bytes, read) };
            done = done.saturating_add(got);
            if got < part.len() {
                break;
            }
        }
        done
    }

    /// Reads pages that are not there, mapping by mapping, and of files page by page.
    fn absent(
        &self,
        part: AddrRange,
        bytes: &mut Vec<u8>,
        read: &dyn Fn(AddrRange, &mut Vec<u8>) -> u64,
    ) -> u64 {
        let mut at = part.start;
        while at < part.end {
            let Some(map) = self.map_at(at) else { break };
            let rest = AddrRange::new(at, part.end.min(map.range.end));
            let got = match self.way_of(&map, at) {
                AbsentPageRead::Refused => 0,
                AbsentPageRead::Through => read(rest, bytes),
                AbsentPageRead::Zeros => zeros(rest.len(), bytes),
                AbsentPageRead::File(file, offset) => of_file(&file, offset, rest.len(), bytes),
            };
            at = at.saturating_add(got);
            if got < rest.len() {
                break;
            }
        }
        at.offset_from(part.start).unwrap_or_default()
    }

    fn map_at(&self, at: Addr) -> Option<MapLine> {
        let maps = self.maps.read().unwrap_or_else(PoisonError::into_inner);
        let after = maps.partition_point(|map| map.range.start <= at);
        maps.get(after.checked_sub(1)?).filter(|map| map.range.contains(at)).cloned()
    }

    fn way_of(&self, map: &MapLine, at: Addr) -> AbsentPageRead {
        if map.is_own() {
            let filled = self.filled.read().unwrap_or_else(PoisonError::into_inner);
            return match filled.as_ref().map(|filled| filled.get(&map.range.start)) {
                Some(Some(false)) => AbsentPageRead::Zeros,
                Some(Some(true)) => AbsentPageRead::Refused,
                // It makes a page of zeros that all processes share, and perhaps a page table.
                _ => AbsentPageRead::Through,
            };
        }
        let offset =
            at.offset_from(map.range.start).and_then(|by| map.offset.get().checked_add(by));
        match (self.files.behind(map, self.opens.load(Ordering::Acquire)), offset) {
            (Some(file), Some(offset)) => AbsentPageRead::File(file, offset),
            // Pages of a file that is not shared are those of the file: to map them makes none. The
            // kernel's own pages are there in any case.
            _ if !map.shared => AbsentPageRead::Through,
            _ => AbsentPageRead::Refused,
        }
    }
}

fn zeros(len: u64, bytes: &mut Vec<u8>) -> u64 {
    let len = usize::try_from(len).unwrap_or_default();
    bytes.resize(bytes.len().saturating_add(len), 0);
    len as u64
}

/// Reads a part of a file page by page, up to its end.
fn of_file(file: &super::Backing, offset: u64, len: u64, bytes: &mut Vec<u8>) -> u64 {
    let mut done: u64 = 0;
    while done < len {
        let at = offset.saturating_add(done);
        let to_boundary = PAGE.saturating_sub(at % PAGE).min(len.saturating_sub(done));
        let got = match file.page(at & !(PAGE - 1)) {
            Some(Extent::Hole(_)) => zeros(to_boundary, bytes),
            Some(Extent::Data(_)) => {
                file.append(at, usize::try_from(to_boundary).unwrap_or_default(), bytes) as u64
            }
            _ => 0,
        };
        done = done.saturating_add(got);
        if got < to_boundary {
            break;
        }
    }
    done
}
