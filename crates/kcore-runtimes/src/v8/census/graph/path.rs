//! The way from a root to an object.

use std::{collections::VecDeque, sync::Arc};

use kcore_mem::Addr;

use super::{
    super::{Census, Edge, References},
    Graph, Root, node_at,
};
use crate::{
    Host,
    v8::{Heap, V8, heap::Object},
};

/// A way from a root to an object; no other is shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// What keeps the first object.
    pub root: Root,
    /// The objects on the way, the one that the root keeps first and the wanted one last.
    pub steps: Vec<PathStep>,
}

/// An object on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStep {
    /// Where it begins, without tag.
    pub at: Addr,
    /// What it is counted as.
    pub class: Arc<str>,
    /// How the one before keeps it; `None` of the first.
    pub edge: Option<Edge>,
}

const NONE: u32 = u32::MAX;
/// Where a property cell holds its value.
const CELL_VALUE: u64 = 24;

impl V8 {
    /// The way from a root to the object that begins at `at`; `None` when there is none. Roots that are
    /// certain come first, and stores of an object's properties and elements are no steps of their own.
    pub fn path(&self, host: &dyn Host, census: &Census, graph: &Graph, at: Addr) -> Option<Path> {
        let wanted = node_at(census, at)?;
        let (certain, _) = graph.roots.split_at_checked(graph.certain)?;
        let (root, nodes) =
            search(graph, certain, wanted).or_else(|| search(graph, &graph.roots, wanted))?;
        let heap = self.heap(host);
        let objects = nodes.iter().filter_map(|node| heap.object_at(census.nth(u64::from(*node))?));
        let steps = steps(&heap, census, &objects.collect::<Vec<_>>());
        Some(Path { root, steps })
    }
}

/// A search in breadth: the root, and the nodes from it to the wanted one.
fn search(graph: &Graph, roots: &[Root], wanted: u32) -> Option<(Root, Vec<u32>)> {
    // From which node each was reached; itself of roots.
    let mut from = vec![NONE; graph.node_count()];
    let mut left = VecDeque::new();
    for root in roots {
        enter(&mut from, &mut left, root.node, root.node);
    }
    while let Some(node) = left.pop_front() {
        if node == wanted {
            return trace(&from, roots, wanted);
        }
        for target in graph.edges.targets(node) {
            enter(&mut from, &mut left, target, node);
        }
    }
    None
}

fn enter(from: &mut [u32], left: &mut VecDeque<u32>, node: u32, by: u32) {
    if let Some(from) = from.get_mut(node as usize).filter(|from| **from == NONE) {
        *from = by;
        left.push_back(node);
    }
}

fn trace(from: &[u32], roots: &[Root], wanted: u32) -> Option<(Root, Vec<u32>)> {
    let mut nodes = vec![wanted];
    let mut node = wanted;
    loop {
        let before = *from.get(node as usize)?;
        if before == node {
            break;
        }
        nodes.push(before);
        node = before;
    }
    nodes.reverse();
    let root = roots.iter().find(|root| root.node == node)?;
    Some((*root, nodes))
}

/// The steps through objects, of which stores are left out.
fn steps(heap: &Heap<'_>, census: &Census, objects: &[Object]) -> Vec<PathStep> {
    let references = References::new(*heap, census);
    let mut steps: Vec<PathStep> = Vec::new();
    let mut index = 0_usize;
    let mut edge = None;
    while let Some(object) = objects.get(index) {
        let class = heap.class_of_object(*object).into();
        steps.push(PathStep { at: object.at, class, edge });
        let rest = objects.get(index.saturating_add(1)..).unwrap_or_default();
        let (by, skipped) = next_edge(heap, &references, *object, rest);
        edge = by;
        index = index.saturating_add(1).saturating_add(skipped);
    }
    steps
}

/// How an object keeps the next one, and how many stores lie between.
fn next_edge(
    heap: &Heap<'_>,
    references: &References<'_>,
    object: Object,
    rest: &[Object],
) -> (Option<Edge>, usize) {
    let Some(next) = rest.first() else { return (None, 0) };
    let offset = references.offset_of(object.at, next.at);
    if let (Some(at), Some(after)) = (offset, rest.get(1))
        && heap.is_receiver(object)
        && let Some(inner) = references.offset_of(next.at, after.at)
    {
        // Properties of the global object lie in cells of their own.
        if after.kind == heap.layout.types.property_cell && rest.len() > 2 {
            return (Some(heap.edge(*after, CELL_VALUE)), 2);
        }
        if let Some(edge) = heap.stored_edge(object, at, *next, inner) {
            return (Some(edge), 1);
        }
    }
    (offset.map(|offset| heap.edge(object, offset)).or(Some(Edge::Value)), 0)
}
