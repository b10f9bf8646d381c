//! What is copied of the locks that threads wait for.

use kcore_elf::core_file::MapLine;
use kcore_live::Process;
use kcore_mem::{Addr, AddrRange};

use super::wanted::mapping_at;

/// The smallest page that Linux has here; it copies whole ones.
const PAGE: u64 = 4096;
/// Threads that are asked what they sleep on, at most. It takes a file of each.
const MAX_THREADS: usize = 4096;
/// Bytes before and behind the word that threads sleep on: those of the object around it.
const AROUND: u64 = 64;

/// Threads whose structures are copied, at most: each has one or two pages more.
const MAX_STRUCTURES: usize = 256;
/// Bytes of glibc's structure of a thread before the head of its robust list, and more: its beginning, and the id by which
/// locks know the thread (glibc 2.36 `nptl/descr.h`).
const BEFORE_LIST: u64 = 0x300;

/// The pages of the locks that threads wait for, and of what the C library knows of each thread, as the system tells before
/// the process is stopped. Some threads may go on to other locks until then. Nothing where no thread waits for one.
pub fn wanted(process: &Process, threads: Option<&[i32]>, maps: &[MapLine]) -> Vec<AddrRange> {
    let all = || process.task_ids().unwrap_or_default();
    let threads = threads.map_or_else(all, <[i32]>::to_vec);
    let words = threads.iter().take(MAX_THREADS).filter_map(|tid| process.sleeps_on(*tid));
    let mut pages: Vec<AddrRange> =
        words.filter_map(|word| pages_around(maps, word, AROUND)).collect();
    if !pages.is_empty() && threads.len() <= MAX_STRUCTURES {
        let lists = threads.iter().filter_map(|tid| process.robust_list(*tid));
        pages.extend(lists.filter_map(|list| pages_around(maps, list, BEFORE_LIST)));
    }
    pages
}

/// The pages of one mapping that hold a word and what lies around it, `before` bytes before it; `None` where nothing is
/// mapped.
fn pages_around(maps: &[MapLine], word: Addr, before: u64) -> Option<AddrRange> {
    let mapping = mapping_at(maps, word)?.range;
    let start = word.get().saturating_sub(before) & !(PAGE - 1);
    let end = word.get().saturating_add(AROUND).checked_next_multiple_of(PAGE)?;
    let (start, end) = (Addr::new(start).max(mapping.start), Addr::new(end).min(mapping.end));
    Some(AddrRange::new(start, end))
}
