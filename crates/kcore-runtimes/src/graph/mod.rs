//! The graph of all objects of a runtime: what keeps what, what is reachable, and what would be freed with an object.
//!
//! It is the same for all runtimes ([`crate::objects`]): an object is a number, and only references that keep their
//! objects are edges. What reads the objects is not here, but for [`Graph::of`], which serves every runtime that has no
//! quicker way of its own.

mod build;
mod cell;
mod classes;
mod dominators;
mod edges;
pub(crate) mod native_words;
mod nodes;
mod path;
mod retained;
mod root;
mod route;

use std::{fmt, sync::Arc};

use kcore_mem::Addr;

pub use cell::GraphCell;
pub use classes::ClassSize;
pub use edges::Edges;
pub use nodes::Nodes;
pub use retained::Retained;
pub use root::{Root, RootKind};
pub(crate) use route::path_to;
pub use route::{Path, PathStep};

/// No node.
pub(crate) const NONE: u32 = u32::MAX;
/// No more objects have numbers in a graph.
pub(crate) const MAX_OBJECTS: u64 = (u32::MAX as u64) / 2;

/// All objects, and what they keep: less than half of 2³², and less than 2³² references.
pub struct Graph {
    nodes: Arc<dyn Nodes>,
    edges: Edges,
    /// The size of each object in words.
    words: Vec<u32>,
    /// The class of each object, as an index of `examples`; [`NONE`] where it cannot be read.
    class_of: Vec<u32>,
    /// An object of each class.
    examples: Vec<Addr>,
    /// What keeps objects from outside; those that are certain first.
    roots: Vec<Root>,
    /// What each of them keeps; [`NONE`] of what has no number.
    root_nodes: Vec<u32>,
    /// How many of them are certain.
    certain: usize,
}

/// What was read of all objects, in the order of their numbers.
pub(crate) struct ReadObjects {
    /// Their numbers.
    pub nodes: Arc<dyn Nodes>,
    /// What they keep.
    pub edges: Edges,
    /// Their sizes in words.
    pub words: Vec<u32>,
    /// Their classes, as indices of `examples`.
    pub class_of: Vec<u32>,
    /// An object of each class.
    pub examples: Vec<Addr>,
}

impl Graph {
    /// Of what was read, and of roots. Those that are not certain count where nothing certain reaches.
    pub(crate) fn new(read: ReadObjects, certain: Vec<Root>, guessed: Vec<Root>) -> Self {
        let ReadObjects { nodes, edges, words, class_of, examples } = read;
        let node = |root: &Root| nodes.number(root.to).unwrap_or(NONE);
        let mut root_nodes: Vec<u32> = certain.iter().map(node).collect();
        let reached = reachable(&edges, &root_nodes);
        let count = certain.len();
        let mut roots = certain;
        for root in guessed {
            let number = node(&root);
            if !is_set(&reached, number) {
                root_nodes.push(number);
                roots.push(root);
            }
        }
        Self { nodes, edges, words, class_of, examples, roots, root_nodes, certain: count }
    }

    /// How many objects there are.
    pub fn node_count(&self) -> usize {
        self.words.len()
    }

    /// How many references keep their objects.
    pub fn edge_count(&self) -> usize {
        self.edges.edge_count()
    }

    /// The numbers of objects.
    pub fn nodes(&self) -> &dyn Nodes {
        self.nodes.as_ref()
    }

    /// What keeps objects from outside; those that are certain first.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The size of an object in bytes.
    pub fn bytes(&self, node: u32) -> u64 {
        u64::from(self.words.get(node as usize).copied().unwrap_or(0)).saturating_mul(8)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (nodes, edges) = (self.node_count(), self.edge_count());
        f.debug_struct("Graph")
            .field("nodes", &nodes)
            .field("edges", &edges)
            .finish_non_exhaustive()
    }
}

/// What is reached from some nodes: a mark for each node.
fn reachable(edges: &Edges, from: &[u32]) -> Vec<bool> {
    let mut reached = vec![false; edges.node_count()];
    let mut left: Vec<u32> = Vec::new();
    for root in from {
        mark(&mut reached, *root, &mut left);
        while let Some(node) = left.pop() {
            for target in edges.targets(node) {
                mark(&mut reached, target, &mut left);
            }
        }
    }
    reached
}

fn mark(reached: &mut [bool], node: u32, left: &mut Vec<u32>) {
    if let Some(reached) = reached.get_mut(node as usize).filter(|reached| !**reached) {
        *reached = true;
        left.push(node);
    }
}

fn is_set(marks: &[bool], node: u32) -> bool {
    marks.get(node as usize).copied().unwrap_or(false)
}
