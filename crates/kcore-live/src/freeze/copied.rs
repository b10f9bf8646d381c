//! What is copied of the stacks of threads that stand still, and of what they point to.

use kcore_mem::{Addr, AddrRange};

use super::{
    Deadline, Plan, machine, pointers,
    stacks::{Extent, extent},
};
use crate::{Piece, arena::Arena};

/// Copies the used part of the stacks of threads with these general registers, and the pages of `heaps` to which words of
/// stacks and registers point. Only what one stack has beyond its first part counts against `together`.
pub fn copy_stacks(
    arena: &mut Arena,
    (plan, heaps): (&Plan<'_>, &[AddrRange]),
    standing: &[&[u8]],
    together: u64,
    deadline: Deadline<'_>,
) {
    let before = arena.count();
    let limit = plan.stacks.each;
    let pointers = standing.iter().filter_map(|general| machine::stack_pointer(general));
    let extents: Vec<Extent> = pointers.map(|sp| extent(plan.maps, sp, limit)).collect();
    let parts: Vec<AddrRange> = extents.iter().map(|extent| extent.first).collect();
    let copied = arena.copy(plan.memory, &parts, deadline);
    let rest = rest_of(&extents, &copied, together);
    arena.copy(plan.memory, &rest, deadline);
    let registers = standing.iter().map(|bytes| Piece { start: Addr::new(0), bytes });
    let pages = pointers::pages(heaps, registers.chain(arena.pieces_from(before)));
    arena.copy(plan.memory, &pages, deadline);
}

/// Where objects may lie, if what stacks point to is wanted.
pub fn heaps(plan: &Plan<'_>) -> Vec<AddrRange> {
    if plan.follow { pointers::heaps(plan.maps) } else { Vec::new() }
}

/// What is left of stacks whose first part could be copied whole.
fn rest_of(extents: &[Extent], copied: &[u64], together: u64) -> Vec<AddrRange> {
    let mut left = together;
    let long = extents
        .iter()
        .zip(copied)
        .filter(|(extent, copied)| !extent.rest.is_empty() && **copied == extent.first.len());
    long.filter_map(|(extent, _)| {
        let len = extent.rest.len().min(left);
        left = left.saturating_sub(len);
        (len > 0).then(|| AddrRange::with_len(extent.rest.start, len))
    })
    .collect()
}
