//! Memory of a process that goes on running, page by page.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use kcore_mem::{Addr, AddrRange};

use crate::LiveMemory;

/// Bytes that are read at once.
const PAGE: u64 = 4096;
/// Entries of a table, by which an address is split as the machine's own page tables split it.
const ENTRIES: usize = 512;

/// Entries that are made when they are first asked for, and never change.
#[derive(Debug)]
struct Table<T>(Box<[OnceLock<T>]>);

impl<T> Table<T> {
    fn new() -> Self {
        Self(std::iter::repeat_with(OnceLock::new).take(ENTRIES).collect())
    }

    /// The entry for an address at a level: level 0 is that of pages.
    fn entry(&self, at: Addr, level: u32) -> Option<&OnceLock<T>> {
        const FIRST_BIT: u32 = 12;
        const BITS: u32 = 9;
        let shift = FIRST_BIT.saturating_add(BITS.saturating_mul(level));
        let index = at.get().checked_shr(shift).unwrap_or(0) as usize % ENTRIES;
        self.0.get(index)
    }
}

/// A page; nothing where it cannot be read.
type Page = Option<Box<[u8]>>;
type Top = Table<Table<Table<Table<Page>>>>;

/// Pages of a process, each read when it is first asked for, and kept as it was then. What threads of
/// it write meanwhile may be torn between two pages.
#[derive(Debug)]
pub struct LivePages {
    memory: Arc<LiveMemory>,
    top: Top,
    read: AtomicUsize,
    limit: usize,
    closed: AtomicBool,
    /// Whether any was asked for since that was asked last.
    used: AtomicBool,
}

impl LivePages {
    /// Memory of which at most `limit` pages are read.
    pub fn new(memory: Arc<LiveMemory>, limit: usize) -> Self {
        Self {
            memory,
            top: Table::new(),
            read: AtomicUsize::new(0),
            limit,
            closed: AtomicBool::new(false),
            used: AtomicBool::new(false),
        }
    }

    /// The bytes from `at` to the end of its page; `None` when it cannot be read, or all pages that
    /// may be read were.
    pub fn slice(&self, at: Addr) -> Option<&[u8]> {
        // Addresses of processes have 47 or 48 bits: higher ones would be found in lower places.
        if at.get() >> 48 != 0 {
            return None;
        }
        let entry = self.top.entry(at, 3)?.get_or_init(Table::new);
        let entry = entry.entry(at, 2)?.get_or_init(Table::new);
        let entry = entry.entry(at, 1)?.get_or_init(Table::new);
        let page = self.page(entry.entry(at, 0)?, at)?;
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
        page.get(usize::try_from(at.get() % PAGE).ok()?..)
    }

    fn page<'a>(&self, entry: &'a OnceLock<Page>, at: Addr) -> Option<&'a [u8]> {
        if entry.get().is_none() && !self.may_read() {
            return None;
        }
        let read = || {
            self.read.fetch_add(1, Ordering::Relaxed);
            let start = Addr::new(at.get() & !(PAGE - 1));
            self.memory.read(AddrRange::with_len(start, PAGE)).map(Vec::into_boxed_slice)
        };
        entry.get_or_init(read).as_deref()
    }

    fn may_read(&self) -> bool {
        !self.closed.load(Ordering::Acquire) && self.read.load(Ordering::Relaxed) < self.limit
    }

    /// Ends it: what was not read so far never is.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Whether any page was of use since this was asked last.
    pub fn take_use(&self) -> bool {
        self.used.swap(false, Ordering::Relaxed)
    }

    /// Whether the limit was reached.
    pub fn is_full(&self) -> bool {
        self.read.load(Ordering::Relaxed) >= self.limit
    }

    /// The pages that were read, neighbours together, lowest first.
    pub fn ranges(&self) -> Vec<AddrRange> {
        let mut pages = Vec::new();
        walk(&self.top, 0, 3, &mut |table, base| {
            walk(table, base, 2, &mut |table, base| {
                walk(table, base, 1, &mut |table, base| {
                    walk(table, base, 0, &mut |page: &Page, base| {
                        let range = || AddrRange::with_len(Addr::new(base), PAGE);
                        pages.extend(page.is_some().then(range));
                    });
                });
            });
        });
        AddrRange::merged(pages)
    }
}

/// Calls `seen` with each entry that was made, and the first address that it stands for.
fn walk<T>(table: &Table<T>, base: u64, level: u32, seen: &mut dyn FnMut(&T, u64)) {
    let each = PAGE << level.saturating_mul(9);
    let made = table.0.iter().enumerate().filter_map(|(index, entry)| Some((index, entry.get()?)));
    for (index, entry) in made {
        seen(entry, base.saturating_add(each.saturating_mul(index as u64)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_place_of_its_own() {
        let table: Table<u8> = Table::new();
        let place = |at, level| std::ptr::from_ref(table.entry(Addr::new(at), level).unwrap());
        assert_ne!(place(0x1000, 0), place(0x2000, 0));
        assert_eq!(place(0x1000, 0), place(0x1fff, 0));
        assert_eq!(place(0x1000, 1), place(0x1f_f000, 1));
        assert_ne!(place(0x1000, 3), place(1 << 47, 3));
    }
}
