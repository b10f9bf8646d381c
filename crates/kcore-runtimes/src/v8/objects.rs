//! V8's heap as the heap of any runtime.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Heap, V8,
    census::{Reference, References, graph},
    heap::Object,
};
use crate::{
    Host,
    graph::{Graph, GraphCell, Nodes, Path, Root},
    objects::{ClassCount, HeapObject, NamedEdge, Objects, Referrer, Stopped, Targets, Watch},
};

/// References of one object that are told with their names, at most.
const MAX_EDGES: usize = 1 << 16;
/// Objects after which whoever waits is asked whether to go on.
const STRIDE: u64 = 1 << 14;

impl Objects for V8 {
    /// With the tag of a strong reference.
    fn reference_to(&self, at: Addr) -> Addr {
        Addr::new(at.get() | 1)
    }

    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        let holder = V8::holder(self, host, at)?;
        let class = self.heap(host).object_at(holder.at).map(|object| object.map);
        Some(HeapObject { at: holder.at, class, size: holder.size })
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        V8::class_at(self, host, at).map(Arc::from)
    }

    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        let Some(census) = self.census(host, watch)? else { return Ok(()) };
        let references = References::new(self.heap(host), &census);
        for (done, at) in (0_u64..).zip(census.objects()) {
            let map = references.map(at);
            let size = map.and_then(|map| references.size(at, map)).unwrap_or_default();
            tell(HeapObject { at, class: map.map(|map| map.map), size });
            if done.is_multiple_of(STRIDE) && watch(done, census.object_count()).is_break() {
                return Err(Stopped);
            }
        }
        Ok(())
    }

    /// The census counted them already.
    fn class_counts(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Vec<ClassCount>, Stopped> {
        let Some(census) = self.census(host, watch)? else { return Ok(Vec::new()) };
        let counts = census.maps().iter().map(|map| ClassCount {
            class: Some(map.map),
            count: map.count,
            bytes: map.bytes,
            example: map.first,
        });
        Ok(counts.collect())
    }

    fn missing(&self, _host: &dyn Host) -> Option<String> {
        let missing = self.known_census()?.rest().missing;
        (missing > 0).then(|| format!("{missing:#x} bytes of the heap were not dumped"))
    }

    /// Includes properties, elements and entries, which lie in stores of their own.
    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let (Some(census), heap) = (self.known_census(), self.heap(host)) else {
            return Vec::new();
        };
        let Some(object) = heap.object_at(at) else { return Vec::new() };
        let references = References::new(heap, census);
        let mut edges = Vec::new();
        for reference in told(&references, at) {
            let Reference { offset, to, is_weak } = reference;
            edges.push(NamedEdge { to, edge: heap.edge(object, offset), is_weak });
            let stored = told(&references, to).into_iter();
            edges.extend(stored.filter_map(|within| stored_edge(&heap, object, reference, within)));
            if edges.len() >= MAX_EDGES {
                break;
            }
        }
        edges.truncate(MAX_EDGES);
        edges
    }

    fn targets<'a>(&'a self, host: &'a dyn Host) -> Box<dyn Targets + 'a> {
        let census = self.known_census();
        Box::new(census.map(|census| References::new(self.heap(host), census)))
    }

    fn referrers(
        &self,
        host: &dyn Host,
        to: &[Addr],
        watch: Watch<'_>,
    ) -> Result<Vec<Referrer>, Stopped> {
        match self.census(host, watch)? {
            Some(census) => V8::referrers(self, host, &census, to, watch),
            None => Ok(Vec::new()),
        }
    }

    fn roots(
        &self,
        host: &dyn Host,
        _nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        let Some(census) = self.census(host, watch)? else { return Ok(()) };
        let (certain, guessed) = graph::roots(host, &self.heap(host), &census, watch)?;
        certain.into_iter().chain(guessed).for_each(tell);
        Ok(())
    }

    fn unknown_roots(&self) -> &'static str {
        "which words of other memory are handles of the embedder"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }

    fn graph(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Option<Arc<Graph>>, Stopped> {
        match self.census(host, watch)? {
            Some(census) => V8::graph(self, host, &census, watch),
            None => Ok(None),
        }
    }

    /// Leaves out property cells too.
    fn path(&self, host: &dyn Host, at: Addr, watch: Watch<'_>) -> Result<Option<Path>, Stopped> {
        let Some(census) = self.census(host, watch)? else { return Ok(None) };
        let graph = V8::graph(self, host, &census, watch)?;
        Ok(graph.and_then(|graph| V8::path(self, host, &census, &graph, at)))
    }
}

/// Finds nothing without a census, which knows where objects begin.
impl Targets for Option<References<'_>> {
    fn each(&mut self, at: Addr, tell: &mut dyn FnMut(Addr)) {
        if let Some(references) = self {
            references.each(at, &mut |reference| {
                if !reference.is_weak {
                    tell(reference.to);
                }
            });
        }
    }
}

/// What an object refers to, at most [`MAX_EDGES`].
fn told(references: &References<'_>, at: Addr) -> Vec<Reference> {
    let mut found = Vec::new();
    references.each(at, &mut |reference| {
        if found.len() < MAX_EDGES {
            found.push(reference);
        }
    });
    found
}

/// How an object refers to what its store holds; `None` if that is no store of the object.
fn stored_edge(
    heap: &Heap<'_>,
    object: Object,
    store: Reference,
    within: Reference,
) -> Option<NamedEdge> {
    heap.is_receiver(object).then_some(())?;
    let edge = heap.stored_edge(object, store.offset, heap.object_at(store.to)?, within.offset)?;
    Some(NamedEdge { to: within.to, edge, is_weak: within.is_weak })
}
