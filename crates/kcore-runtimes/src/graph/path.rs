//! The search for a shortest way from a root.

use std::collections::{BTreeSet, VecDeque};

use super::{Graph, NONE, Root};

/// A way through objects, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePath<'g> {
    /// What keeps the first one.
    pub root: &'g Root,
    /// They; the last one is one that was wanted.
    pub nodes: Vec<u32>,
}

impl Graph {
    /// A shortest way from a root to any of some objects; `None` when none of them is reachable. Roots that are
    /// certain come first.
    pub fn shortest_path(&self, wanted: &BTreeSet<u32>) -> Option<NodePath<'_>> {
        self.search(self.certain, wanted).or_else(|| self.search(self.roots.len(), wanted))
    }

    /// A search in breadth from the first so many roots.
    fn search(&self, roots: usize, wanted: &BTreeSet<u32>) -> Option<NodePath<'_>> {
        let roots = self.root_nodes.get(..roots)?;
        // From which node each was reached; itself of roots.
        let mut from = vec![NONE; self.node_count()];
        let mut left = VecDeque::new();
        for root in roots {
            enter(&mut from, &mut left, *root, *root);
        }
        while let Some(node) = left.pop_front() {
            if wanted.contains(&node) {
                return self.trace(&from, node);
            }
            for target in self.edges.targets(node) {
                enter(&mut from, &mut left, target, node);
            }
        }
        None
    }

    fn trace(&self, from: &[u32], found: u32) -> Option<NodePath<'_>> {
        let mut nodes = vec![found];
        let mut node = found;
        loop {
            let before = *from.get(node as usize)?;
            if before == node {
                break;
            }
            nodes.push(before);
            node = before;
        }
        nodes.reverse();
        let root = self.root_nodes.iter().position(|root| *root == node)?;
        Some(NodePath { root: self.roots.get(root)?, nodes })
    }
}

fn enter(from: &mut [u32], left: &mut VecDeque<u32>, node: u32, by: u32) {
    if let Some(from) = from.get_mut(node as usize).filter(|from| **from == NONE) {
        *from = by;
        left.push_back(node);
    }
}
