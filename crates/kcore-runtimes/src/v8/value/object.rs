//! The contents of objects by their kind.
//!
//! `src/objects/js-*.tq`; offsets are from the beginning of the object.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{Contents, PromiseState, Value, reader::Reader};
use crate::v8::{Function, Tagged, heap::Object};

/// Text of errors and regular expressions is read to this many units.
const MAX_TEXT: u64 = 1 << 16;
/// What every object with elements of its own has first: here its own fields begin.
const FIRST_FIELD: u64 = 24;
/// `JSGeneratorObject`: where it goes on, or that it runs or ended.
const CONTINUATION: u64 = 64;
/// Flags of a regular expression by bit, `src/regexp/regexp-flags.h`.
const REGEXP_FLAGS: [(i32, char); 8] =
    [(128, 'd'), (1, 'g'), (2, 'i'), (4, 'm'), (32, 's'), (16, 'u'), (256, 'v'), (8, 'y')];

impl Reader<'_> {
    /// What an object holds besides properties. Where that is damaged it counts as a plain one.
    pub(super) fn contents(&mut self, object: Object, depth: u32) -> Contents {
        if self.heap.is_function(object) {
            return self.function(object).unwrap_or(Contents::Plain);
        }
        let data = self.data(object).or_else(|| self.collection(object, depth));
        data.or_else(|| self.wrapper(object, depth)).unwrap_or(Contents::Plain)
    }

    /// Whether the contents of an object are told in few words, so that they are wherever it lies.
    pub(super) fn is_short(&self, object: Object) -> bool {
        let types = &self.heap.layout.types;
        let short = [types.bound_function, types.date, types.regexp, types.primitive_wrapper];
        self.heap.is_function(object) || short.contains(&object.kind)
    }

    fn function(&self, object: Object) -> Option<Contents> {
        let function = Function::load(&self.heap, Tagged::Strong(object.at))?;
        let script = function.shared.script(&self.heap);
        Some(Contents::Function {
            name: function.name(&self.heap).map(Arc::from),
            file: script.and_then(|script| script.name(&self.heap)).map(Arc::from),
            line: function.shared.first_place(&self.heap).map(|place| place.line),
            is_class: function.shared.is_class_constructor(&self.heap),
        })
    }

    /// Kinds that hold bytes and numbers.
    fn data(&self, object: Object) -> Option<Contents> {
        let (heap, types) = (&self.heap, &self.heap.layout.types);
        match object.kind {
            kind if kind == types.array => {
                Some(Contents::Array { length: heap.array_length(object)? })
            }
            kind if kind == types.arguments => Some(Contents::Arguments),
            kind if kind == types.date => self.date(object).map(Contents::Date),
            kind if kind == types.regexp => self.regexp(object),
            kind if kind == types.error => {
                Some(Contents::Error { stack: heap.error_stack(object).map(Arc::from) })
            }
            kind if kind == types.array_buffer => Some(Contents::Buffer {
                length: heap.word(object.at, heap.layout.offsets.buffer_length)?,
                data: Addr::new(heap.word(object.at, heap.layout.offsets.buffer_store)?),
            }),
            kind if [types.typed_array, types.data_view].contains(&kind) => {
                let (data, length) = heap.view_bytes(object)?;
                let is_array = kind == types.typed_array;
                let element = is_array.then(|| heap.element_type(object)).flatten();
                Some(Contents::Typed { element, length, data })
            }
            _ => None,
        }
    }

    fn date(&self, date: Object) -> Option<f64> {
        if self.heap.layout.has_bare_dates() {
            return self.heap.word(date.at, FIRST_FIELD).map(f64::from_bits);
        }
        match self.heap.tagged(date.at, FIRST_FIELD)? {
            Tagged::Smi(number) => Some(number.into()),
            value => self.heap.heap_number(self.heap.object(value)?),
        }
    }

    fn regexp(&self, object: Object) -> Option<Contents> {
        // `src/objects/js-regexp.h`: its flags are behind its data, which has the source as well since V8 14.9.
        let (holder, source, flags) = match self.heap.layout.has_bare_regexps() {
            true => (self.heap.field(object.at, FIRST_FIELD)?.at, 24, 32),
            false => (object.at, 32, 40),
        };
        let source = self.heap.text(self.heap.field(holder, source)?, MAX_TEXT)?;
        let bits = self.heap.smi(object.at, flags)?;
        let flags = REGEXP_FLAGS.iter().filter(|(bit, _)| bits & bit != 0);
        let flags: String = flags.map(|(_, flag)| flag).collect();
        Some(Contents::RegExp { source: source.into(), flags: flags.into() })
    }

    /// Kinds that hold many values.
    fn collection(&mut self, object: Object, depth: u32) -> Option<Contents> {
        let types = self.heap.layout.types;
        let most = self.limits.entries;
        match object.kind {
            kind if kind == types.js_map => {
                let found = self.heap.ordered_entries(object, true, most)?;
                let entries = self.pairs(found.entries, depth);
                Some(Contents::Map { size: found.size, entries })
            }
            kind if kind == types.set => {
                let found = self.heap.ordered_entries(object, false, most)?;
                let values = found.entries.into_iter().map(|(key, _)| self.value(key, depth));
                Some(Contents::Set { size: found.size, values: values.collect() })
            }
            kind if [types.weak_map, types.weak_set].contains(&kind) => {
                let found = self.heap.weak_entries(object, most)?;
                let entries = self.pairs(found.entries, depth);
                Some(Contents::Weak { is_map: kind == types.weak_map, size: found.size, entries })
            }
            _ => None,
        }
    }

    fn pairs(&mut self, entries: Vec<(Tagged, Tagged)>, depth: u32) -> Vec<(Value, Value)> {
        let told = entries.into_iter();
        told.map(|(key, value)| (self.value(key, depth), self.value(value, depth))).collect()
    }

    /// Kinds that stand for another value.
    fn wrapper(&mut self, object: Object, depth: u32) -> Option<Contents> {
        let types = self.heap.layout.types;
        let generators = [types.generator(), types.async_function, types.async_generator];
        match object.kind {
            kind if kind == types.bound_function => self.bound(object, depth),
            kind if kind == types.promise => self.promise(object, depth),
            kind if kind == types.proxy => Some(Contents::Proxy {
                target: self.field(object, 16, depth)?,
                handler: self.field(object, 24, depth)?,
            }),
            kind if kind == types.primitive_wrapper => {
                self.field(object, FIRST_FIELD, depth).map(Contents::Boxed)
            }
            kind if kind == types.weak_ref => {
                self.field(object, FIRST_FIELD, depth).map(Contents::WeakRef)
            }
            kind if generators.contains(&kind) => self.generator(object, depth),
            _ => None,
        }
    }

    fn generator(&mut self, object: Object, depth: u32) -> Option<Contents> {
        let state = match self.heap.smi(object.at, CONTINUATION)? {
            -2 => "running",
            -1 => "closed",
            _ => "suspended",
        };
        let at = || {
            let place = self.heap.suspended_at(object).filter(|_| state == "suspended")?;
            let function = self.heap.tagged(object.at, FIRST_FIELD)?;
            let script = Function::load(&self.heap, function)?.shared.script(&self.heap)?;
            let name = script.shown_name(&self.heap)?;
            Some(format!("{name}:{}:{}", place.line, place.column).into())
        };
        let at = at();
        Some(Contents::Generator { function: self.field(object, FIRST_FIELD, depth)?, state, at })
    }

    fn field(&mut self, object: Object, offset: u64, depth: u32) -> Option<Value> {
        let value = self.heap.tagged(object.at, offset)?;
        Some(self.value(value, depth))
    }

    fn bound(&mut self, object: Object, depth: u32) -> Option<Contents> {
        let arguments = self.heap.field(object.at, 40)?;
        let count = self.heap.length(arguments)?.min(self.limits.entries);
        let heap = self.heap;
        let values = (0..count).filter_map(|index| heap.element(arguments, index));
        Some(Contents::Bound {
            target: self.field(object, 24, depth)?,
            this: self.field(object, 32, depth)?,
            arguments: values.map(|value| self.value(value, depth)).collect(),
        })
    }

    fn promise(&mut self, object: Object, depth: u32) -> Option<Contents> {
        let state = match self.heap.smi(object.at, 32)? & 3 {
            0 => PromiseState::Pending,
            1 => PromiseState::Fulfilled,
            _ => PromiseState::Rejected,
        };
        let settled = state != PromiseState::Pending;
        let result = settled.then(|| self.field(object, FIRST_FIELD, depth)).flatten();
        Some(Contents::Promise { state, result })
    }
}
