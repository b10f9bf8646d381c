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

/// The pages of the locks that threads wait for, as the system tells before the process is stopped. Some threads may
/// go on to others until then.
pub fn wanted(process: &Process, threads: Option<&[i32]>, maps: &[MapLine]) -> Vec<AddrRange> {
    let all = || process.task_ids().unwrap_or_default();
    let threads = threads.map_or_else(all, <[i32]>::to_vec);
    let words = threads.iter().take(MAX_THREADS).filter_map(|tid| process.sleeps_on(*tid));
    words.filter_map(|word| pages_around(maps, word)).collect()
}

/// The pages of one mapping that hold a word and what lies around it; `None` where nothing is mapped.
fn pages_around(maps: &[MapLine], word: Addr) -> Option<AddrRange> {
    let mapping = mapping_at(maps, word)?.range;
    let start = word.get().saturating_sub(AROUND) & !(PAGE - 1);
    let end = word.get().saturating_add(AROUND).checked_next_multiple_of(PAGE)?;
    let (start, end) = (Addr::new(start).max(mapping.start), Addr::new(end).min(mapping.end));
    Some(AddrRange::new(start, end))
}
