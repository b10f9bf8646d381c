//! Reads values, as deep and as much as is wanted.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{Key, Member, Object, Reference, Slot, Text, Value, ValueKind};
use crate::v8::{
    Heap, Tagged, heap,
    property::{Privacy, Property},
};

/// UTF-16 units of all strings that are told at once, at most: many objects may share a long one.
const MAX_UNITS: u64 = 1 << 26;
/// Objects that are told at once, at most.
const MAX_OBJECTS: usize = 1 << 16;
/// Names are read to this many units.
const MAX_NAME: u64 = 1024;
const NOT_ENUMERABLE: u64 = 2;

/// How much of a value is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Objects inside of objects.
    pub depth: u32,
    /// Elements, entries and properties of each object, each.
    pub entries: u64,
    /// UTF-16 units of each string.
    pub units: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 2, entries: 100, units: 1024 }
    }
}

/// Reads one tree of values.
pub struct Reader<'a> {
    pub(super) heap: Heap<'a>,
    pub(super) limits: Limits,
    /// The objects that are being told: what is told is a part of them.
    within: Vec<Addr>,
    told: usize,
    /// UTF-16 units that may still be told.
    units: u64,
}

impl<'a> Reader<'a> {
    /// A reader of one tree.
    pub fn new(heap: Heap<'a>, limits: Limits) -> Self {
        Self { heap, limits, within: Vec::new(), told: 0, units: MAX_UNITS }
    }

    /// The value that a word is, with `depth` objects inside of each other.
    pub fn value(&mut self, value: Tagged, depth: u32) -> Value {
        let kind = match value {
            Tagged::Smi(number) => ValueKind::Number(number.into()),
            Tagged::Raw(_) => ValueKind::Unreadable("it is no tagged value"),
            Tagged::Cleared => ValueKind::Unreadable("its object is gone"),
            Tagged::Strong(at) | Tagged::Weak(at) => match self.heap.object_at(at) {
                Some(object) => self.object_kind(object, depth),
                None => ValueKind::Unreadable(self.heap.why_not(at)),
            },
        };
        Value { word: Some(value.word()), kind }
    }

    fn object_kind(&mut self, object: heap::Object, depth: u32) -> ValueKind {
        let heap = self.heap;
        if heap.is_receiver(object) {
            return self.receiver(object, depth);
        }
        if heap.is_string(object) {
            return self.text(object).map_or_else(|| self.internal(object), ValueKind::String);
        }
        self.primitive(object).unwrap_or_else(|| self.internal(object))
    }

    fn primitive(&self, object: heap::Object) -> Option<ValueKind> {
        let (heap, types) = (&self.heap, &self.heap.layout.types);
        match object.kind {
            kind if kind == types.heap_number => heap.heap_number(object).map(ValueKind::Number),
            kind if kind == types.bigint() => {
                heap.bigint(object).map(|it| ValueKind::BigInt(it.into()))
            }
            kind if kind == types.symbol => Some(ValueKind::Symbol(self.description(object))),
            kind if kind == types.hole && kind != 0 => Some(ValueKind::Hole),
            kind if kind == types.oddball => match heap.oddball(object)?.as_str() {
                "undefined" => Some(ValueKind::Undefined),
                "null" => Some(ValueKind::Null),
                "true" => Some(ValueKind::Boolean(true)),
                "false" => Some(ValueKind::Boolean(false)),
                name if name.contains("hole") => Some(ValueKind::Hole),
                _ => None,
            },
            _ => None,
        }
    }

    fn description(&self, symbol: heap::Object) -> Option<Arc<str>> {
        let text = self.heap.field(symbol.at, 16)?;
        self.heap.text(text, MAX_NAME).map(Arc::from)
    }

    fn text(&mut self, string: heap::Object) -> Option<Text> {
        let (length, most) = (self.heap.string_length(string)?, self.limits.units.min(self.units));
        let text = self.heap.told_text(string, 0, length, most)?;
        self.units = self.units.saturating_sub(length.min(most));
        Some(text)
    }

    fn internal(&self, object: heap::Object) -> ValueKind {
        let class = match self.heap.oddball(object) {
            Some(name) => name,
            None => format!("type {}", object.kind),
        };
        ValueKind::Internal(Reference { at: object.at, class: class.into(), is_array: false })
    }

    fn receiver(&mut self, object: heap::Object, depth: u32) -> ValueKind {
        let class: Arc<str> = self.heap.constructor_name(object).into();
        let is_array = object.kind == self.heap.layout.types.array;
        if self.within.contains(&object.at) {
            return ValueKind::Circular(Reference { at: object.at, class, is_array });
        }
        self.told = self.told.saturating_add(1);
        let (elided, is_last) = (Reference { at: object.at, class, is_array }, depth == 0);
        if self.told > MAX_OBJECTS || is_last && !self.is_short(object) {
            return ValueKind::Elided(elided);
        }
        self.within.push(object.at);
        let told = match is_last {
            true => self.short(object, elided.class),
            false => self.whole(object, elided.class, depth.saturating_sub(1)),
        };
        self.within.pop();
        ValueKind::Object(Box::new(told))
    }

    /// An object whose contents are told in few words, and its properties not.
    fn short(&mut self, object: heap::Object, class: Arc<str>) -> Object {
        Object {
            at: object.at,
            class,
            contents: self.contents(object, 0),
            elements: Vec::new(),
            properties: Vec::new(),
            has_more_elements: false,
            has_more_properties: false,
        }
    }

    fn whole(&mut self, object: heap::Object, class: Arc<str>, depth: u32) -> Object {
        let contents = self.contents(object, depth);
        let (elements, has_more_elements) = self.elements(object, depth);
        let (properties, has_more_properties) = self.members(object, depth);
        Object {
            at: object.at,
            class,
            contents,
            elements,
            properties,
            has_more_elements,
            has_more_properties,
        }
    }

    /// The properties of an object, and whether there are more.
    fn members(&mut self, object: heap::Object, depth: u32) -> (Vec<Member>, bool) {
        // What scripts have in place of the global object has its properties behind it.
        let is_proxy = object.kind == self.heap.layout.types.global_proxy;
        let global = self.heap.prototype(object).filter(|_| is_proxy);
        let object = global.unwrap_or(object);
        let found = self.heap.properties(object, self.limits.entries.saturating_add(1));
        let read = found.len() as u64;
        let is_cut = read > self.limits.entries || read < self.heap.property_count(object);
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let members =
            found.iter().take(most).filter_map(|property| self.member(object, property, depth));
        (members.collect(), is_cut)
    }

    fn member(&mut self, object: heap::Object, property: &Property, depth: u32) -> Option<Member> {
        let key = self.key(property.key)?;
        let slot = if let Some(value) = self.heap.exported_value(object, property.key) {
            Slot::Value(self.value(value, depth))
        } else if property.is_accessor {
            self.accessor(property, depth)?
        } else {
            Slot::Value(self.value(property.value, depth))
        };
        Some(Member { key, slot, is_enumerable: property.attributes & NOT_ENUMERABLE == 0 })
    }

    /// The accessors of a property. V8's own, such as `length` of arrays, tell what is told elsewhere.
    pub(super) fn accessor(&mut self, property: &Property, depth: u32) -> Option<Slot> {
        let pair = self.heap.object(property.value);
        let is_own = pair.is_some_and(|pair| pair.kind != self.heap.layout.types.accessor_pair);
        (!is_own).then(|| self.accessors(property.value, depth))
    }

    /// The functions of a pair of accessors.
    pub(super) fn accessors(&mut self, pair: Tagged, depth: u32) -> Slot {
        let [getter, setter] = self
            .heap
            .accessors_of(pair)
            .map(|part| part.map(|function| self.value(Tagged::Strong(function.at), depth.min(1))));
        Slot::Accessor { getter, setter }
    }

    /// The name of a property; `None` of those that V8 keeps for itself.
    fn key(&self, key: heap::Object) -> Option<Key> {
        if self.heap.is_string(key) {
            return self.heap.text(key, MAX_NAME).map(|name| Key::Name(name.into()));
        }
        let name = self.description(key).unwrap_or_default();
        match self.heap.privacy(key)? {
            Privacy::Public => Some(Key::Symbol(name)),
            Privacy::Name => Some(Key::Private(name)),
            Privacy::Internal => None,
        }
    }
}
