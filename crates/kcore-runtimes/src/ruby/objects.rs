//! The heap of MRI as all runtimes have one: `gc.c` (`gc_mark_children`), `include/ruby/internal/core/*.h`.
//!
//! Objects of C code refer to others by functions of their own, which are not known, but for what a block sees as `self`.
//! So are references of code and environments. Roots are the frames of threads with what their stacks of values hold; words of native stacks are
//! guesses.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};

use super::{
    Ruby,
    heap::{
        ARRAY, CLASS, COMPLEX, DATA, HASH, Heap, ICLASS, IMEMO, MODULE, NODE, OBJECT, Object,
        RATIONAL, REGEXP, STRING, STRUCT,
    },
    vm::Context,
};
use crate::{
    Host,
    graph::{GraphCell, Nodes, Root, RootKind},
    objects::{Edge, HeapObject, NamedEdge, Objects, Stopped, Watch},
};

/// A value on the stack of a thread or fiber.
pub const STACK: RootKind = RootKind::certain("stack", "the stack of values");
/// `self` of a frame.
pub const RECEIVER: RootKind = RootKind::certain("receiver", "the receiver of");
/// A class, which a constant of another one keeps as a rule.
pub const CLASSES: RootKind = RootKind::certain("class", "a class");
/// References of one object, at most.
const MAX_EDGES: usize = 1 << 22;
/// Words of one stack, at most.
const MAX_WORDS: u64 = 1 << 20;
/// `super` of a class.
const SUPER: u64 = 16;

impl Ruby {
    /// The contexts of threads and suspended fibers.
    fn contexts(&self, host: &dyn Host) -> Vec<(Option<kcore_unwind::Tid>, Context)> {
        let heap = self.heap(host);
        let threads = self.threads(host).all.iter().map(|thread| (thread.tid, thread.context));
        let fibers = self.fibers(host).all.iter().map(|fiber| (None, fiber.context));
        let mut all: Vec<_> = threads.chain(fibers).collect();
        all.sort_by_key(|(tid, at)| (*at, tid.is_none()));
        all.dedup_by_key(|(_, at)| *at);
        all.into_iter().filter_map(|(tid, at)| Some((tid, heap.context(at)?))).collect()
    }

    fn edge_list(&self, host: &dyn Host, heap: &Heap<'_>, object: Object) -> Vec<NamedEdge> {
        let mut edges = Edges { heap, found: Vec::new() };
        if let Some(class) =
            heap.class_of(object).filter(|_| object.kind() != IMEMO && object.kind() != NODE)
        {
            edges.add(class.get(), || Edge::Slot("class"));
        }
        match object.kind() {
            ARRAY => edges.of_array(object),
            HASH => edges.of_hash(object),
            OBJECT => edges.of_variables(object),
            STRUCT => edges.of_struct(object),
            REGEXP => edges.of_field(object, 24, "source"),
            COMPLEX | RATIONAL => {
                edges.of_field(object, 16, "first");
                edges.of_field(object, 24, "second");
            }
            DATA => edges.of_proc(object),
            CLASS | MODULE | ICLASS => {
                if let Some(above) = heap.pointer(object.at, SUPER) {
                    edges.add(above.get(), || Edge::Slot("superclass"));
                }
                if object.kind() != ICLASS {
                    edges.of_class(object, self.constants_at(host));
                }
            }
            _ => {}
        }
        edges.found
    }
}

/// References of one object.
struct Edges<'a> {
    heap: &'a Heap<'a>,
    found: Vec<NamedEdge>,
}

impl Edges<'_> {
    fn add(&mut self, value: u64, edge: impl FnOnce() -> Edge) {
        if self.heap.is_special(value) || self.found.len() >= MAX_EDGES {
            return;
        }
        self.found.push(NamedEdge { to: Addr::new(value), edge: edge(), is_weak: false });
    }

    fn of_array(&mut self, object: Object) {
        let Some((first, count)) = self.heap.elements(object) else { return };
        for index in 0..count.min(MAX_EDGES as u64) {
            let Some(value) = self.heap.word(first, index.saturating_mul(8)) else { return };
            self.add(value, || Edge::Index(index));
        }
    }

    fn of_hash(&mut self, object: Object) {
        let Some(entries) = self.heap.hash_entries(object) else { return };
        for (key, value) in entries.take(MAX_EDGES) {
            self.add(key, || Edge::Key);
            let heap = self.heap;
            self.add(value, || match (heap.symbol(key), heap.text(key)) {
                (Some(name), _) => Edge::Symbol(name.into()),
                (None, Some(name)) => Edge::Entry(name.into()),
                (None, None) if key & 1 != 0 => Edge::Numbered(key.cast_signed() >> 1),
                (None, None) => Edge::Value,
            });
        }
    }

    /// Constants, and variables of the class itself.
    fn of_class(&mut self, class: Object, constants: Option<u64>) {
        let constants = constants.and_then(|offset| self.heap.constants(class, offset));
        let variables = self.heap.own_variables(class);
        for (name, value) in constants.into_iter().chain(variables).flatten() {
            self.add(value, || Edge::Member(name));
        }
    }

    fn of_struct(&mut self, object: Object) {
        for (name, value) in self.heap.struct_members(object).unwrap_or_default() {
            self.add(value, || Edge::Member(name));
        }
    }

    fn of_field(&mut self, object: Object, offset: u64, name: &'static str) {
        if let Some(value) = self.heap.word(object.at, offset) {
            self.add(value, || Edge::Slot(name));
        }
    }

    /// What a block sees as `self`.
    fn of_proc(&mut self, object: Object) {
        let class = self.heap.class_of(object).and_then(|class| self.heap.real_class(class));
        let receiver = || {
            class.filter(|class| self.heap.descends(*class, "Proc"))?;
            self.heap.word(self.heap.data(object)?, 0)
        };
        if let Some(receiver) = receiver() {
            self.add(receiver, || Edge::Slot("self"));
        }
    }

    fn of_variables(&mut self, object: Object) {
        for (name, value) in self.heap.variables(object).unwrap_or_default() {
            self.add(value, || Edge::Member(name));
        }
    }
}

impl Objects for Ruby {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        let (start, size) = self.pages(host).slot_at(at)?;
        let heap = self.heap(host);
        let object = heap.object(start.get())?;
        Some(HeapObject { at: start, class: heap.class_of_all(object), size })
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let heap = self.heap(host);
        let object = heap.object(at.get())?;
        let class = heap.class_of_all(object)?;
        Some(match heap.class_name(class) {
            Some(name) => name.into(),
            None if heap.class(class).is_some() => heap.unnamed(class).into(),
            None => kind_word(object.kind()).into(),
        })
    }

    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        let heap = self.heap(host);
        self.each_slot(host, watch, &mut |object, size| {
            tell(HeapObject { at: object.at, class: heap.class_of_all(object), size });
        })
    }

    fn missing(&self, host: &dyn Host) -> Option<String> {
        let pages = self.pages.get()?;
        let _ = host;
        match (pages.is_found, pages.unread) {
            (false, _) => {
                Some("the list of pages of the heap is not found, or was not dumped".to_owned())
            }
            (true, 0) => None,
            (true, count) => Some(format!("{count} pages of the heap cannot be read")),
        }
    }

    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let heap = self.heap(host);
        let mut edges = heap
            .object(at.get())
            .map(|object| self.edge_list(host, &heap, object))
            .unwrap_or_default();
        edges.retain(|edge| heap.object(edge.to.get()).is_some());
        edges
    }

    fn roots(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        let heap = self.heap(host);
        for (tid, context) in self.contexts(host) {
            if watch(0, 0).is_break() {
                return Err(Stopped);
            }
            for frame in self.chain(&heap, &context).frames() {
                let to = Addr::new(frame.receiver);
                if nodes.number(to).is_some() {
                    let name = frame.function.clone();
                    tell(Root {
                        name,
                        thread: tid,
                        at: Some(frame.at),
                        ..Root::new(&RECEIVER, to)
                    });
                }
            }
            // Values grow up, frames grow down to them.
            let used = AddrRange::new(context.stack, context.frame);
            for index in 0..used.len().checked_div(8).unwrap_or_default().min(MAX_WORDS) {
                let at = context.stack.saturating_add(index.saturating_mul(8));
                let Ok(word) = host.space().read_addr(at) else { break };
                if nodes.number(word).is_some() {
                    tell(Root { thread: tid, at: Some(at), ..Root::new(&STACK, word) });
                }
            }
        }
        self.each_slot(host, watch, &mut |object, _| {
            if matches!(object.kind(), CLASS | MODULE) {
                let name = heap.class_name(object.at).map(Arc::from);
                tell(Root { name, ..Root::new(&CLASSES, object.at) });
            }
        })
    }

    fn unknown_roots(&self) -> &'static str {
        match self.constants.get() {
            Some(Some(_)) => {
                "global variables, code, environments of blocks, and what C code keeps in its own memory"
            }
            _ => {
                "constants, global variables, code, environments of blocks, and what C code keeps in its own memory"
            }
        }
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }
}

impl Heap<'_> {
    /// The class that the program names, or of an object without one the number of its type.
    fn class_of_all(&self, object: Object) -> Option<Addr> {
        let is_internal = matches!(object.kind(), IMEMO | NODE | ICLASS);
        let class = self.class_of(object).filter(|_| !is_internal);
        class.and_then(|class| self.real_class(class)).or(Some(Addr::new(object.kind())))
    }
}

fn kind_word(kind: u64) -> &'static str {
    match kind {
        IMEMO => "(imemo)",
        NODE => "(node)",
        ICLASS => "(iclass)",
        STRING => "(hidden string)",
        ARRAY => "(hidden array)",
        HASH => "(hidden hash)",
        _ => "(hidden)",
    }
}
