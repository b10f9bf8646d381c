//! Words outside of a heap that refer to its objects: registers, stacks, and other memory.

use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_parallel::prelude::*;
use kcore_unwind::{RegisterId, Regs, Tid, machine};

use super::{Root, RootKind};
use crate::{
    Host,
    objects::{Stopped, Watch},
};

/// Bytes that one thread looks at.
const PIECE: u64 = 1 << 20;
/// Pieces between two looks at the user.
const STEP: usize = 64;

/// The used parts of the stacks of threads, lowest first: one may be within the mapping of the one before.
pub fn stacks(host: &dyn Host) -> Vec<(AddrRange, Tid)> {
    let Some(machine) = machine(host.space().target(), None) else { return Vec::new() };
    let stack = |tid: Tid| {
        let sp = Addr::new(host.registers(tid)?.get(machine.stack_pointer())?);
        let range = host.range_at(sp)?.range;
        Some((AddrRange::new(Addr::new(sp.get() & !7), range.end), tid))
    };
    let mut stacks: Vec<_> = host.threads().into_iter().filter_map(stack).collect();
    stacks.sort_unstable();
    stacks
}

/// The thread in whose stack, among these, a word lies.
pub fn thread_of(stacks: &[(AddrRange, Tid)], at: Addr) -> Option<Tid> {
    let below = stacks.partition_point(|(stack, _)| stack.start <= at).checked_sub(1);
    let (range, tid) = stacks.get(below?)?;
    range.contains(at).then_some(*tid)
}

/// The registers of threads that refer to objects, as roots of a kind.
pub fn registers(
    host: &dyn Host,
    is_object: &dyn Fn(u64) -> Option<Addr>,
    kind: &'static RootKind,
) -> Vec<Root> {
    let of_thread = |tid: Tid| {
        let regs = host.registers(tid);
        let numbers = 0..u16::try_from(Regs::COUNT).unwrap_or(u16::MAX);
        let values = numbers.filter_map(move |number| regs?.get(RegisterId(number)));
        let objects = values.filter_map(is_object);
        objects.map(move |to| Root { thread: Some(tid), ..Root::new(kind, to) })
    };
    host.threads().into_iter().flat_map(of_thread).collect()
}

/// The words of some memory that refer to objects, at most `most`: where each lies, and its object. Memory that several
/// ranges have is looked at once.
///
/// # Errors
/// When whoever watches stopped it.
pub fn referring(
    space: &dyn AddressSpace,
    memory: &[AddrRange],
    most: usize,
    is_object: &(impl Fn(u64) -> Option<Addr> + Sync),
    watch: Watch<'_>,
) -> Result<Vec<(Addr, Addr)>, Stopped> {
    let pieces: Vec<AddrRange> =
        held(space, &apart(memory.to_vec())).into_iter().flat_map(pieces).collect();
    let mut found = Vec::new();
    for (step, pieces_of_step) in pieces.chunks(STEP).enumerate() {
        let parts: Vec<Vec<(Addr, Addr)>> =
            pieces_of_step.par_iter().map(|piece| of_piece(space, *piece, is_object)).collect();
        found.extend(parts.into_iter().flatten());
        found.truncate(most);
        if watch(step.saturating_mul(STEP) as u64, pieces.len() as u64).is_break() {
            return Err(Stopped);
        }
    }
    Ok(found)
}

/// Ranges in order, each byte once.
pub fn apart(mut ranges: Vec<AddrRange>) -> Vec<AddrRange> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let overlaps = next.start <= last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    ranges
}

/// The parts of ranges that have bytes: a core may hold a mapping in parts. The ranges are in order.
fn held(space: &dyn AddressSpace, ranges: &[AddrRange]) -> Vec<AddrRange> {
    let mut left = ranges;
    let mut held = Vec::new();
    for region in space.regions() {
        left = left
            .get(left.partition_point(|range| range.end <= region.range.start)..)
            .unwrap_or_default();
        let within = left.iter().take_while(|range| range.start < region.range.end);
        held.extend(within.filter_map(|range| range.intersection(&region.range)));
    }
    held
}

fn pieces(range: AddrRange) -> impl Iterator<Item = AddrRange> {
    let end = range.end;
    let piece = move |from: Addr| {
        (from < end).then(|| AddrRange::new(from, end.min(from.saturating_add(PIECE))))
    };
    let first = Addr::new(range.start.saturating_add(7).get() & !7);
    std::iter::successors(piece(first), move |last| piece(last.end))
}

fn of_piece(
    space: &dyn AddressSpace,
    piece: AddrRange,
    is_object: &impl Fn(u64) -> Option<Addr>,
) -> Vec<(Addr, Addr)> {
    let mut found = Vec::new();
    let mut at = piece.start;
    while at < piece.end {
        // Memory of zeros, such as a core of gdb's has, holds nothing.
        let data = space.first_data(AddrRange::new(at, piece.end));
        let Some(data) = data.filter(|data| data.end > at) else { return found };
        at = at.max(Addr::new(data.start.get() & !7));
        let Ok(bytes) = space.slice(at) else { return found };
        let end = data.end.saturating_add(7).min(piece.end);
        let wanted = end.offset_from(at).and_then(|len| usize::try_from(len).ok());
        let bytes = bytes.get(..wanted.unwrap_or(usize::MAX)).unwrap_or(bytes);
        let (words, _) = bytes.as_chunks();
        for (index, word) in (0_u64..).zip(words) {
            if let Some(to) = is_object(u64::from_le_bytes(*word)) {
                found.push((at.saturating_add(index.saturating_mul(8)), to));
            }
        }
        at = at.saturating_add((bytes.len() as u64).next_multiple_of(8).max(8));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use kcore_mem::{Fault, Origin, Region, Target};

    use super::*;

    /// Memory of which every second page is held, full of ones.
    struct Holes;

    const PAGE: usize = 4096;
    static ONES: [u8; PAGE] = [1; PAGE];

    impl AddressSpace for Holes {
        fn target(&self) -> Target {
            Target::X86_64
        }

        fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
            let (page, into) = (at.get() as usize / PAGE, at.get() as usize % PAGE);
            ONES.get(into..).filter(|_| page % 2 == 1).ok_or(Fault::NotDumped(at))
        }

        fn origin(&self, at: Addr) -> Result<Origin, Fault> {
            self.slice(at).map(|_| Origin::Core)
        }

        fn regions(&self) -> Vec<Region> {
            let range = |page: u64| AddrRange::with_len(Addr::new(page << 12), PAGE as u64);
            [1, 3, 5].map(|page| Region { range: range(page), origin: Origin::Core }).to_vec()
        }
    }

    #[test]
    fn words_behind_holes_are_found() {
        let memory = [AddrRange::new(Addr::new(0), Addr::new(0x5008))];
        let one = |word: u64| (word == 0x0101_0101_0101_0101).then_some(Addr::new(7));
        let found = referring(&Holes, &memory, 9999, &one, &mut |_, _| ControlFlow::Continue(()));
        assert_eq!(found.unwrap().len(), 2 * PAGE / 8 + 1);
    }
}
