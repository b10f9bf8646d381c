//! `std::map`, `set`, `multimap` and `multiset`: trees, in order of the keys.

use kcore_mem::Addr;

use super::pairs::NodeContent;
use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Levels of a balanced tree that has as many nodes as there are addresses.
const MAX_LEVELS: usize = 128;

/// Trees of nodes.
pub struct Map;

impl Printer for Map {
    fn families(&self) -> &'static [&'static str] {
        &["std::map", "std::multimap", "std::set", "std::multiset"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let is_map = object.ty.name()?.split('<').next()?.ends_with("map");
        let tree =
            Tree::libstdcxx(evaluator, object).or_else(|| Tree::libcxx(evaluator, object))?;
        let held = NodeContent::of(evaluator, &object.ty, is_map, tree.links)?;
        if (tree.count == 0) != (tree.root.get() == 0)
            || (tree.count > 0 && !evaluator.is_mapped(tree.root))
        {
            return None;
        }
        let count = tree.count;
        let mut walk = Walk { left: tree.left, right: tree.right, above: Vec::new() };
        walk.descend(evaluator, tree.root)?;
        match is_map {
            true => evaluator.entries(count, |evaluator, _| {
                let node = walk.next(evaluator)?;
                held.pair_in(evaluator, node)
            }),
            false => evaluator.sequence(count, |evaluator, _| {
                let node = walk.next(evaluator)?;
                held.key_in(evaluator, node)
            }),
        }
    }
}

/// A tree, and where its nodes have what.
struct Tree {
    root: Addr,
    count: u64,
    left: u64,
    right: u64,
    links: u64,
}

impl Tree {
    /// `_Rb_tree_node_base`: colour, parent, left, right.
    fn libstdcxx(evaluator: &Evaluator<'_>, object: &Object) -> Option<Self> {
        let header = evaluator.dig(object, &["_M_header"])?;
        let root = evaluator.pointer_in(&header, &["_M_parent"])?;
        let count = evaluator.number_in(object, &["_M_node_count"])?;
        let words = |count| evaluator.word().checked_mul(count);
        Some(Self { root, count, left: words(2)?, right: words(3)?, links: words(4)? })
    }

    /// `__tree_node_base`: left, right, parent, and one byte of colour.
    fn libcxx(evaluator: &Evaluator<'_>, object: &Object) -> Option<Self> {
        let tree = evaluator.dig(object, &["__tree_"])?;
        let end = evaluator.dig(&tree, &["__pair1_", "__end_node_"])?;
        let root = evaluator.pointer_in(&end, &["__left_"])?;
        let count = evaluator.number_in(&tree, &["__pair3_", "__size_"])?;
        let word = evaluator.word();
        let links = word.checked_mul(3)?.checked_add(1)?;
        Some(Self { root, count, left: 0, right: word, links })
    }
}

/// From one node to the next in order.
struct Walk {
    left: u64,
    right: u64,
    /// Nodes whose left parts were seen.
    above: Vec<Addr>,
}

impl Walk {
    /// Goes down to the leftmost node of a part of the tree.
    fn descend(&mut self, evaluator: &Evaluator<'_>, from: Addr) -> Option<()> {
        let mut node = from;
        while node.get() != 0 {
            if self.above.len() >= MAX_LEVELS {
                return None;
            }
            self.above.push(node);
            node = evaluator.pointer_at(node, self.left)?;
        }
        Some(())
    }

    fn next(&mut self, evaluator: &Evaluator<'_>) -> Option<Addr> {
        let node = self.above.pop()?;
        let right = evaluator.pointer_at(node, self.right)?;
        self.descend(evaluator, right)?;
        Some(node)
    }
}
