//! Python's heap as the heap of any runtime.
//!
//! Its objects are those that may refer to others: what the collector keeps in its lists, and the dicts, tuples and code
//! that those lead to. A str or an int is found by who refers to it.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Python,
    heap::{Heap, Object},
    referrers::Words,
};
use crate::{
    Host,
    graph::{GraphCell, Nodes, Root},
    objects::{Edge, HeapObject, NamedEdge, Objects, Referrer, Stopped, Targets, Watch},
};

/// References of one object that are told with their names, at most.
const MAX_EDGES: usize = 1 << 20;
/// The name and the offset of `wr_object`, the object that a weak reference is to (`Include/cpython/weakrefobject.h`). It
/// is kept by others. Of the fields behind it, the callback alone is a strong reference.
pub const REFERENT: &str = "__referent__";
const WR_OBJECT: u64 = 16;
const WR_CALLBACK: u64 = 24;
/// The builtin types of weak references, as they call themselves, and as modules do.
const WEAK: [&str; 8] = [
    "weakref",
    "weakref.ReferenceType",
    "weakproxy",
    "weakref.ProxyType",
    "weakcallableproxy",
    "ReferenceType",
    "ProxyType",
    "CallableProxyType",
];

/// Whether a builtin type is one of weak references, by its name.
pub fn is_weak_reference(builtin: Option<&str>) -> bool {
    builtin.is_some_and(|builtin| WEAK.contains(&builtin))
}

impl Objects for Python {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        if let Some(held) = self.held(host, at) {
            let class = Some(held.object.class);
            return Some(HeapObject { at: held.object.at, class, size: held.size });
        }
        // The type of a generator, for one, does not tell how big it is, so `held` finds only where it begins.
        let heap = self.heap(host);
        let object =
            heap.object(at).filter(|_| heap.word(at, 0).is_some_and(|count| count != 0))?;
        let size = heap.whole_size(object).unwrap_or_default();
        Some(HeapObject { at, class: Some(object.class), size })
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        self.class_name(host, self.class_of(host, at)?)
    }

    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        let heap = self.heap(host);
        let census = self.census(host, watch)?;
        self.each_known(host, &census, watch, &mut |object| {
            let size = heap.whole_size(object).unwrap_or_default();
            tell(HeapObject { at: object.at, class: Some(object.class), size });
        })
    }

    fn missing(&self, _host: &dyn Host) -> Option<String> {
        let broken = self.census.get()?.broken;
        let what = "lists of the collector are damaged or were not dumped as a whole";
        (broken > 0).then(|| format!("{broken} {what}"))
    }

    /// First those with names, then what the object keeps without one.
    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let heap = self.heap(host);
        let Some(object) = heap.object(at) else { return Vec::new() };
        let is_reference = self.is_weak_reference(host, object.class);
        let named = self.named(host, &heap, object).into_iter();
        let class = (object.class, Edge::Slot("class"));
        let edge = |(to, edge): (Addr, Edge)| {
            let is_weak = is_reference && edge == Edge::Member(REFERENT.into());
            NamedEdge { to, edge, is_weak }
        };
        let mut edges: Vec<NamedEdge> = named.chain([class]).take(MAX_EDGES).map(edge).collect();
        let mut known: FxHashSet<Addr> = edges.iter().map(|edge| edge.to).collect();
        self.targets(host).each(at, &mut |to| {
            if edges.len() < MAX_EDGES && known.insert(to) {
                edges.push(NamedEdge { to, edge: Edge::Inside, is_weak: false });
            }
        });
        edges
    }

    fn targets<'a>(&'a self, host: &'a dyn Host) -> Box<dyn Targets + 'a> {
        let (heap, known) = (self.heap(host), FxHashMap::default());
        let weak = WeakReferences { python: self, host, heap, known };
        Box::new(Reader { words: Words::new(self, host), weak })
    }

    fn referrers(
        &self,
        host: &dyn Host,
        to: &[Addr],
        watch: Watch<'_>,
    ) -> Result<Vec<Referrer>, Stopped> {
        let census = self.census(host, watch)?;
        Python::referrers(self, host, &census, to, watch)
    }

    fn roots(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        self.each_root(host, nodes, watch, tell)
    }

    fn unknown_roots(&self) -> &'static str {
        "what C code keeps in its own memory"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }
}

impl Python {
    fn is_weak_reference(&self, host: &dyn Host, class: Addr) -> bool {
        is_weak_reference(self.builtin_name(host, class).as_deref())
    }
}

/// Tells weak references from other objects.
struct WeakReferences<'a> {
    python: &'a Python,
    host: &'a dyn Host,
    heap: Heap<'a>,
    /// Whether classes are of weak references.
    known: FxHashMap<Addr, bool>,
}

impl WeakReferences<'_> {
    fn has(&mut self, object: Object) -> bool {
        let (python, host, class) = (self.python, self.host, object.class);
        *self.known.entry(class).or_insert_with(|| python.is_weak_reference(host, class))
    }

    /// Whether what lies at `at` is a weak reference to an object, which has a list of those and keeps none of them.
    fn has_one_to(&mut self, at: Addr, object: Addr) -> bool {
        let refers = self.heap.word(at, WR_OBJECT) == Some(object.get());
        refers && self.heap.object(at).is_some_and(|at| self.has(at))
    }
}

/// Reads what objects keep.
struct Reader<'a> {
    words: Words<'a>,
    weak: WeakReferences<'a>,
}

impl Targets for Reader<'_> {
    fn each(&mut self, at: Addr, tell: &mut dyn FnMut(Addr)) {
        let Self { words, weak } = self;
        let Some(object) = weak.heap.object(at) else { return };
        tell(object.class);
        if weak.has(object) {
            weak.heap.pointer(at, WR_CALLBACK).into_iter().for_each(tell);
            return;
        }
        words.of(object, &mut |word| {
            // Since 3.14 the lowest bits of a word of a frame are a tag.
            let to = Addr::new(word & !3);
            if to.get() != 0 && !weak.has_one_to(to, at) {
                tell(to);
            }
        });
    }
}
