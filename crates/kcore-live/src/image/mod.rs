//! A process as a core: headers, notes, and what was copied of its memory.
//!
//! A snapshot is a core that never was a file. So there is one reader, and what it answers of a core it
//! answers of a snapshot.

mod notes;
mod segments;

use kcore_elf::core_file::MapLine;
pub use kcore_elf::core_file::head::{Head, Segment};
use kcore_mem::{Addr, AddrRange};

pub use notes::Facts;
pub(crate) use notes::of as notes_of;

use crate::{LiveMemory, Piece, SnapThread, Snapshot, Standing};

/// Bytes of the header of a module that are read: the header, the program headers and, as linkers lay
/// them out, the build-id.
const HEADER_SIZE: u64 = 4096;
const PF_W: u32 = 2;

/// What tells of modules and never changes: the beginnings of mapped files, and the vdso. It is read
/// while the process runs.
#[derive(Debug, Default)]
pub struct Headers(Vec<(AddrRange, Vec<u8>)>);

impl Headers {
    /// Reads what can be read.
    pub fn read(memory: &LiveMemory, maps: &[MapLine]) -> Self {
        let wanted = maps.iter().filter_map(header_of);
        Self(wanted.filter_map(|range| Some((range, memory.read(range)?))).collect())
    }

    fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.0.iter().map(|(range, bytes)| Piece { start: range.start, bytes })
    }
}

fn header_of(map: &MapLine) -> Option<AddrRange> {
    if map.name == b"[vdso]" {
        return Some(map.range);
    }
    let is_header = map.is_file() && !map.shared && map.offset.get() == 0 && map.flags & PF_W == 0;
    is_header.then(|| AddrRange::with_len(map.range.start, map.range.len().min(HEADER_SIZE)))
}

/// Where the stack of a thread begins.
pub(crate) fn stack_pointer_of(thread: &SnapThread) -> Option<Addr> {
    let registers = thread.registers.as_ref()?;
    Standing::of_registers(&registers.general).map(|standing| standing.sp)
}

/// The core of a process as it was copied; without a snapshot, of a process of which there are only
/// mappings and headers.
pub fn core_of(
    facts: &Facts,
    (text, maps): (&[u8], &[MapLine]),
    headers: &Headers,
    snapshot: Option<&Snapshot>,
) -> Vec<u8> {
    let threads = snapshot.map(|snapshot| snapshot.threads.as_slice()).unwrap_or_default();
    let notes = notes::of(facts, (text, maps), threads, snapshot);
    let copied = snapshot.into_iter().flat_map(Snapshot::pieces);
    let pieces: Vec<Piece<'_>> = copied.chain(headers.pieces()).collect();
    let parts = segments::of(maps, pieces);
    let segments: Vec<Segment> = parts.iter().map(|part| part.segment).collect();
    let mut core = Head::new(facts.target, &notes, &segments, 1).bytes;
    for part in parts {
        part.bytes.iter().for_each(|bytes| core.extend_from_slice(bytes));
    }
    core
}
