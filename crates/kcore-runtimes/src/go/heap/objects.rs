//! Go's heap as the heap of any runtime.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_parallel::prelude::*;
use rustc_hash::FxHashMap;

use super::{
    Heap,
    census::{Finder, Types},
    class::Class,
    edges::{Reference, References},
    size_class::below,
    slots::TypeReader,
    span::Span,
};
use crate::{
    Host,
    go::{Form, Go, Typed},
    graph::{GraphCell, Nodes, Root},
    objects::{
        ClassCount, Edge, HeapObject, NamedEdge, Objects, Referrer, Stopped, Targets, Watch,
    },
};

/// Spans that one thread reads at a time, and jobs between two looks at the user.
const JOB: usize = 64;
const STEP: usize = 16;
/// References of one object that are told with their names, and referrers, at most.
const MAX_EDGES: usize = 1 << 20;
const MAX_REFERRERS: usize = 1 << 20;

impl Go {
    /// Whether it has a heap that can be read.
    pub(in crate::go) fn has_heap(&self, host: &dyn Host) -> bool {
        self.has_goroutines() && self.heap(host).is_ok()
    }

    fn types(&self, host: &dyn Host, heap: &Heap, watch: Watch<'_>) -> Result<&Types, Stopped> {
        if let Some(types) = self.heap.types.get() {
            return Ok(types);
        }
        let reader = TypeReader::new(host.space(), &self.tables);
        let types = Finder { go: self, host, heap, reader }.find(watch)?;
        Ok(self.heap.types.get_or_init(|| Arc::new(types)))
    }

    /// The same, for what must be answered.
    fn all_types(&self, host: &dyn Host, heap: &Heap) -> Option<&Types> {
        let halted = || host.budget().is_some_and(|budget| budget.is_halted());
        let mut watch = |_, _| match halted() {
            true => std::ops::ControlFlow::Break(()),
            false => std::ops::ControlFlow::Continue(()),
        };
        self.types(host, heap, &mut watch).ok()
    }

    /// The value or values of a known type that the object is which holds an address.
    pub fn object_of_type(&self, host: &dyn Host, at: Addr) -> Option<Typed> {
        let heap = self.heap(host).ok()?;
        let (span, index, class) = self.object_and_class(host, heap, at)?;
        let (at, room, _) = heap.body(&span, index);
        match class {
            Class::Value(ty) => Some(Typed { at, ty, form: Form::One }),
            Class::Map(ty) => Some(Typed { at, ty, form: Form::MapHead }),
            Class::Array(ty) => {
                let size = TypeReader::new(host.space(), &self.tables).shaped(ty)?.ty.size;
                Some(Typed { at, ty, form: Form::Several(room.checked_div(size)?) })
            }
            _ => None,
        }
    }

    /// Whether an object of the heap begins at an address.
    pub(in crate::go) fn has_object(&self, host: &dyn Host, at: Addr) -> bool {
        let found = self.heap(host).ok().and_then(|heap| heap.object_at(at).map(|it| (heap, it)));
        found.is_some_and(|(heap, (span, index))| heap.body(span, index).0 == at)
    }

    /// Whether an object of the heap begins at an address whose slot a value of so many bytes would have.
    pub(in crate::go) fn has_object_of_size(&self, host: &dyn Host, at: Addr, size: u64) -> bool {
        let Ok(heap) = self.heap(host) else { return false };
        let Some((span, index)) = heap.object_at(at) else { return false };
        let (start, room, _) = heap.body(span, index);
        start == at && size <= room && size > below(span.slot)
    }

    /// The name of the type of the object that holds an address, if it is a value of a known type.
    pub(in crate::go) fn type_name_of(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let heap = self.heap(host).ok()?;
        match self.object_and_class(host, heap, at)? {
            (_, _, Class::Unknown(..)) => None,
            (_, _, class) => Some(class.name(self, host)),
        }
    }

    /// The objects of the heap that are values of types which `is_wanted` accepts, with those types.
    pub(in crate::go) fn values_of(
        &self,
        host: &dyn Host,
        is_wanted: &dyn Fn(Addr) -> bool,
    ) -> Vec<(Addr, Addr)> {
        let Ok(heap) = self.heap(host) else { return Vec::new() };
        let Some(types) = self.all_types(host, heap) else { return Vec::new() };
        let mut found = Vec::new();
        for span in heap.spans.iter().filter(|span| !span.is_plain) {
            for index in heap.objects_of(span) {
                if let Class::Value(ty) = types.class_of(span, index)
                    && is_wanted(ty)
                {
                    found.push((heap.body(span, index).0, ty));
                }
            }
        }
        found
    }

    /// The object that holds an address, and what it is.
    pub(super) fn object_and_class(
        &self,
        host: &dyn Host,
        heap: &Heap,
        at: Addr,
    ) -> Option<(Span, u32, Class)> {
        let (span, index) = heap.object_at(at)?;
        let class = self.all_types(host, heap)?.class_of(span, index);
        Some((*span, index, class))
    }

    fn object(types: &Types, span: &Span, index: u32) -> HeapObject {
        let class = types.class_of(span, index);
        HeapObject { at: span.slot_at(index), class: Some(types.key(class)), size: span.slot }
    }
}

impl Objects for Go {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        let heap = self.heap(host).ok()?;
        let (span, index) = heap.object_at(at)?;
        Some(Self::object(self.all_types(host, heap)?, span, index))
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let heap = self.heap(host).ok()?;
        let (_, _, class) = self.object_and_class(host, heap, at)?;
        Some(class.name(self, host))
    }

    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        let Ok(heap) = self.heap(host) else { return Ok(()) };
        let types = self.types(host, heap, watch)?;
        for (done, span) in (0_u64..).zip(&heap.spans) {
            for index in heap.objects_of(span) {
                tell(Self::object(types, span, index));
            }
            if done.is_multiple_of(JOB as u64) && watch(done, heap.spans.len() as u64).is_break() {
                return Err(Stopped);
            }
        }
        Ok(())
    }

    fn class_counts(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Vec<ClassCount>, Stopped> {
        let Ok(heap) = self.heap(host) else { return Ok(Vec::new()) };
        let types = self.types(host, heap, watch)?;
        let mut all: FxHashMap<Class, ClassCount> = FxHashMap::default();
        for spans in heap.spans.chunks(JOB.saturating_mul(STEP)) {
            let parts: Vec<FxHashMap<Class, ClassCount>> =
                spans.par_chunks(JOB).map(|job| counts(heap, types, job)).collect();
            for (class, part) in parts.into_iter().flatten() {
                let known = all.entry(class).or_insert(ClassCount { count: 0, bytes: 0, ..part });
                known.count = known.count.saturating_add(part.count);
                known.bytes = known.bytes.saturating_add(part.bytes);
            }
            if watch(0, 0).is_break() {
                return Err(Stopped);
            }
        }
        Ok(all.into_values().collect())
    }

    fn missing(&self, host: &dyn Host) -> Option<String> {
        let damaged = self.heap(host).ok()?.damaged;
        (damaged > 0).then(|| format!("{damaged} spans of the heap are damaged or were not dumped"))
    }

    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let Ok(heap) = self.heap(host) else { return Vec::new() };
        let Some((span, index, class)) = self.object_and_class(host, heap, at) else {
            return Vec::new();
        };
        let reader = TypeReader::new(host.space(), &self.tables);
        let namer = Namer { class, reader: &reader, header: heap.header(&span) };
        let mut edges = Vec::new();
        References { heap, reader: &reader }.each(&span, index, &mut |reference| {
            if let Some((span, index)) = heap.object_at(Addr::new(reference.word))
                && edges.len() < MAX_EDGES
            {
                let (to, edge) = (span.slot_at(index), namer.edge(&reference));
                edges.push(NamedEdge { to, edge, is_weak: false });
            }
        });
        edges
    }

    fn targets<'a>(&'a self, host: &'a dyn Host) -> Box<dyn Targets + 'a> {
        let heap = self.heap(host).ok().map(Arc::as_ref);
        Box::new(Reader { heap, reader: TypeReader::new(host.space(), &self.tables) })
    }

    fn referrers(
        &self,
        host: &dyn Host,
        to: &[Addr],
        watch: Watch<'_>,
    ) -> Result<Vec<Referrer>, Stopped> {
        let Ok(heap) = self.heap(host) else { return Ok(Vec::new()) };
        let mut wanted: Vec<Addr> = to.to_vec();
        wanted.sort_unstable();
        let mut found = Vec::new();
        for (done, spans) in heap.spans.chunks(JOB.saturating_mul(STEP)).enumerate() {
            let parts: Vec<Vec<Addr>> = spans
                .par_chunks(JOB)
                .map(|job| referring(self, host, heap, job, &wanted))
                .collect();
            found.extend(parts.into_iter().flatten());
            found.truncate(MAX_REFERRERS);
            let done = done.saturating_mul(JOB.saturating_mul(STEP)) as u64;
            if watch(done, heap.spans.len() as u64).is_break() {
                return Err(Stopped);
            }
        }
        self.types(host, heap, watch)?;
        let named = |at: Addr| {
            let class = self.class_at(host, at);
            let edges = self.edges(host, at).into_iter();
            edges.filter(|edge| wanted.binary_search(&edge.to).is_ok()).map(move |edge| {
                let NamedEdge { to, edge, is_weak } = edge;
                Referrer { to, at, class: class.clone(), edge, is_weak }
            })
        };
        let mut found: Vec<Referrer> =
            found.into_iter().flat_map(named).take(MAX_REFERRERS).collect();
        found.sort_by_key(|referrer| (referrer.to, referrer.at));
        Ok(found)
    }

    fn roots(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        let Ok(heap) = self.heap(host) else { return Ok(()) };
        self.each_root(host, heap, nodes, watch, tell)
    }

    fn unknown_roots(&self) -> &'static str {
        "what C code keeps in its own memory"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.heap.graph
    }
}

fn counts(heap: &Heap, types: &Types, spans: &[Span]) -> FxHashMap<Class, ClassCount> {
    let mut counts: FxHashMap<Class, ClassCount> = FxHashMap::default();
    for span in spans {
        for index in heap.objects_of(span) {
            let class = types.class_of(span, index);
            let count = counts.entry(class).or_insert_with(|| ClassCount {
                class: Some(types.key(class)),
                count: 0,
                bytes: 0,
                example: span.slot_at(index),
            });
            count.count = count.count.saturating_add(1);
            count.bytes = count.bytes.saturating_add(span.slot);
        }
    }
    counts
}

/// The objects of some spans that refer to any of those that begin at `wanted`, which is sorted.
fn referring(go: &Go, host: &dyn Host, heap: &Heap, spans: &[Span], wanted: &[Addr]) -> Vec<Addr> {
    let reader = TypeReader::new(host.space(), &go.tables);
    let references = References { heap, reader: &reader };
    let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else { return Vec::new() };
    let end = heap.slot_at(*last).map_or(*last, |(span, _)| last.saturating_add(span.slot));
    let mut found = Vec::new();
    for span in spans.iter().filter(|span| !span.is_plain) {
        for index in heap.objects_of(span) {
            let mut refers = false;
            references.each(span, index, &mut |reference| {
                let word = Addr::new(reference.word);
                if refers || word < *first || word >= end {
                    return;
                }
                let object = heap.object_at(word).map(|(span, index)| span.slot_at(index));
                refers = object.is_some_and(|at| wanted.binary_search(&at).is_ok());
            });
            if refers {
                found.push(span.slot_at(index));
            }
        }
    }
    found
}

/// Reads what objects keep.
struct Reader<'a> {
    heap: Option<&'a Heap>,
    reader: TypeReader<'a>,
}

impl Targets for Reader<'_> {
    fn each(&mut self, at: Addr, tell: &mut dyn FnMut(Addr)) {
        let Some(heap) = self.heap else { return };
        let Some((span, index)) = heap.object_at(at) else { return };
        References { heap, reader: &self.reader }.each(span, index, &mut |reference| {
            if let Some((span, index)) = heap.object_at(Addr::new(reference.word)) {
                tell(span.slot_at(index));
            }
        });
    }
}

/// Names the references of an object by its type.
struct Namer<'a> {
    class: Class,
    reader: &'a TypeReader<'a>,
    header: u64,
}

impl Namer<'_> {
    fn edge(&self, reference: &Reference<'_>) -> Edge {
        if let Some((number, slot)) = reference.slot {
            return self.named(number, &slot.path);
        }
        let unnamed = Edge::Word(reference.offset);
        let (Class::Value(ty) | Class::Array(ty)) = self.class else { return unnamed };
        let words = self.reader.words(ty).filter(|words| words.shaped.ty.size > 0);
        let Some(words) = words else { return unnamed };
        let size = words.shaped.ty.size;
        let offset = reference.offset.saturating_sub(self.header);
        let (number, within) = match self.class {
            Class::Array(_) => (
                offset.checked_div(size).unwrap_or_default(),
                offset.checked_rem(size).unwrap_or_default(),
            ),
            _ => (0, offset),
        };
        let slot = words.slots.iter().find(|slot| slot.data_offset() == within);
        slot.map_or(unnamed, |slot| self.named(number, &slot.path))
    }

    fn named(&self, number: u64, path: &str) -> Edge {
        match (self.class, path.is_empty()) {
            (Class::Array(_), true) => Edge::Index(number),
            (Class::Array(_), false) => Edge::Member(format!("[{number}].{path}").into()),
            (_, true) => Edge::Inside,
            (_, false) => Edge::Member(path.into()),
        }
    }
}

impl Types {
    /// What stands for a class among those of other objects: it is no address.
    fn key(&self, class: Class) -> Addr {
        Addr::new(self.number(class))
    }
}
