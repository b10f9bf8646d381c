//! Members of values by name, as a path in source text has them.

use super::{Slot, ValueKind, elements::ElementContent, reader::Reader};
use crate::v8::{
    Heap, Tagged,
    heap::Object,
    property::{Privacy, Property},
};

/// Properties of an object that are looked through, at most.
const MAX_PROPERTIES: u64 = 1 << 20;
/// Keys are compared to this many units.
const MAX_KEY: u64 = 4096;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `.name`, `["name"]`, `.#name`
    Name(String),
    /// `[7]`
    Index(u64),
    /// `[Symbol(name)]`
    Symbol(String),
}

impl Reader<'_> {
    /// What a step leads to: a property of the value or of its prototypes, an element, an entry of a
    /// `Map` under this key, the `length` of a string or array, the `size` of a `Map` or `Set`.
    pub fn step_to(&mut self, value: Tagged, step: &Step, depth: u32) -> Option<Slot> {
        let object = self.heap.object(value)?;
        let held = match step {
            Step::Index(index) => self.heap.element_at(object, *index),
            Step::Name(name) => self.heap.counted(object, name),
            Step::Symbol(_) => None,
        };
        if let Some(held) = held.or_else(|| self.heap.entry(object, step)) {
            return Some(self.held(held, depth));
        }
        let property = self.heap.inherited(object, step)?;
        if let Some(value) = self.heap.exported_value(object, property.key) {
            return Some(Slot::Value(self.value(value, depth)));
        }
        if property.is_accessor {
            return self.accessor(&property, depth);
        }
        Some(Slot::Value(self.value(property.value, depth)))
    }
}

impl Heap<'_> {
    /// The property of an object or of its prototypes that a step names.
    fn inherited(&self, object: Object, step: &Step) -> Option<Property> {
        self.is_receiver(object).then_some(())?;
        let mut chain = self.prototype_chain(object);
        chain.find_map(|holder| {
            let properties = self.properties(holder, MAX_PROPERTIES);
            properties.into_iter().find(|property| self.is_meant(property.key, step))
        })
    }

    fn is_meant(&self, key: Object, step: &Step) -> bool {
        match step {
            Step::Name(name) if self.is_string(key) => self.is_named(key, name),
            Step::Name(name) if name.starts_with('#') => {
                self.is_symbol(key, name) && self.privacy(key) == Some(Privacy::Name)
            }
            Step::Symbol(name) => self.is_symbol(key, name),
            Step::Name(_) => false,
            // An index beyond those of elements.
            Step::Index(index) => self.is_string(key) && self.is_named(key, &index.to_string()),
        }
    }

    /// How much an object holds, where no property of it says so.
    fn counted(&self, object: Object, name: &str) -> Option<ElementContent> {
        let types = &self.layout.types;
        let number = |count: u64| Some(ElementContent::Bare(ValueKind::Number(count as f64)));
        match name {
            "length" if self.is_string(object) => number(self.string_length(object)?),
            "length" if object.kind == types.array => number(self.array_length(object)?),
            "length" if object.kind == types.typed_array => {
                let (_, bytes) = self.view_bytes(object)?;
                number(bytes.checked_div(self.element_type(object)?.size())?)
            }
            "size" if object.kind == types.js_map => {
                number(self.ordered_entries(object, true, 0)?.size)
            }
            "size" if object.kind == types.set => {
                number(self.ordered_entries(object, false, 0)?.size)
            }
            _ => None,
        }
    }

    /// The value of a `Map` under a key.
    fn entry(&self, object: Object, step: &Step) -> Option<ElementContent> {
        (object.kind == self.layout.types.js_map).then_some(())?;
        let entries = self.ordered_entries(object, true, u64::MAX)?.entries;
        let is_key = |key: Tagged| match (step, key) {
            (Step::Index(index), Tagged::Smi(key)) => u64::try_from(key) == Ok(*index),
            (Step::Name(name), key) => self.object(key).is_some_and(|key| {
                self.is_string(key) && self.text(key, MAX_KEY).is_some_and(|text| text == *name)
            }),
            (Step::Symbol(name), key) => {
                self.object(key).is_some_and(|key| self.is_symbol(key, name))
            }
            (Step::Index(_), _) => false,
        };
        let found = entries.into_iter().find(|(key, _)| is_key(*key));
        found.map(|(_, value)| ElementContent::Word(value.word()))
    }
}
