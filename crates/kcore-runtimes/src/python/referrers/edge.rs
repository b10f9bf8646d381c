//! How an object refers to another.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::{
    super::{
        Python,
        dict::Entries,
        heap::{DICT, Heap, LIST, Object, TUPLE},
        interpreter::ThreadState,
        objects::{REFERENT, is_weak_reference},
        stack_object::frame_place,
    },
    words::Words,
};
use crate::{
    Host,
    objects::{Edge, Referrer},
};

/// `f_gen` of a frame in 3.8 and 3.9, `Include/frameobject.h`; since 3.11 a frame's owner says whether it is a generator's.
const F_GEN: u64 = 96;
const GENERATOR: u64 = 1;
/// Ways in which one object refers to others that are told, at most.
const MAX_EDGES: usize = 1 << 10;

impl Python {
    /// How an object refers to some.
    pub(super) fn edges(
        &self,
        host: &dyn Host,
        object: Object,
        to: &FxHashSet<Addr>,
    ) -> Vec<Referrer> {
        let heap = self.heap(host);
        let mut found: Vec<(Addr, Edge)> = self
            .named(host, &heap, object)
            .into_iter()
            .filter(|(value, _)| to.contains(value))
            .take(MAX_EDGES)
            .collect();
        let builtin = self.builtin_name(host, object.class);
        if builtin.as_deref() == Some("frame") && is_of_generator(&heap, object) {
            return Vec::new();
        }
        if found.is_empty() && !self.has_leftovers(host, &heap, object) {
            let mut words = Words::new(self, host);
            words.of(object, &mut |word| {
                let at = Addr::new(word & !3);
                if to.contains(&at) && !found.contains(&(at, Edge::Inside)) {
                    found.push((at, Edge::Inside));
                }
            });
        }
        let class = match builtin.as_deref() {
            Some("frame") => self.function_of(&heap, object),
            _ => self.class_name(host, object.class),
        };
        let is_reference = is_weak_reference(builtin.as_deref());
        let referrer = |(to, edge): (Addr, Edge)| {
            let is_weak = is_reference && edge == Edge::Member(REFERENT.into());
            Referrer { to, at: object.at, class: class.clone(), edge, is_weak }
        };
        found.into_iter().map(referrer).collect()
    }

    /// What an object refers to by names, keys and indices.
    pub(in crate::python) fn named(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Vec<(Addr, Edge)> {
        if object.is(LIST) || object.is(TUPLE) {
            let count = heap.size(object).unwrap_or_default();
            let items = (0..count).map_while(|index| {
                let at = heap.word(heap.items(object)?, index.checked_mul(8)?)?;
                Some((Addr::new(at), Edge::Index(index)))
            });
            return items.collect();
        }
        if object.is(DICT) {
            let entries = Entries::of(heap, object).into_iter().flatten();
            return entries.flat_map(|entry| of_entry(heap, entry.key, entry.value)).collect();
        }
        if self.is_coroutine(host, object) {
            return self.variables(host, heap, object);
        }
        let namespace = self.namespace(host, heap, object);
        // The attributes of a module are its namespace.
        let attributes = match namespace {
            Some(_) => Vec::new(),
            None => self.attributes(heap, object),
        };
        let fields = self.fields(host, heap, object);
        let mut named: Vec<(Addr, Edge)> =
            attributes.into_iter().chain(fields).map(of_name).collect();
        for entry in namespace.into_iter().flatten() {
            let name = heap.object(entry.key).and_then(|key| heap.name(key));
            named.extend(name.map(|name| of_name((name.into(), entry.value))));
        }
        named.extend(self.variables(host, heap, object));
        named
    }

    /// The variables of an object that is a frame, or has one.
    fn variables(&self, host: &dyn Host, heap: &Heap<'_>, object: Object) -> Vec<(Addr, Edge)> {
        let builtin = self.builtin_name(host, object.class);
        let frame = match builtin.as_deref() {
            Some("frame") => frame_place(heap, object),
            _ => self.frame_of(host, heap, object),
        };
        let locals = frame.and_then(|frame| self.locals(host, frame)).unwrap_or_default();
        locals.into_iter().map(|local| (local.at, Edge::Variable(local.name))).collect()
    }

    /// Whether words may be left over in an object: in a frame behind what is in use, and in a generator that ended.
    fn has_leftovers(&self, host: &dyn Host, heap: &Heap<'_>, object: Object) -> bool {
        let builtin = self.builtin_name(host, object.class);
        let is_frame = builtin.is_some_and(|builtin| &*builtin == "frame");
        is_frame || self.is_coroutine(host, object) && self.frame_of(host, heap, object).is_none()
    }

    /// The name of the function that a frame object is of.
    fn function_of(&self, heap: &Heap<'_>, object: Object) -> Option<Arc<str>> {
        let frame = self.frame(heap, frame_place(heap, object)?).ok()?;
        Some(frame.code.name.clone())
    }

    /// The dict that is part of an object: of an instance, a module or a class.
    pub(super) fn own_dict(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Option<Addr> {
        let own = heap.dict_of(object);
        own.or_else(|| self.namespace_dict(host, heap, object).map(|dict| dict.at))
    }

    /// The frames of threads whose variables refer to some objects.
    pub(super) fn of_frames(&self, host: &dyn Host, to: &FxHashSet<Addr>) -> Vec<Referrer> {
        let heap = self.heap(host);
        let chain = |thread: &ThreadState| self.chain(&heap, thread);
        let chains = self.state(host).threads.iter().map(chain);
        let groups = chains.flat_map(|chain| chain.groups);
        let mut found = Vec::new();
        for frame in groups.flat_map(|group| group.frames) {
            let locals = frame.code.is_optimized().then(|| self.locals(host, frame.at)).flatten();
            for local in locals.into_iter().flatten().filter(|local| to.contains(&local.at)) {
                let (class, edge) = (Some(frame.code.name.clone()), Edge::Variable(local.name));
                found.push(Referrer { to: local.at, at: frame.at, class, edge, is_weak: false });
            }
        }
        found
    }
}

/// Whether a frame object is of a generator, which refers to what its variables are.
fn is_of_generator(heap: &Heap<'_>, object: Object) -> bool {
    match (heap.layout.minor, heap.layout.frame.owner) {
        (..=9, _) => heap.pointer(object.at, F_GEN).is_some(),
        (10, _) => heap.pointer(object.at, F_GEN.saturating_sub(8)).is_some(),
        (_, owner) => {
            let frame = frame_place(heap, object);
            frame.zip(owner).and_then(|(frame, owner)| heap.uint(frame, owner, 1))
                == Some(GENERATOR)
        }
    }
}

fn of_name((name, value): (Arc<str>, Addr)) -> (Addr, Edge) {
    (value, Edge::Member(name))
}

fn of_entry(heap: &Heap<'_>, key: Addr, value: Addr) -> [(Addr, Edge); 2] {
    let object = heap.object(key);
    let name = || heap.name(object?).map(|name| Edge::Entry(name.into()));
    let number = || heap.small_int(object?).map(Edge::Numbered);
    let edge = name().or_else(number).unwrap_or(Edge::Value);
    [(key, Edge::Key), (value, edge)]
}
