//! The attributes of an object: those that it keeps itself, and those in the slots of its classes.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    dict::Entries,
    heap::{DICT, HEAP_TYPE, Heap, Object, TUPLE, TYPE},
};

/// Bases of one class, at most.
const MAX_BASES: u64 = 256;
/// In a member descriptor: `d_member`, a `PyMemberDef` with name, kind and offset: `Include/descrobject.h`.
const MEMBER: u64 = 40;
const MEMBER_KIND: u64 = 8;
const MEMBER_OFFSET: u64 = 16;
/// Kinds of members that are objects: `Py_T_OBJECT_EX` and what came before it.
const OBJECTS: [i32; 2] = [6, 16];

impl Python {
    /// The names and values of attributes, those of slots first. What a class has is its namespace.
    pub(super) fn attributes(&self, heap: &Heap<'_>, object: Object) -> Vec<(Arc<str>, Addr)> {
        if object.is(TYPE) {
            return Vec::new();
        }
        let mut found = match object.is(HEAP_TYPE) {
            true => self.of_slots_of_classes(heap, object),
            false => Vec::new(),
        };
        for entry in heap.attributes(object).into_iter().flatten() {
            let name = heap.object(entry.key).map(|key| attribute_name(heap, key));
            found.extend(name.map(|name| (name.into(), entry.value)));
        }
        found
    }

    fn of_slots_of_classes(&self, heap: &Heap<'_>, object: Object) -> Vec<(Arc<str>, Addr)> {
        let slots = self.slots_of_class(heap, object.class).into_iter();
        let values =
            slots.filter_map(|(name, offset)| Some((name, heap.field(object.at, offset)?.at)));
        values.collect()
    }

    /// The names of the slots that instances of a class have, those of its bases first, and where in an instance they lie.
    pub(super) fn slots_of_class(&self, heap: &Heap<'_>, class: Addr) -> Vec<(Arc<str>, u64)> {
        let types = &heap.layout.types;
        let Some(bases) = heap.field_of(class, types.mro, TUPLE) else { return Vec::new() };
        let count = heap.size(bases).unwrap_or_default().min(MAX_BASES);
        let classes = (0..count).rev().filter_map(|index| heap.item(bases, index));
        let with_slots = classes.filter(|class| {
            let flags = heap.word(class.at, types.flags).unwrap_or_default();
            flags & HEAP_TYPE != 0
                && heap.word(class.at, types.slots).is_some_and(|slots| slots != 0)
        });
        let dicts = with_slots.filter_map(|class| heap.field_of(class.at, types.dict, DICT));
        let entries = dicts.filter_map(|dict| Entries::of(heap, dict)).flatten();
        let slots = entries.filter_map(|entry| {
            let name = heap.name(heap.object(entry.key)?)?;
            Some((name.into(), slot_offset(heap, class, entry.value)?))
        });
        slots.collect()
    }
}

/// What an attribute is called. A key that is no text, of a dict that was written to as such, stands in brackets.
fn attribute_name(heap: &Heap<'_>, key: Object) -> String {
    let number = || heap.small_int(key).map(|number| format!("[{number}]"));
    heap.name(key).or_else(number).unwrap_or_else(|| format!("[<object at {:#x}>]", key.at.get()))
}

/// Where in an instance of a class the slot lies that a member descriptor is of.
fn slot_offset(heap: &Heap<'_>, class: Addr, descriptor: Addr) -> Option<u64> {
    // What it is of is the type that has it, which holds the slot.
    let member = heap.pointer(descriptor, MEMBER)?;
    let kind = heap.int(member, MEMBER_KIND).filter(|kind| OBJECTS.contains(kind));
    let offset = heap.word(member, MEMBER_OFFSET).filter(|_| kind.is_some())?;
    (offset < heap.word(class, heap.layout.types.basic_size)?).then_some(offset)
}
