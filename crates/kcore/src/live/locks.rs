//! What is copied of the locks that threads wait for.

use kcore_elf::core_file::MapLine;
use kcore_live::Process;
use kcore_mem::{Addr, AddrRange};

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
    words.filter(|word| is_mapped(maps, *word)).map(pages_around).collect()
}

fn is_mapped(maps: &[MapLine], at: Addr) -> bool {
    let after = maps.partition_point(|map| map.range.start <= at);
    let map = after.checked_sub(1).and_then(|index| maps.get(index));
    map.is_some_and(|map| map.range.contains(at))
}

fn pages_around(word: Addr) -> AddrRange {
    let start = word.get().saturating_sub(AROUND) & !(PAGE - 1);
    let end = word.get().saturating_add(AROUND).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    AddrRange::new(Addr::new(start), Addr::new(end))
}
