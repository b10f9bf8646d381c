//! libgcc's tree of objects, since gcc 13 (`struct btree_node` of gcc's `libgcc/unwind-dw2-btree.h`, versions 13 to 15).

use std::collections::HashSet;

use kcore_mem::{Addr, AddressSpace};

use super::{MAX_SECTIONS, object};

/// Entries of an inner node and of a leaf, at most.
const MAX_INNER: u64 = 15;
const MAX_LEAF: u64 = 10;
/// Kinds of nodes.
const INNER: u64 = 0;
const LEAF: u64 = 1;
/// Levels, at most: one more for each sevenfold number of objects.
const MAX_DEPTH: usize = 16;

/// A node: a word of its lock, two `unsigned` for the number of its entries and its kind, and the entries.
struct Node {
    at: Addr,
    count: u64,
    kind: u64,
    /// The first word of the entries.
    entries: u64,
}

impl Node {
    fn at(at: Addr, space: &dyn AddressSpace) -> Option<Self> {
        let lock = u64::from(space.target().word);
        let field = |offset| space.read_uint(at.checked_add(offset)?, 4).ok();
        let (count, kind) = (field(lock)?, field(lock.checked_add(4)?)?);
        let most = match kind {
            INNER => MAX_INNER,
            LEAF => MAX_LEAF,
            _ => return None,
        };
        let entries = lock.checked_add(8)?.checked_div(lock)?;
        (count <= most).then_some(Self { at, count, kind, entries })
    }

    /// The word number `field` of each entry of so many words.
    fn words(&self, field: u64, words: u64, space: &dyn AddressSpace) -> Vec<Addr> {
        let word = |index: u64| {
            let before = index.checked_mul(words)?.checked_add(field)?;
            object::word(self.at, self.entries.checked_add(before)?, space)
        };
        (0..self.count).map_while(word).map(Addr::new).collect()
    }
}

/// Adds where the sections of all objects of a tree begin; nothing where there is no such tree at `root`.
pub fn sections(root: Addr, space: &dyn AddressSpace, found: &mut Vec<Addr>) {
    let (mut level, mut seen) = (vec![root], HashSet::new());
    for _ in 0..MAX_DEPTH {
        let mut below = Vec::new();
        for at in level.into_iter().filter(|at| seen.insert(*at)) {
            let Some(node) = Node::at(at, space) else { continue };
            if node.kind == INNER {
                // `separator`, `child`
                below.extend(node.words(1, 2, space));
            } else {
                // `base`, `size`, `ob`
                for object in node.words(2, 3, space) {
                    let _ = object::one(object, space, found);
                }
            }
            if below.len().saturating_add(found.len()) > MAX_SECTIONS {
                return;
            }
        }
        level = below;
    }
}
