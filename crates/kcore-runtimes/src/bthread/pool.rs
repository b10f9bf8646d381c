//! `butil::ResourcePool<bthread::TaskMeta>`: groups of blocks of items that are never given back.

use kcore_mem::{Addr, AddressSpace};

/// Groups of a pool, and blocks of a group, at most (`RP_MAX_BLOCK_NGROUP`, `RP_GROUP_NBLOCK` of
/// `src/butil/resource_pool_inl.h`).
const MAX_GROUPS: u64 = 65_536;
const GROUP_BLOCKS: u64 = 1 << 16;
/// Bytes and items of a block, at most (`ResourcePoolBlockMaxSize`, `ResourcePoolBlockMaxItem`).
const BLOCK_BYTES: u64 = 64 << 10;
const BLOCK_ITEMS: u64 = 256;
/// Blocks that are looked at: 16 million bthreads.
const MAX_BLOCKS: usize = 1 << 16;

/// Where the statics of the pool lie.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// How many groups there are, a word.
    pub group_count: Addr,
    /// The pointers to them.
    pub groups: Addr,
}

/// One block of items.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its first item.
    pub at: Addr,
    /// Its number among all blocks.
    pub number: u64,
}

/// An item of a block.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Where it lies.
    pub at: Addr,
    /// Its number among all items that the pool has room for.
    pub slot: u64,
}

/// How many items of a size a block has room for.
pub fn items_per_block(size: u64) -> u64 {
    BLOCK_BYTES.checked_div(size).unwrap_or_default().clamp(1, BLOCK_ITEMS)
}

impl Pool {
    /// All blocks, in their order.
    pub fn blocks<'a>(&self, space: &'a dyn AddressSpace) -> impl Iterator<Item = Block> + 'a {
        let count = space.read_word(self.group_count).unwrap_or_default().min(MAX_GROUPS);
        let groups = self.groups;
        (0..count).flat_map(move |group| blocks_of(space, groups, group)).take(MAX_BLOCKS)
    }

    /// All items of `size` bytes that were ever used, in the order of their slots.
    pub fn items<'a>(
        &self,
        space: &'a dyn AddressSpace,
        size: u64,
    ) -> impl Iterator<Item = Item> + 'a {
        self.blocks(space).flat_map(move |block| {
            let count = block.used(space, size).unwrap_or_default();
            (0..count).filter_map(move |index| block.item(index, size))
        })
    }

    /// The item of a slot, if it was ever used.
    pub fn item(&self, space: &dyn AddressSpace, slot: u64, size: u64) -> Option<Item> {
        let room = items_per_block(size);
        let (number, index) = (slot.checked_div(room)?, slot.checked_rem(room)?);
        let (group, block) = (number.checked_div(GROUP_BLOCKS)?, number.checked_rem(GROUP_BLOCKS)?);
        let groups = space.read_word(self.group_count).ok()?.min(MAX_GROUPS);
        let group =
            space.read_addr(word_at(self.groups, (group < groups).then_some(group)?)?).ok()?;
        let at = space.read_addr(word_at(group, block.checked_add(1)?)?).ok()?;
        let block = (at.get() != 0).then_some(Block { at, number })?;
        (index < block.used(space, size)?).then(|| block.item(index, size))?
    }
}

/// The blocks of the group of a number.
fn blocks_of(
    space: &dyn AddressSpace,
    groups: Addr,
    group: u64,
) -> impl Iterator<Item = Block> + '_ {
    let place = word_at(groups, group);
    let place = place.and_then(|place| space.read_addr(place).ok()).filter(|at| at.get() != 0);
    let count = place.and_then(|group| space.read_word(group).ok()).unwrap_or_default();
    (0..count.min(GROUP_BLOCKS)).filter_map(move |block| {
        let at = space.read_addr(word_at(place?, block.checked_add(1)?)?).ok()?;
        let number = group.checked_mul(GROUP_BLOCKS)?.checked_add(block)?;
        (at.get() != 0).then_some(Block { at, number })
    })
}

impl Block {
    /// How many of its items were ever used, if they have this size: never more than there is room for.
    pub fn used(&self, space: &dyn AddressSpace, size: u64) -> Option<u64> {
        let room = items_per_block(size);
        let count = space.read_word(self.at.checked_add(room.checked_mul(size)?)?).ok()?;
        Some(count).filter(|count| *count <= room)
    }

    /// The item of a number within the block.
    pub fn item(&self, index: u64, size: u64) -> Option<Item> {
        let at = self.at.checked_add(index.checked_mul(size)?)?;
        let slot = self.number.checked_mul(items_per_block(size))?.checked_add(index)?;
        Some(Item { at, slot })
    }
}

fn word_at(array: Addr, index: u64) -> Option<Addr> {
    array.checked_add(index.checked_mul(8)?)
}
