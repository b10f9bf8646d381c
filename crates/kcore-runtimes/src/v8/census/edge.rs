//! What the words of an object are called by which it refers to others.

use std::sync::Arc;

use super::super::{Heap, Tagged, context_slots::variable_slots, heap::Object, property::ELEMENTS};
use super::Edge;
use super::shape::native_context;

/// Names are read to this many units.
const MAX_NAME: u64 = 256;
/// Local variables of a scope, at most.
const MAX_LOCALS: u64 = 1 << 12;
/// Where the properties of an object lie that have no room in it.
pub const PROPERTIES: u64 = 8;
/// Elements of a store begin behind its map and its length.
const FIRST_ELEMENT: u64 = 16;

impl Heap<'_> {
    /// What the word of an object at an offset is called.
    pub fn edge(&self, object: Object, offset: u64) -> Edge {
        let named = match offset {
            0 => Some(Edge::Slot("map")),
            _ if self.is_receiver(object) => self.receiver_edge(object, offset),
            _ if self.is_context(object) => self.context_edge(object, offset),
            _ => self.store_edge(object, offset).or_else(|| self.internal_edge(object, offset)),
        };
        named.unwrap_or(Edge::Word(offset))
    }

    fn receiver_edge(&self, object: Object, offset: u64) -> Option<Edge> {
        let types = &self.layout.types;
        if object.kind == types.proxy {
            return slot(offset, &[(16, "target"), (24, "handler")]);
        }
        if let Some(named) = slot(offset, &[(PROPERTIES, "properties"), (ELEMENTS, "elements")]) {
            return Some(named);
        }
        if self.is_function(object) {
            let offsets = &self.layout.offsets;
            let parts = [
                (offsets.function_shared, "shared"),
                (offsets.function_context, "context"),
                (56, "prototype or initial map"),
            ];
            if let Some(named) = slot(offset, &parts) {
                return Some(named);
            }
        }
        self.inside_property(object, offset).or_else(|| self.special_edge(object, offset))
    }

    /// The property that lies at an offset within an object.
    fn inside_property(&self, object: Object, offset: u64) -> Option<Edge> {
        let start = self.uint(object.map, 9, 1)?;
        let field = (offset / 8).checked_sub(start)?;
        self.property_edge(object, field)
    }

    /// The property that is a field of an object, counted through it and what holds the rest of them.
    fn property_edge(&self, object: Object, field: u64) -> Option<Edge> {
        let key = self.field_key(object, field)?;
        self.text_of_key(key).map(Edge::Member)
    }

    fn text_of_key(&self, key: Object) -> Option<Arc<str>> {
        if self.is_string(key) {
            return self.text(key, MAX_NAME).map(Arc::from);
        }
        let description = self.text(self.field(key.at, 16)?, MAX_NAME)?;
        Some(format!("Symbol({description})").into())
    }

    /// Parts of objects of the language's own kinds, `src/objects/js-*.tq`.
    fn special_edge(&self, object: Object, offset: u64) -> Option<Edge> {
        let types = &self.layout.types;
        let generators = [types.generator(), types.async_function, types.async_generator];
        let collections = [types.js_map, types.set, types.weak_map, types.weak_set];
        match object.kind {
            kind if kind == types.bound_function => {
                slot(offset, &[(24, "target"), (32, "this"), (40, "arguments")])
            }
            kind if collections.contains(&kind) => slot(offset, &[(24, "table")]),
            kind if kind == types.promise => slot(offset, &[(24, "reactions or result")]),
            kind if kind == types.weak_ref => slot(offset, &[(24, "target")]),
            kind if kind == types.primitive_wrapper => slot(offset, &[(24, "value")]),
            kind if kind == types.regexp => slot(offset, &[(24, "data"), (32, "source")]),
            kind if generators.contains(&kind) => {
                let parts = [
                    (24, "function"),
                    (32, "context"),
                    (40, "receiver"),
                    (72, "registers"),
                    (80, "promise"),
                ];
                slot(offset, &parts)
            }
            _ => None,
        }
    }

    fn context_edge(&self, object: Object, offset: u64) -> Option<Edge> {
        let index = offset.checked_sub(FIRST_ELEMENT)? / 8;
        match index {
            0 => return Some(Edge::Slot("scope")),
            1 => return Some(Edge::Slot("outer context")),
            2 if object.kind == native_context(self.layout) => {
                return Some(Edge::Slot("global object"));
            }
            _ => {}
        }
        let slots = variable_slots(self, object, MAX_LOCALS);
        let (name, _) = slots.into_iter().find(|(_, slot)| *slot == index)?;
        self.text(name, MAX_NAME).map(|name| Edge::Variable(name.into()))
    }

    /// An element of what holds elements and nothing else.
    fn store_edge(&self, object: Object, offset: u64) -> Option<Edge> {
        let types = &self.layout.types;
        let is_array = object.kind >= types.fixed_array && object.kind < types.byte_array;
        let index = offset.checked_sub(FIRST_ELEMENT)? / 8;
        (is_array || object.kind == types.property_array).then_some(Edge::Index(index))
    }

    fn internal_edge(&self, object: Object, offset: u64) -> Option<Edge> {
        let types = &self.layout.types;
        match object.kind {
            _ if self.is_string(object) => slot(offset, &[(16, "first"), (24, "second")]),
            kind if kind == types.map => slot(
                offset,
                &[
                    (24, "prototype"),
                    (32, "constructor or back pointer"),
                    (40, "descriptors"),
                    (48, "dependent code"),
                    (56, "validity cell"),
                    (64, "transitions"),
                ],
            ),
            kind if kind == types.property_cell && offset == 24 => {
                self.text_of_key(self.field(object.at, 8)?).map(Edge::Member)
            }
            kind if kind == types.accessor_pair => slot(offset, &[(8, "getter"), (16, "setter")]),
            kind if kind == types.symbol => slot(offset, &[(16, "description")]),
            kind if kind == types.shared => slot(
                offset,
                &[
                    (self.layout.offsets.shared_data, "code or data"),
                    (self.layout.offsets.shared_name, "name or scope"),
                    (self.layout.offsets.shared_script, "script"),
                ],
            ),
            kind if kind == types.script => slot(offset, &[(8, "source"), (16, "name")]),
            _ => None,
        }
    }

    /// What an object's word is called that lies in a store of it: its properties, its elements, or the table
    /// of a collection. `at` is where the store of the owner lies, `offset` is in the store.
    pub fn stored_edge(&self, owner: Object, at: u64, store: Object, offset: u64) -> Option<Edge> {
        let index = offset.checked_sub(FIRST_ELEMENT)? / 8;
        let types = &self.layout.types;
        match at {
            PROPERTIES if store.kind == types.property_array => {
                let inside = self.inside_fields(owner)?;
                self.property_edge(owner, index.checked_add(inside)?)
            }
            PROPERTIES => self.table_property(store, index),
            ELEMENTS => self.element_edge(owner, store, index),
            24 if [types.js_map, types.set, types.weak_map, types.weak_set]
                .contains(&owner.kind) =>
            {
                Some(self.entry_edge(owner, store, index))
            }
            _ => None,
        }
    }

    fn inside_fields(&self, owner: Object) -> Option<u64> {
        self.uint(owner.map, 8, 1)?.checked_sub(self.uint(owner.map, 9, 1)?)
    }

    /// A value of a NameDictionary: its key lies before it.
    fn table_property(&self, store: Object, index: u64) -> Option<Edge> {
        let first = self.layout.offsets.dictionary_prefix.checked_add(3)?;
        (index.checked_sub(first)? % 3 == 1).then_some(())?;
        let key = self.object(self.element(store, index.checked_sub(1)?)?)?;
        self.text_of_key(key).map(Edge::Member)
    }

    /// An element, or a value of a NumberDictionary.
    fn element_edge(&self, owner: Object, store: Object, index: u64) -> Option<Edge> {
        if self.elements_kind(owner)? != self.layout.offsets.elements_dictionary {
            return Some(Edge::Index(index));
        }
        (index.checked_sub(4)? % 3 == 1).then_some(())?;
        match self.element(store, index.checked_sub(1)?)? {
            Tagged::Smi(key) => u64::try_from(key).ok().map(Edge::Index),
            key => Some(Edge::Index(self.heap_number(self.object(key)?)? as u64)),
        }
    }

    /// A key or value of a collection.
    fn entry_edge(&self, owner: Object, store: Object, index: u64) -> Edge {
        let types = &self.layout.types;
        let is_value = match owner.kind {
            kind if kind == types.js_map => {
                let buckets = self.element(store, 2).and_then(Tagged::smi).unwrap_or(0);
                let first = u64::try_from(buckets).unwrap_or(0).saturating_add(3);
                index.checked_sub(first).is_some_and(|entry| entry % 3 == 1)
            }
            kind if kind == types.weak_map => {
                index.checked_sub(3).is_some_and(|entry| entry % 2 == 1)
            }
            _ => false,
        };
        if is_value { Edge::Value } else { Edge::Key }
    }
}

fn slot(offset: u64, parts: &[(u64, &'static str)]) -> Option<Edge> {
    let found = parts.iter().find(|(at, _)| *at == offset);
    found.map(|(_, name)| Edge::Slot(name))
}
