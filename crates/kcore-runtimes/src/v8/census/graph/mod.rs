//! The graph of all objects: what keeps what, what is reachable, and what would be freed with an object.
//!
//! An object is known by its number in the census. Only references that keep their objects are edges. A table
//! whose keys keep its values, that of a weak map, has no edges to them: its keys do.

mod build;
mod classes;
mod dominators;
mod edges;
mod path;
mod retained;
mod roots;

use std::sync::Arc;

use kcore_mem::Addr;

pub use classes::ClassSize;
pub use path::{Path, PathStep};
pub use retained::Retained;
pub use roots::{Root, RootKind};

use super::{Census, Stopped, Watch};
use crate::{Host, v8::V8};
use edges::Edges;

/// No more objects have numbers in a graph.
const MAX_OBJECTS: u64 = (u32::MAX as u64) / 2;

/// All objects, and what they keep.
#[derive(Debug)]
pub struct Graph {
    edges: Edges,
    /// The size of each object in words.
    words: Vec<u32>,
    /// The map of each object: its place in the census.
    maps: Vec<u32>,
    /// What keeps objects from outside; those that are certain first.
    roots: Vec<Root>,
    /// How many of them are certain.
    certain: usize,
}

impl V8 {
    /// The graph of all objects; it is made once. `None` when it would have more than half of 2³² objects, or
    /// 2³² edges.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn graph(
        &self,
        host: &dyn Host,
        census: &Census,
        watch: Watch<'_>,
    ) -> Result<Option<Arc<Graph>>, Stopped> {
        if let Some(graph) = self.graph.get() {
            return Ok(graph.clone());
        }
        let graph = Graph::build(self, host, census, watch)?.map(Arc::new);
        Ok(self.graph.get_or_init(|| graph).clone())
    }

    /// What objects retain, as far as they are reachable; it is found once.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn retained(&self, graph: &Graph, watch: Watch<'_>) -> Result<Arc<Retained>, Stopped> {
        if let Some(retained) = self.retained.get() {
            return Ok(retained.clone());
        }
        let retained = Arc::new(Retained::of(graph, watch)?);
        Ok(self.retained.get_or_init(|| retained).clone())
    }
}

impl Graph {
    fn build(
        v8: &V8,
        host: &dyn Host,
        census: &Census,
        watch: Watch<'_>,
    ) -> Result<Option<Self>, Stopped> {
        if census.object_count() > MAX_OBJECTS {
            return Ok(None);
        }
        let heap = v8.heap(host);
        let Some(built) = build::build(&heap, census, watch)? else { return Ok(None) };
        let (certain, guessed) = roots::find(host, &heap, census, watch)?;
        let reached = reachable(&built.edges, certain.iter().map(|root| root.node));
        let needed = guessed.into_iter().filter(|root| !is_set(&reached, root.node));
        let count = certain.len();
        Ok(Some(Self {
            edges: built.edges,
            words: built.words,
            maps: built.maps,
            roots: certain.into_iter().chain(needed).collect(),
            certain: count,
        }))
    }

    /// How many objects there are.
    pub fn node_count(&self) -> usize {
        self.words.len()
    }

    /// How many references keep their objects.
    pub fn edge_count(&self) -> usize {
        self.edges.edge_count()
    }

    /// What keeps objects from outside.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The size of an object in bytes.
    pub fn bytes(&self, node: u32) -> u64 {
        u64::from(self.words.get(node as usize).copied().unwrap_or(0)).saturating_mul(8)
    }
}

/// What is reached from some nodes: a mark for each node.
fn reachable(edges: &Edges, from: impl Iterator<Item = u32>) -> Vec<bool> {
    let mut reached = vec![false; edges.node_count()];
    let mut left: Vec<u32> = Vec::new();
    for root in from {
        mark(&mut reached, root, &mut left);
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

/// The number of the object at an address, as the graph counts.
fn node_at(census: &Census, at: Addr) -> Option<u32> {
    u32::try_from(census.index_of(at)?).ok()
}
