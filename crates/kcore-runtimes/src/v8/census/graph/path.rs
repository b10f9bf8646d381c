//! The way from a root to an object.

use std::collections::BTreeSet;

use kcore_mem::Addr;

use super::super::{Census, Edge, References};
use crate::{
    Host,
    graph::{Graph, Nodes, Path, PathStep},
    v8::{Heap, V8, heap::Object},
};

/// Where a property cell holds its value.
const CELL_VALUE: u64 = 24;

impl V8 {
    /// The way from a root to the object that begins at `at`; `None` when there is none. Roots that are
    /// certain come first, and stores of an object's properties and elements are no steps of their own.
    pub fn path(&self, host: &dyn Host, census: &Census, graph: &Graph, at: Addr) -> Option<Path> {
        let found = graph.shortest_path(&BTreeSet::from([census.number(at)?]))?;
        let heap = self.heap(host);
        let objects = found.nodes.iter().filter_map(|node| heap.object_at(census.address(*node)?));
        let steps = steps(&heap, census, &objects.collect::<Vec<_>>());
        Some(Path { root: found.root.clone(), steps })
    }
}

/// The steps through objects, of which stores are left out.
fn steps(heap: &Heap<'_>, census: &Census, objects: &[Object]) -> Vec<PathStep> {
    let references = References::new(*heap, census);
    let mut steps: Vec<PathStep> = Vec::new();
    let mut index = 0_usize;
    let mut edge = None;
    while let Some(object) = objects.get(index) {
        let class = Some(heap.class_of_object(*object).into());
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
