//! The search for CPython in a module whose file is not at hand, in its writable memory.

use kcore_mem::{Addr, AddrRange};

use super::{
    heap::Heap,
    interpreter::is_interpreter,
    layout::{DebugOffsets, Layout},
    probe::data_of,
};
use crate::{Host, HostModule};

/// What the table for debuggers begins with.
const COOKIE: &[u8; 8] = b"xdebugpy";
/// Bytes of one module that are searched, at most.
const MAX_BYTES: u64 = 16 << 20;

/// Whether a module may be one of CPython, by its name: `python3.8`, `libpython3.8.so.1.0`.
pub fn may_be_python(module: &dyn HostModule) -> bool {
    module.name().contains("python")
}

/// Where the table for debuggers lies.
pub fn cookie(host: &dyn Host, module: &dyn HostModule) -> Option<Addr> {
    let pieces = data_of(host, module).into_iter().flat_map(|range| pieces(host, range));
    let found = pieces.flat_map(|(at, bytes)| {
        memchr::memmem::find_iter(bytes, COOKIE)
            .filter_map(move |offset| at.checked_add(u64::try_from(offset).ok()?))
            .collect::<Vec<_>>()
    });
    found.into_iter().find(|at| DebugOffsets::load(host.space(), *at).is_some())
}

/// Where `_PyRuntime` lies: a word of it is the address of an interpreter by these layouts, and the next
/// one that of the main one.
pub fn interpreter(host: &dyn Host, module: &dyn HostModule, layout: &Layout) -> Option<Addr> {
    let heap = Heap { space: host.space(), layout };
    let pieces = data_of(host, module).into_iter().flat_map(|range| pieces(host, range));
    let mut slots = pieces.flat_map(|(at, bytes)| {
        let words = bytes.as_chunks::<8>().0.iter().zip((0_u64..).step_by(8));
        words
            .filter(|(word, _)| may_be_pointer(u64::from_le_bytes(**word)))
            .filter_map(move |(word, offset)| {
                Some((at.checked_add(offset)?, Addr::new(u64::from_le_bytes(*word))))
            })
            .collect::<Vec<_>>()
    });
    let (slot, _) = slots.find(|(_, word)| is_interpreter(&heap, *word))?;
    Some(Addr::new(slot.get().checked_sub(layout.runtime.head)?))
}

/// Whether a word is one that a pointer to an object may have.
const fn may_be_pointer(word: u64) -> bool {
    word >= 1 << 16 && word < 1 << 47 && word.is_multiple_of(8)
}

/// The writable memory of a module that memory holds, in pieces.
pub fn data_pieces<'h>(host: &'h dyn Host, module: &dyn HostModule) -> Vec<(Addr, &'h [u8])> {
    data_of(host, module).into_iter().flat_map(|range| pieces(host, range)).collect()
}

/// The bytes of a range that memory holds, in pieces.
fn pieces(host: &dyn Host, range: AddrRange) -> Vec<(Addr, &[u8])> {
    let mut pieces = Vec::new();
    let (mut at, end) = (range.start, range.end.min(range.start.saturating_add(MAX_BYTES)));
    while at < end {
        let Ok(bytes) = host.space().slice(at) else {
            let rest = AddrRange::new(at.saturating_add(1), end);
            match host.space().first_data(rest) {
                Some(next) => at = next.start,
                None => break,
            }
            continue;
        };
        let left = usize::try_from(end.get().saturating_sub(at.get())).unwrap_or(usize::MAX);
        let piece = bytes.get(..left).unwrap_or(bytes);
        pieces.push((at, piece));
        at = at.saturating_add(piece.len().max(1) as u64);
    }
    pieces
}
