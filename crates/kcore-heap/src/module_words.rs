//! Words and texts of modules: where searches for an allocator begin.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use memchr::memmem;

use crate::{HeapHost, HeapModule};

/// Bytes that are read at once.
const PIECE: u64 = 1 << 16;
const WORD: u64 = 8;
const PAGE: u64 = 4096;
/// Pages without bytes that are looked for in one range: 256 MiB. A damaged module may claim to be as large as memory.
const MAX_MISSING: u32 = 1 << 16;

/// The pages of a range that have no bytes.
#[derive(Default)]
struct MissingPages(u32);

impl MissingPages {
    /// The page behind one that has no bytes; `None` when there were too many of them.
    fn pass(&mut self, at: Addr) -> Option<Addr> {
        self.0 = self.0.saturating_add(1);
        let next = Addr::new(at.get() | PAGE.wrapping_sub(1)).saturating_add(1);
        (self.0 <= MAX_MISSING).then_some(next)
    }
}

/// Tells of every word of a range that is not zero, lowest first; what has no bytes is passed over.
pub(crate) fn each_word(
    space: &dyn AddressSpace,
    range: AddrRange,
    tell: &mut dyn FnMut(Addr, u64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(start) = range.start.get().checked_next_multiple_of(WORD) else {
        return ControlFlow::Continue(());
    };
    let (mut at, mut missing) = (Addr::new(start), MissingPages::default());
    while let Some(part) = space.first_data(AddrRange::new(at, range.end)) {
        let start = Addr::new(part.start.get() & !(WORD.wrapping_sub(1)));
        let part = AddrRange::new(start.max(at), part.end.min(range.end));
        at = words_of(space, part, &mut missing, tell)?;
        if at >= range.end || missing.0 > MAX_MISSING {
            break;
        }
    }
    ControlFlow::Continue(())
}

/// The words of a range; gives where to go on.
fn words_of(
    space: &dyn AddressSpace,
    range: AddrRange,
    missing: &mut MissingPages,
    tell: &mut dyn FnMut(Addr, u64) -> ControlFlow<()>,
) -> ControlFlow<(), Addr> {
    let mut at = range.start;
    while at < range.end {
        let Ok(bytes) = space.slice(at) else {
            let Some(next) = missing.pass(at) else { break };
            at = next;
            continue;
        };
        let wanted = AddrRange::new(at, range.end).len().min(PIECE);
        let bytes = bytes.get(..usize::try_from(wanted).unwrap_or(usize::MAX)).unwrap_or(bytes);
        let words = bytes.as_chunks::<8>().0;
        if words.is_empty() {
            let Some(next) = missing.pass(at) else { break };
            at = next;
            continue;
        }
        for word in words {
            let value = u64::from_le_bytes(*word);
            if value != 0 {
                tell(at, value)?;
            }
            at = at.saturating_add(WORD);
        }
    }
    ControlFlow::Continue(range.end.max(at))
}

/// The bytes of the constants of a module, or of all of it but its data where it has no segment for constants alone.
pub(crate) fn constants<'s>(space: &'s dyn AddressSpace, module: &dyn HeapModule) -> Vec<&'s [u8]> {
    let constants = module.constants();
    match constants.is_empty() {
        true => pieces(space, module.span()),
        false => constants.into_iter().flat_map(|range| pieces(space, range)).collect(),
    }
}

/// The bytes of a range, without what has none.
fn pieces(space: &dyn AddressSpace, range: AddrRange) -> Vec<&[u8]> {
    let (mut found, mut missing) = (Vec::new(), MissingPages::default());
    let mut at = range.start;
    while at < range.end {
        let Ok(bytes) = space.slice(at) else {
            let Some(next) = missing.pass(at) else { break };
            at = next;
            continue;
        };
        let wanted = usize::try_from(AddrRange::new(at, range.end).len()).unwrap_or(usize::MAX);
        let bytes = bytes.get(..wanted).unwrap_or(bytes);
        found.push(bytes);
        at = at.saturating_add(bytes.len().max(1) as u64);
    }
    found
}

/// Whether a text is among the constants of a module. It is given in two parts, so that it is not among those of kcore
/// itself, which has none of the allocators.
pub(crate) fn holds_text(
    space: &dyn AddressSpace,
    module: &dyn HeapModule,
    parts: [&[u8]; 2],
) -> bool {
    let [head, tail] = parts;
    let holds = |bytes: &&[u8]| {
        memmem::find_iter(bytes, head).any(|at| {
            let rest = at.checked_add(head.len()).and_then(|end| bytes.get(end..));
            rest.is_some_and(|rest| rest.starts_with(tail))
        })
    };
    constants(space, module).iter().any(holds)
}

/// Whether the process could write at an address, in memory that is no file's.
pub(crate) fn is_anonymous(host: &dyn HeapHost, at: Addr) -> bool {
    host.mapping_at(at).is_some_and(|mapping| mapping.writable && !mapping.is_file)
}

/// A word, or 0 where it has no bytes.
pub(crate) fn word(space: &dyn AddressSpace, at: Addr) -> u64 {
    space.read_word(at).unwrap_or(0)
}

/// Words on each side of one that are looked at to tell a table of pointers to leaves.
const NEIGHBOURS: u64 = 8;

/// Whether the words on one side of a word are zeros, or may lead to leaves of a tree too: its root holds nothing else. Other
/// tables of pointers do.
pub(crate) fn is_among(host: &dyn HeapHost, at: Addr, may_be_leaf: &dyn Fn(u64) -> bool) -> bool {
    let bytes = NEIGHBOURS.wrapping_mul(WORD);
    let before = AddrRange::new(Addr::new(at.get().saturating_sub(bytes)), at);
    let after = AddrRange::with_len(at.saturating_add(WORD), bytes);
    [before, after].into_iter().any(|side| {
        let all = each_word(host.space(), side, &mut |_, value| match may_be_leaf(value) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        });
        all.is_continue()
    })
}
