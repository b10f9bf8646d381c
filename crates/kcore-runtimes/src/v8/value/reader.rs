//! Reads values, as deep and as much as is wanted.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::{Key, Member, Object, Reference, Slot, Text, Value};
use crate::v8::{Heap, Tagged, heap, property::Property};

/// Objects that are told at once, at most.
const MAX_OBJECTS: usize = 1 << 16;
/// Names are read to this many units.
const MAX_NAME: u64 = 1024;
/// Private symbols have this bit in their flags, and those of private names of classes the next but
/// three: `src/objects/symbol.tq`.
const PRIVATE: u64 = 1;
const PRIVATE_NAME: u64 = 0x10;
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
    told: FxHashSet<Addr>,
}

impl<'a> Reader<'a> {
    /// A reader of one tree.
    pub fn new(heap: Heap<'a>, limits: Limits) -> Self {
        Self { heap, limits, told: FxHashSet::default() }
    }

    /// The value that a word is, with `depth` objects inside of each other.
    pub fn value(&mut self, value: Tagged, depth: u32) -> Value {
        match value {
            Tagged::Smi(number) => Value::Number(number.into()),
            Tagged::Raw(word) => Value::Unreadable { word, why: "no tagged value" },
            Tagged::Cleared => Value::Unreadable { word: 3, why: "its object is gone" },
            Tagged::Strong(at) | Tagged::Weak(at) => match self.heap.object_at(at) {
                Some(object) => self.object_value(object, depth),
                None => Value::Unreadable { word: at.get() | 1, why: self.why_not(at) },
            },
        }
    }

    fn why_not(&self, at: Addr) -> &'static str {
        match self.heap.space.read_word(at) {
            Err(fault) => fault.reason(),
            Ok(_) => "no object, by its map",
        }
    }

    fn object_value(&mut self, object: heap::Object, depth: u32) -> Value {
        let heap = self.heap;
        if heap.is_receiver(object) {
            return self.receiver(object, depth);
        }
        if heap.is_string(object) {
            return self.text(object).map_or_else(|| self.internal(object), Value::String);
        }
        self.primitive(object).unwrap_or_else(|| self.internal(object))
    }

    fn primitive(&self, object: heap::Object) -> Option<Value> {
        let (heap, types) = (&self.heap, &self.heap.layout.types);
        match object.kind {
            kind if kind == types.heap_number => heap.heap_number(object).map(Value::Number),
            kind if kind == types.bigint() => {
                heap.bigint(object).map(|it| Value::BigInt(it.into()))
            }
            kind if kind == types.symbol => Some(Value::Symbol(self.description(object))),
            kind if kind == types.hole && kind != 0 => Some(Value::Hole),
            kind if kind == types.oddball => match heap.oddball(object)?.as_str() {
                "undefined" => Some(Value::Undefined),
                "null" => Some(Value::Null),
                "true" => Some(Value::Boolean(true)),
                "false" => Some(Value::Boolean(false)),
                name if name.contains("hole") => Some(Value::Hole),
                _ => None,
            },
            _ => None,
        }
    }

    fn description(&self, symbol: heap::Object) -> Option<Arc<str>> {
        let text = self.heap.field(symbol.at, 16)?;
        self.heap.text(text, MAX_NAME).map(Arc::from)
    }

    fn text(&self, string: heap::Object) -> Option<Text> {
        let length = self.heap.string_length(string)?;
        let text = self.heap.text(string, self.limits.units)?.into();
        Some(Text { at: string.at, length, text, is_cut: length > self.limits.units })
    }

    fn internal(&self, object: heap::Object) -> Value {
        let class = match self.heap.oddball(object) {
            Some(name) => name,
            None => format!("type {}", object.kind),
        };
        Value::Internal(Reference { at: object.at, class: class.into() })
    }

    fn receiver(&mut self, object: heap::Object, depth: u32) -> Value {
        let class: Arc<str> = self.heap.constructor_name(object).into();
        let Some(depth) = depth.checked_sub(1).filter(|_| self.is_first(object.at)) else {
            return Value::Seen(Reference { at: object.at, class });
        };
        let contents = self.contents(object, depth);
        let (elements, more_elements) = self.elements(object, depth);
        let (properties, more_properties) = self.members(object, depth);
        let is_cut = more_elements || more_properties;
        Value::Object(Box::new(Object {
            at: object.at,
            class,
            contents,
            elements,
            properties,
            is_cut,
        }))
    }

    fn is_first(&mut self, at: Addr) -> bool {
        self.told.len() < MAX_OBJECTS && self.told.insert(at)
    }

    /// The properties of an object, and whether there are more.
    fn members(&mut self, object: heap::Object, depth: u32) -> (Vec<Member>, bool) {
        let found = self.heap.properties(object, self.limits.entries.saturating_add(1));
        let is_cut = found.len() as u64 > self.limits.entries;
        let most = usize::try_from(self.limits.entries).unwrap_or(usize::MAX);
        let members = found.iter().take(most).filter_map(|property| self.member(property, depth));
        (members.collect(), is_cut)
    }

    fn member(&mut self, property: &Property, depth: u32) -> Option<Member> {
        let key = self.key(property.key)?;
        let slot = if property.is_accessor {
            self.accessor(property)?
        } else {
            Slot::Value(self.value(property.value, depth))
        };
        Some(Member { key, slot, is_enumerable: property.attributes & NOT_ENUMERABLE == 0 })
    }

    /// The accessors of a property. V8's own, such as `length` of arrays, tell what is told elsewhere.
    fn accessor(&self, property: &Property) -> Option<Slot> {
        let pair = self.heap.object(property.value);
        let is_own = pair.is_some_and(|pair| pair.kind != self.heap.layout.types.accessor_pair);
        let [getter, setter] = self.heap.accessors(property);
        let slot = Slot::Accessor { has_getter: getter.is_some(), has_setter: setter.is_some() };
        (!is_own).then_some(slot)
    }

    /// The name of a property; `None` of those that V8 keeps for itself.
    fn key(&self, key: heap::Object) -> Option<Key> {
        if self.heap.is_string(key) {
            return self.heap.text(key, MAX_NAME).map(|name| Key::Name(name.into()));
        }
        let flags = self.heap.uint(key.at, 12, 4)?;
        let name = self.description(key).unwrap_or_default();
        match (flags & PRIVATE != 0, flags & PRIVATE_NAME != 0) {
            (false, _) => Some(Key::Symbol(name)),
            (true, true) => Some(Key::Private(name)),
            (true, false) => None,
        }
    }
}
