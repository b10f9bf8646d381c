//! `BTreeMap` and `BTreeSet`: nodes of up to eleven keys, in order.

use kcore_mem::Addr;
use kcore_symbols::Type;

use crate::{
    Content, Object,
    eval::Evaluator,
    printers::{Printer, find::aligned},
};

/// Levels of a tree that has as many nodes as there are addresses.
const MAX_LEVELS: u64 = 64;

/// Keys of one node (`CAPACITY` in `alloc::collections::btree::node`).
const CAPACITY: u64 = 11;

/// Trees of nodes.
pub struct BTree;

impl Printer for BTree {
    fn families(&self) -> &'static [&'static str] {
        &["rust::BTreeMap", "rust::BTreeSet"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let is_map = object.ty.name()?.starts_with("BTreeMap");
        let length = evaluator.number_in(object, &["length"])?;
        let mut walk = Walk { leaf: None, above: Vec::new() };
        if length > 0 {
            let root = evaluator.dig(object, &["root"])?;
            let height = evaluator.number_in(&root, &["height"])?;
            let node = evaluator.dig_pointer(&evaluator.dig(&root, &["node"])?)?;
            let leaf = node.target(evaluator.process()).ok()?;
            walk.leaf = Some(leaf.ty.clone());
            walk.descend(evaluator, leaf.address()?, height)?;
        }
        match is_map {
            true => evaluator.entries(length, |evaluator, _| {
                let (node, index) = walk.next(evaluator)?;
                let key = element(evaluator, &node, "keys", index)?;
                Some((key, element(evaluator, &node, "vals", index)?))
            }),
            false => evaluator.sequence(length, |evaluator, _| {
                let (node, index) = walk.next(evaluator)?;
                element(evaluator, &node, "keys", index)
            }),
        }
    }
}

/// A key or a value of a node, without what says that it may not be there.
fn element(evaluator: &Evaluator<'_>, node: &Object, member: &str, index: u64) -> Option<Object> {
    let all = evaluator.member(node, member)?;
    let slot = all.index(evaluator.process(), i64::try_from(index).ok()?).ok()?;
    let ty = evaluator.complete(&slot.ty)?;
    Some(slot.cast(evaluator.argument(&ty, 0)?))
}

/// From one key to the next in order.
struct Walk {
    /// The type of leaves, with which nodes begin that have others below them.
    leaf: Option<Type>,
    /// Nodes on the way down, with their heights and the next key of each.
    above: Vec<(Addr, u64, u64)>,
}

impl Walk {
    /// Goes down to the leaf of the least keys below a node.
    fn descend(&mut self, evaluator: &Evaluator<'_>, from: Addr, height: u64) -> Option<()> {
        if height > MAX_LEVELS {
            return None;
        }
        let mut node = from;
        for height in (0..=height).rev() {
            self.above.push((node, height, 0));
            if height > 0 {
                node = self.edge(evaluator, node, 0)?;
            }
        }
        Some(())
    }

    /// The node before the key of that number.
    fn edge(&self, evaluator: &Evaluator<'_>, node: Addr, index: u64) -> Option<Addr> {
        let size = evaluator.complete(self.leaf.as_ref()?)?.size()?;
        let edges = aligned(size, evaluator.word());
        evaluator.pointer_at(node, edges.checked_add(index.checked_mul(evaluator.word())?)?)
    }

    fn next(&mut self, evaluator: &Evaluator<'_>) -> Option<(Object, u64)> {
        loop {
            let (at, height, index) = self.above.pop()?;
            let node = Object::at(self.leaf.clone()?, at);
            let len = evaluator.number_in(&node, &["len"]).filter(|len| *len <= CAPACITY)?;
            if index >= len {
                continue;
            }
            let following = index.checked_add(1)?;
            self.above.push((at, height, following));
            if let Some(below) = height.checked_sub(1) {
                let edge = self.edge(evaluator, at, following)?;
                self.descend(evaluator, edge, below)?;
            }
            return Some((node, index));
        }
    }
}
