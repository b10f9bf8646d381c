//! What stands for a call, or for parts of another object: `functools.partial`, `list[int]`, `int | str`, views of
//! dicts, `itertools.count`.
//!
//! `partialobject` (`Modules/_functoolsmodule.c`), `gaobject` (`Objects/genericaliasobject.c`), `unionobject`
//! (`Objects/unionobject.c`), `_PyDictViewObject` (`Objects/dictobject.c`), `countobject` (`Modules/itertoolsmodule.c`)
//! of 3.8 to 3.15.

use std::sync::Arc;

use super::{
    super::heap::{DICT, Object, TUPLE},
    Items, Value, ValueKind,
    reader::Reader,
};

/// The first two fields behind the header.
const FIRST: u64 = 16;
const SECOND: u64 = 24;
const THIRD: u64 = 32;
/// `cnt` of a `count` whose number is a Python object.
const SLOW: u64 = i64::MAX.cast_unsigned();

impl Reader<'_> {
    /// What it calls, with which arguments.
    pub(super) fn partial(&mut self, object: Object) -> Option<ValueKind> {
        let function = self.heap.field(object.at, FIRST)?;
        let rest = self.heap.field_of(object.at, SECOND, TUPLE)?;
        let named = self.heap.field_of(object.at, THIRD, DICT)?;
        let mut arguments = vec![self.value(function)];
        arguments.extend(self.some_of(rest)?);
        let named = self.entries(named)?.into_iter().map_while(|entry| {
            let name = self.heap.name(self.heap.object(entry.key)?)?;
            Some((Arc::from(name), self.next_at(entry.value)?))
        });
        let named = named.collect();
        Some(self.call(object, arguments, named))
    }

    /// The type that it is of, and what that is given.
    pub(super) fn generic_alias(&mut self, object: Object) -> Option<ValueKind> {
        let (of, given) = (self.heap.field(object.at, FIRST)?, self.heap.field(object.at, SECOND)?);
        let arguments = vec![self.value(of), self.value(given)];
        Some(self.call(object, arguments, Vec::new()))
    }

    /// The types that it is one of.
    pub(super) fn union(&mut self, object: Object) -> Option<ValueKind> {
        let types = self.heap.field_of(object.at, FIRST, TUPLE)?;
        let arguments = self.some_of(types)?;
        Some(self.call(object, arguments, Vec::new()))
    }

    /// What a view of a dict is of.
    pub(super) fn view(&mut self, object: Object, of: &str) -> Option<ValueKind> {
        let dict = self.heap.field_of(object.at, FIRST, DICT)?;
        let length = self.heap.word(dict.at, FIRST)?;
        let entries = self.entries(dict)?.into_iter();
        let items = entries.map_while(|entry| match of {
            "keys" => self.next_at(entry.key),
            "values" => self.next_at(entry.value),
            _ => {
                let items = vec![self.next_at(entry.key)?, self.next_at(entry.value)?];
                Some(Value::of_kind(ValueKind::Items { of: Items::Tuple, items, length: 2 }))
            }
        });
        let items = ValueKind::Items { of: Items::List, items: items.collect(), length };
        Some(self.call(object, vec![Value::of_kind(items)], Vec::new()))
    }

    /// The next number, and the step unless that is 1.
    pub(super) fn count(&mut self, object: Object) -> Option<ValueKind> {
        let number = self.heap.word(object.at, FIRST)?;
        let mut arguments = match number {
            SLOW => vec![self.field_value(object, SECOND)?],
            _ => vec![Value::of_int(number.cast_signed())],
        };
        let step = self.heap.field(object.at, THIRD)?;
        if self.heap.small_int(step) != Some(1) {
            arguments.push(self.value(step));
        }
        Some(self.call(object, arguments, Vec::new()))
    }

    fn field_value(&mut self, object: Object, offset: u64) -> Option<Value> {
        let field = self.heap.field(object.at, offset)?;
        Some(self.value(field))
    }

    /// The items of a tuple, as many as are told.
    fn some_of(&mut self, tuple: Object) -> Option<Vec<Value>> {
        let ValueKind::Items { items, length, .. } = self.items(tuple, Items::Tuple)? else {
            return None;
        };
        (items.len() as u64 == length).then_some(items)
    }
}
