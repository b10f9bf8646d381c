//! Maps (`erl_map.h`): small ones are a tuple of keys and their values, larger ones trees.

use kcore_mem::Addr;

use super::{POINTER_TAG, TermKind};
use crate::erlang::memory::Memory;

/// The kind of a node, in its header.
const KIND_SHIFT: u32 = 6;
const KIND: u64 = 3;
const FLAT: u64 = 0;
const NODE: u64 = 1;
const FULL_HEAD: u64 = 2;
/// Which children a node has, in its header.
const CHILDREN_SHIFT: u32 = 16;
const CHILDREN: u64 = 0xffff;
/// Levels of a tree, at most: the hash has 32 bits, of which each level uses 4, and is made anew beyond.
const MAX_LEVELS: u32 = 64;
/// Nodes of a tree that are looked at in any case.
const MIN_NODES: usize = 1024;
/// The header of a tuple: the lower bits, and above them the number of its elements.
const HEADER_MASK: u64 = 0x3f;
const ARITY_SHIFT: u32 = 6;
/// Bits of the header of a map: what it is.
pub const OLD_SUBTAG: u64 = 15;
pub const NEW_SUBTAG: u64 = 11;

/// A map: how many entries it says it has, and the first of them.
pub struct Entries {
    /// How many it has.
    pub count: u64,
    /// Keys with their values, at most as many as were asked for.
    pub entries: Vec<(u64, u64)>,
    /// How many nodes may still be looked at: a damaged tree may go round.
    left: usize,
}

impl Entries {
    /// At most so many entries of the map at an address.
    pub fn load(memory: &Memory<'_>, at: Addr, most: usize) -> Option<Self> {
        let header = memory.word(at, 0)?;
        let count = memory.word(at, 8)?;
        let mut found = Self {
            count,
            entries: Vec::new(),
            left: most.saturating_mul(2).saturating_add(MIN_NODES),
        };
        if (header >> KIND_SHIFT) & KIND == FLAT {
            let keys = match TermKind::of(memory.word(at, 16)?) {
                TermKind::Boxed(keys) => keys,
                _ => return None,
            };
            for index in 0..count.min(most as u64) {
                let key = memory.element(keys, index.checked_add(1)?)?;
                found.entries.push((key, memory.element(at, index.checked_add(3)?)?));
            }
            return Some(found);
        }
        found.node(memory, at, most, MAX_LEVELS)?;
        Some(found)
    }

    /// The entries below a node.
    fn node(&mut self, memory: &Memory<'_>, at: Addr, most: usize, levels: u32) -> Option<()> {
        let levels = levels.checked_sub(1)?;
        self.left = self.left.checked_sub(1)?;
        let header = memory.word(at, 0)?;
        let (first, count) = children(header)?;
        for index in 0..count {
            if self.entries.len() >= most {
                return Some(());
            }
            let child = memory.element(at, index.checked_add(first)?)?;
            match TermKind::of(child) {
                TermKind::List(cell) => {
                    self.entries.push((memory.word(cell, 0)?, memory.word(cell, 8)?));
                }
                TermKind::Boxed(_) => {
                    self.node(memory, Addr::new(child & !POINTER_TAG), most, levels)?;
                }
                _ => return None,
            }
        }
        Some(())
    }
}

/// The index of the first child of a node, and how many it has. Keys with the same hash stand in a tuple.
const fn children(header: u64) -> Option<(u64, u64)> {
    if header & HEADER_MASK == 0 {
        let count = header >> ARITY_SHIFT;
        return if count <= CHILDREN { Some((1, count)) } else { None };
    }
    let children = ((header >> CHILDREN_SHIFT) & CHILDREN).count_ones() as u64;
    match (header >> KIND_SHIFT) & KIND {
        NODE => Some((1, children)),
        FULL_HEAD => Some((2, 16)),
        _ => Some((2, children)),
    }
}
