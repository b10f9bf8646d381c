//! The layout of a pool by what lies in it, where no debug information tells.

use kcore_mem::{AddressSpace, Arch};

use super::{
    layout::{ID, Layout, RELEASES, STACKS, StackLayout, VERSION_BUTEX},
    meta::{StackArea, is_live},
    pool::{Block, Item, Pool},
};

/// Sizes of `TaskMeta` that are tried beside those of the releases.
const SIZES: std::ops::RangeInclusive<u64> = 96..=512;
/// Blocks, and tasks that live, that are looked at.
const MAX_BLOCKS: usize = 256;
const MAX_LIVE: usize = 64;
/// The fields before the stack pointer: an entry function, its argument, perhaps something before them.
const ENTRIES: std::ops::RangeInclusive<u64> = 40..=96;

/// The layout, if one and no other fits.
pub fn calibrate(space: &dyn AddressSpace, pool: &Pool) -> Option<Layout> {
    let blocks: Vec<Block> = pool.blocks(space).take(MAX_BLOCKS).collect();
    let arch = space.target().arch;
    let known = RELEASES.iter().map(|release| release.size(arch));
    let all = known.chain(SIZES.step_by(8));
    let (size, _) = all
        .map(|size| (size, proofs(space, &blocks, size)))
        .filter(|(_, proofs)| *proofs > 0)
        .max_by(|(size, proofs), (other, others)| {
            // Of equals the first counts: a release's.
            proofs.cmp(others).then_with(|| order(arch, *other).cmp(&order(arch, *size)))
        })?;
    let live = live(space, &blocks, size);
    let (entry, of_stack) = stack_fields(space, size, &live)
        .or_else(|| release_fields(arch, size).filter(|_| live.is_empty()))?;
    Some(Layout::of(arch, size, entry, of_stack))
}

/// A release's size comes before any other.
fn order(arch: Arch, size: u64) -> (bool, u64) {
    (!RELEASES.iter().any(|release| release.size(arch) == size), size)
}

/// How many items name their own slot, if the size is right: 0 when any that was used does not, but for the
/// last of each block, which may just be made.
fn proofs(space: &dyn AddressSpace, blocks: &[Block], size: u64) -> u64 {
    let mut proofs = 0_u64;
    for block in blocks {
        let Some(used) = block.used(space, size).filter(|used| *used > 0) else { return 0 };
        for item in (0..used).filter_map(|index| block.item(index, size)) {
            let is_last =
                block.item(used.saturating_sub(1), size).is_some_and(|at| at.at == item.at);
            match names_itself(space, &item) {
                true => proofs = proofs.saturating_add(1),
                false if is_last => {}
                false => return 0,
            }
        }
    }
    proofs
}

/// The lower half of an id is the slot.
fn names_itself(space: &dyn AddressSpace, item: &Item) -> bool {
    let id = item.at.checked_add(ID).and_then(|at| space.read_uint(at, 4).ok());
    id == Some(item.slot & u64::from(u32::MAX))
}

fn live(space: &dyn AddressSpace, blocks: &[Block], size: u64) -> Vec<Item> {
    let items = blocks.iter().flat_map(|block| {
        let used = block.used(space, size).unwrap_or_default();
        (0..used).filter_map(|index| block.item(index, size))
    });
    items.filter(|item| is_live(space, item.at, ID, VERSION_BUTEX)).take(MAX_LIVE).collect()
}

/// Where the entry function lies, three words before which no stack is pointed at; and how a stack is laid
/// out: so that most of the tasks that live have a stack, whose saved stack pointer lies in it.
fn stack_fields(space: &dyn AddressSpace, size: u64, live: &[Item]) -> Option<(u64, StackLayout)> {
    let ways = ENTRIES.step_by(8).flat_map(|entry| STACKS.map(|of_stack| (entry, of_stack)));
    let counted = ways.map(|(entry, of_stack)| {
        let layout = Layout::of(space.target().arch, size, entry, of_stack);
        let fits = |item: &&Item| StackArea::at(space, &layout, item.at).is_some();
        ((entry, of_stack), live.iter().filter(fits).count())
    });
    let mut found: Vec<_> = counted.filter(|(_, count)| *count > 0).collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    match found.as_slice() {
        [(fields, _)] => Some(*fields),
        [(fields, most), (_, next), ..] if most > next => Some(*fields),
        _ => None,
    }
}

/// The fields of the release of a size, where no stack shows them.
fn release_fields(arch: Arch, size: u64) -> Option<(u64, StackLayout)> {
    let release = RELEASES.iter().find(|release| release.size(arch) == size)?;
    let [_, with_vtable] = STACKS;
    Some((release.entry, with_vtable))
}
