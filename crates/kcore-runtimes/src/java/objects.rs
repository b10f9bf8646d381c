//! The heap of Java as all runtimes have one.
//!
//! It has what is dead and was not collected yet too. A class keeps what its static fields refer to, its constants, and
//! the class that it extends.

use std::{ops::ControlFlow, sync::Arc};

use kcore_mem::{Addr, AddrRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Java,
    classes::Objects as Reader,
    element::{ElementType, source_name},
    klass::{Klass, REFERENT, Shape},
    walk::{JavaObject, Walk},
    words::Words,
};
use crate::{
    Host,
    graph::{GraphCell, Nodes, Root},
    objects::{Edge, HeapObject, NamedEdge, Objects, Referrer, Stopped, Targets, Watch},
};

/// Objects between two looks at the user.
const STEP: u64 = 1 << 16;
/// References of one object that are told with their names, at most.
const MAX_EDGES: usize = 1 << 22;
/// Referrers that are remembered, at most.
const MAX_FOUND: usize = 1 << 20;
/// Elements of one array that are read, and words of one chunk of frames, at most.
const MAX_ELEMENTS: u64 = 1 << 31;

impl Java {
    /// Calls for every object.
    pub(super) fn each_found(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(JavaObject),
    ) -> Result<(), Stopped> {
        let Some(reader) = self.objects_in(host.space()) else { return Ok(()) };
        let (Some(mut walk), Some(spaces)) = (self.walk(host, &reader), self.spaces(host)) else {
            return Ok(());
        };
        let total = spaces.all.iter().fold(0_u64, |sum, it| sum.saturating_add(it.range.len()));
        let (mut count, mut before) = (0_u64, 0_u64);
        for space in &spaces.all {
            let start = space.range.start;
            let end = walk.each(space, &mut |found| {
                count = count.saturating_add(1);
                let done =
                    || before.saturating_add(found.at.offset_from(start).unwrap_or_default());
                if count.is_multiple_of(STEP) && watch(done(), total).is_break() {
                    return ControlFlow::Break(());
                }
                tell(found);
                ControlFlow::Continue(())
            });
            if end.is_break() {
                return Err(Stopped);
            }
            before = before.saturating_add(space.range.len());
        }
        let _ = self.missing.set(missing(walk.passed, spaces.unread));
        Ok(())
    }

    /// The run of memory of the heap that holds an address.
    fn space_at(&self, host: &dyn Host, at: Addr) -> Option<super::spaces::Space> {
        let spaces = &self.spaces(host)?.all;
        let index = spaces.partition_point(|space| space.range.start <= at).checked_sub(1)?;
        let space = *spaces.get(index)?;
        (space.range.start <= at && at < space.limit).then_some(space)
    }

    /// The object that holds an address: the one that begins there, else the one that is met on the way from the beginning
    /// of its run of memory.
    pub(super) fn object_at(&self, host: &dyn Host, at: Addr) -> Option<JavaObject> {
        let reader = self.objects_in(host.space())?;
        let mut walk = self.walk(host, &reader)?;
        let space = self.space_at(host, at).filter(|_| !walk.is_set_aside(at))?;
        if let Some(found) = walk.at(at) {
            return Some(found);
        }
        let mut holder = None;
        let _ = walk.each(&space, &mut |found| {
            if found.at > at {
                return ControlFlow::Break(());
            }
            let range = AddrRange::with_len(found.at, found.size);
            holder = range.contains(at).then_some(found);
            if holder.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        holder
    }

    /// Whether an object begins at an address of the heap.
    fn begins(&self, host: &dyn Host, walk: &mut Walk<'_>, at: Addr) -> bool {
        let is_in_use = self.space_at(host, at).is_some() && !walk.is_set_aside(at);
        is_in_use && walk.at(at).is_some()
    }
}

fn missing(passed: u64, unread: u64) -> Option<String> {
    let regions = format!("{unread} regions of the heap cannot be read");
    let bytes = format!("{passed} bytes of the heap hold no object that can be read");
    match (passed, unread) {
        (0, 0) => None,
        (_, 0) => Some(bytes),
        (0, _) => Some(regions),
        _ => Some(format!("{regions}, and {bytes}")),
    }
}

fn heap_object(found: &JavaObject) -> HeapObject {
    HeapObject { at: found.at, class: Some(found.class.at), size: found.size }
}

impl Objects for Java {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        self.object_at(host, at).map(|found| heap_object(&found))
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let reader = self.objects_in(host.space())?;
        let found = self.walk(host, &reader)?.at(at)?;
        Some(source_name(&found.class.name).into())
    }

    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        self.each_found(host, watch, &mut |found| tell(heap_object(&found)))
    }

    fn missing(&self, _host: &dyn Host) -> Option<String> {
        self.missing.get().cloned().flatten()
    }

    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let edges = || {
            let reader = self.objects_in(host.space())?;
            let mut walk = self.walk(host, &reader)?;
            let found = walk.at(at)?;
            let mut edges = self.named(&reader, &found);
            // What is no reference may look like one.
            edges.retain(|edge| match edge.edge {
                Edge::Word(_) => self.begins(host, &mut walk, edge.to),
                _ => true,
            });
            Some(edges)
        };
        edges().unwrap_or_default()
    }

    fn targets<'a>(&'a self, host: &'a dyn Host) -> Box<dyn Targets + 'a> {
        match self.objects_in(host.space()) {
            Some(reader) => Box::new(References::new(self, host, reader)),
            None => Box::new(Nothing),
        }
    }

    fn referrers(
        &self,
        host: &dyn Host,
        to: &[Addr],
        watch: Watch<'_>,
    ) -> Result<Vec<Referrer>, Stopped> {
        let wanted: FxHashSet<Addr> = to.iter().copied().collect();
        let mut holders = Vec::new();
        let Some(reader) = self.objects_in(host.space()) else { return Ok(holders) };
        let mut references = References::new(self, host, reader);
        self.each_found(host, watch, &mut |found| {
            let mut is_wanted = false;
            references.of(&found, true, &mut |to| is_wanted |= wanted.contains(&to));
            if is_wanted && holders.len() < MAX_FOUND {
                let edges = self.edges(host, found.at).into_iter();
                let class: Arc<str> = source_name(&found.class.name).into();
                let to_wanted = edges.filter(|edge| wanted.contains(&edge.to));
                holders.extend(to_wanted.map(|NamedEdge { to, edge, is_weak }| Referrer {
                    to,
                    at: found.at,
                    class: Some(class.clone()),
                    edge,
                    is_weak,
                }));
            }
        })?;
        holders.sort_by_key(|referrer| (referrer.to, referrer.at));
        Ok(holders)
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
        "what the virtual machine keeps in its own memory"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }
}

impl Java {
    /// The references of an object with their names.
    fn named(&self, reader: &Reader<'_>, object: &JavaObject) -> Vec<NamedEdge> {
        let mut edges = Vec::new();
        match object.class.shape {
            Shape::Array { header, element: ElementType::Reference } => {
                let length = reader.oops.length(reader.memory, object.at).unwrap_or_default();
                for index in 0..length.min(MAX_EDGES as u64) {
                    let by = index.saturating_mul(reader.oops.reference_size());
                    let offset = header.saturating_add(by);
                    let to = reader.oops.reference(reader.memory, object.at, offset);
                    edges.extend(to.map(|to| strong(to, Edge::Index(index))));
                }
            }
            Shape::Array { .. } => {}
            _ => self.named_of_fields(reader, object, &mut edges),
        }
        edges
    }

    fn named_of_fields(
        &self,
        reader: &Reader<'_>,
        object: &JavaObject,
        edges: &mut Vec<NamedEdge>,
    ) {
        let class = &object.class;
        let fields = reader.fields_of(class.at);
        let own = fields.iter().filter(|field| !field.is_static && field.is_reference());
        for field in own {
            let to = reader.oops.reference(reader.memory, object.at, field.offset);
            let is_weak = class.weak.is_some_and(|weak| u64::from(weak) == field.offset)
                && &*field.name == REFERENT;
            let edge = Edge::Member(field.name.clone());
            edges.extend(to.map(|to| NamedEdge { to, edge, is_weak }));
        }
        match class.shape {
            Shape::Mirror(_) => self.named_of_mirror(reader, object.at, edges),
            Shape::Chunk { .. } => {
                let mut words = Words::new(reader.memory.0);
                each_word(reader, &mut words, object, &mut |offset, to| {
                    edges.push(strong(to, Edge::Word(offset)));
                });
            }
            _ => {}
        }
    }

    fn named_of_mirror(&self, reader: &Reader<'_>, mirror: Addr, edges: &mut Vec<NamedEdge>) {
        let Some(layout) = &self.layout.klasses else { return };
        let Some(class) = layout.of_mirror(reader.memory, mirror) else { return };
        let statics =
            reader.declared(class).into_iter().filter(|it| it.is_static && it.is_reference());
        for field in statics {
            let to = reader.oops.reference(reader.memory, mirror, field.offset);
            edges.extend(to.map(|to| strong(to, Edge::Member(field.name))));
        }
        let memory = reader.memory;
        let parent = reader.fields.parent(memory, class);
        let parent = parent.and_then(|parent| layout.mirror(&reader.oops, memory, parent));
        let constants = layout.constants(&reader.oops, memory, class);
        let others = [(parent, "superclass"), (constants, "constants")];
        edges.extend(
            others.into_iter().filter_map(|(to, name)| Some(strong(to?, Edge::Slot(name)))),
        );
    }
}

const fn strong(to: Addr, edge: Edge) -> NamedEdge {
    NamedEdge { to, edge, is_weak: false }
}

/// Tells the words of a chunk of frames as references, by their offsets. What they are is not known.
fn each_word(
    reader: &Reader<'_>,
    words: &mut Words<'_>,
    object: &JavaObject,
    tell: &mut dyn FnMut(u64, Addr),
) {
    let Shape::Chunk { size, .. } = object.class.shape else { return };
    for offset in (size..object.size.min(MAX_ELEMENTS)).step_by(8) {
        let word = object.at.checked_add(offset).and_then(|at| words.uint(at, 8));
        let to = word.and_then(|word| reader.oops.referred_in_full(reader.memory, word));
        if let Some(to) = to.filter(|to| to.get() % 8 == 0) {
            tell(offset, to);
        }
    }
}

/// Reads references without their names.
struct References<'a> {
    java: &'a Java,
    host: &'a dyn Host,
    reader: Reader<'a>,
    words: Words<'a>,
    classes: FxHashMap<u64, Option<Arc<Klass>>>,
    /// Of classes, where their static fields lie that are references.
    statics: FxHashMap<Addr, Box<[u64]>>,
}

/// Of a heap that cannot be decoded.
struct Nothing;

impl Targets for Nothing {
    fn each(&mut self, _at: Addr, _tell: &mut dyn FnMut(Addr)) {}
}

impl Targets for References<'_> {
    fn each(&mut self, at: Addr, tell: &mut dyn FnMut(Addr)) {
        let found = self.class_of(at).map(|class| JavaObject { at, class, size: 0 });
        let Some(mut found) = found else { return };
        if matches!(found.class.shape, Shape::Chunk { .. }) {
            let walk = self.java.walk(self.host, &self.reader);
            found.size = walk.and_then(|mut walk| walk.at(at)).map_or(0, |found| found.size);
        }
        self.of(&found, false, tell);
    }
}

impl<'a> References<'a> {
    fn new(java: &'a Java, host: &'a dyn Host, reader: Reader<'a>) -> Self {
        let words = Words::new(host.space());
        let (classes, statics) = (FxHashMap::default(), FxHashMap::default());
        Self { java, host, reader, words, classes, statics }
    }

    fn class_of(&mut self, at: Addr) -> Option<Arc<Klass>> {
        let word = self.reader.oops.class_word(&mut self.words, at)?;
        let (java, reader) = (self.java, &self.reader);
        let read = || {
            let class = reader.oops.class_in(word)?;
            java.klasses.at(reader, java.layout.klasses.as_ref()?, class)
        };
        self.classes.entry(word).or_insert_with(read).clone()
    }

    /// Tells what an object refers to.
    fn of(&mut self, object: &JavaObject, weak: bool, tell: &mut dyn FnMut(Addr)) {
        let (oops, class) = (self.reader.oops, &object.class);
        if let Shape::Array { header, element: ElementType::Reference } = class.shape {
            return self.of_array(object.at, header, tell);
        }
        let weak = class.weak.filter(|_| weak);
        for offset in class.references.iter().copied().chain(weak) {
            if let Some(to) = self.reference(&oops, object.at, u64::from(offset)) {
                tell(to);
            }
        }
        match class.shape {
            Shape::Mirror(_) => self.of_mirror(object.at, tell),
            Shape::Chunk { .. } => {
                each_word(&self.reader, &mut self.words, object, &mut |_, to| tell(to));
            }
            _ => {}
        }
    }

    fn reference(&mut self, oops: &super::oops::Oops, at: Addr, offset: u64) -> Option<Addr> {
        let size = usize::try_from(oops.reference_size()).ok()?;
        oops.referred(self.reader.memory, self.words.uint(at.checked_add(offset)?, size)?)
    }

    fn of_array(&mut self, at: Addr, header: u64, tell: &mut dyn FnMut(Addr)) {
        let oops = self.reader.oops;
        let Some(length) = oops.length(self.reader.memory, at) else { return };
        for index in 0..length.min(MAX_ELEMENTS) {
            let offset = header.saturating_add(index.saturating_mul(oops.reference_size()));
            let size = usize::try_from(oops.reference_size()).unwrap_or(8);
            let word = at.checked_add(offset).and_then(|at| self.words.uint(at, size));
            // Nothing behind it can be read either.
            let Some(word) = word else { return };
            if let Some(to) = oops.referred(self.reader.memory, word) {
                tell(to);
            }
        }
    }

    fn of_mirror(&mut self, mirror: Addr, tell: &mut dyn FnMut(Addr)) {
        let Some(layout) = &self.java.layout.klasses else { return };
        let (reader, memory) = (&self.reader, self.reader.memory);
        let Some(class) = layout.of_mirror(memory, mirror) else { return };
        let statics = self.statics.entry(class).or_insert_with(|| {
            let fields = reader.declared(class).into_iter();
            let own = fields.filter(|field| field.is_static && field.is_reference());
            own.map(|field| field.offset).collect()
        });
        let statics =
            statics.iter().filter_map(|offset| reader.oops.reference(memory, mirror, *offset));
        let parent = reader.fields.parent(memory, class);
        let parent = parent.and_then(|parent| layout.mirror(&reader.oops, memory, parent));
        let constants = layout.constants(&reader.oops, memory, class);
        statics.chain(parent).chain(constants).for_each(tell);
    }
}
