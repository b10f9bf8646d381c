//! Properties of objects: `zend_object` of `zend_types.h`, `zend_property_info` of `zend_compile.h`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    array::{Elements, Key},
    contents::Slot,
    memory::{Memory, UNDEFINED, Value, pointer},
};

/// `properties` of `zend_object`, and `properties_info` of `zend_class_entry`.
const DYNAMIC: u64 = 32;
const DECLARED: u64 = 120;
/// `offset` and `flags` of `zend_property_info`, and `ZEND_ACC_STATIC`.
const OFFSET: u64 = 0;
const FLAGS: u64 = 4;
const STATIC: u64 = 1 << 4;
/// `parent` of `zend_class_entry`. `handlers` of `zend_object`, whose `offset` is that of the object in what C has of it.
const PARENT: u64 = 16;
const HANDLERS: u64 = 24;
/// Classes whose own storage begins with the object.
const BEHIND: [&str; 2] = ["Generator", "Fiber"];
/// Classes above one, at most.
const MAX_PARENTS: usize = 256;
/// Properties of one object that are looked at, at most.
const MAX_PROPERTIES: usize = 1 << 16;

impl Memory<'_> {
    /// The properties of an object with their names: those that its class declares in their order, then others.
    pub fn properties(&self, object: Addr) -> Vec<(String, Value)> {
        let mut all = self.declared(object);
        let known = all.len();
        let dynamic = self.pointer(object, DYNAMIC);
        for (key, value, _) in dynamic.and_then(|at| Elements::of(self, at)).into_iter().flatten() {
            let name = match key {
                Key::Index(index) => Some(index.to_string()),
                Key::Name(name) => self.text(name).map(|name| plain(&name).to_owned()),
            };
            let declared = all.get(..known).unwrap_or_default();
            let is_new = |name: &String| declared.iter().all(|(other, _)| other != name);
            all.extend(name.filter(is_new).map(|name| (name, value)));
            if all.len() >= MAX_PROPERTIES {
                break;
            }
        }
        all
    }

    fn declared(&self, object: Addr) -> Vec<(String, Value)> {
        let slots = self.class_of(object).map(|class| self.slots(class)).unwrap_or_default();
        let property = |(offset, name): (u64, Arc<str>)| {
            let value = self.plain_value(object.checked_add(offset)?)?;
            (value.kind != UNDEFINED).then(|| (name.to_string(), value))
        };
        slots.into_iter().filter_map(property).collect()
    }

    /// Where objects of a class have the properties that it and those above it declare, and what those are called.
    ///
    /// A private one of a class above is not among those of a class with one of the same name: it has its class before it.
    pub fn slots(&self, class: Addr) -> Vec<Slot> {
        let mut all = self.own_slots(class);
        let above = |class: &Addr| self.pointer(*class, PARENT);
        for class in std::iter::successors(above(&class), above).take(MAX_PARENTS) {
            for (offset, name) in self.own_slots(class) {
                if all.iter().any(|(other, _)| *other == offset) || all.len() >= MAX_PROPERTIES {
                    continue;
                }
                let class = self.class_name(class).unwrap_or_default();
                all.push((offset, format!("{class}::{}", plain(&name)).into()));
            }
        }
        all.sort_by_key(|(offset, _)| *offset);
        all
    }

    /// Whether an object has more than properties: what functions of C keep before it, or behind it.
    pub fn has_own_storage(&self, object: Addr, class: &str) -> bool {
        let before = || self.uint(self.pointer(object, HANDLERS)?, 0, 4);
        BEHIND.contains(&class) || before().is_some_and(|offset| offset != 0)
    }

    fn own_slots(&self, class: Addr) -> Vec<Slot> {
        let table = class.checked_add(DECLARED);
        let Some(elements) = table.and_then(|table| Elements::of(self, table)) else {
            return Vec::new();
        };
        let slot = |(key, value, _): (Key, Value, Addr)| {
            let Key::Name(name) = key else { return None };
            let info = pointer(value.word)?;
            (self.uint(info, FLAGS, 4)? & STATIC == 0).then_some(())?;
            Some((self.uint(info, OFFSET, 4)?, Arc::from(self.text(name)?)))
        };
        elements.take(MAX_PROPERTIES).filter_map(slot).collect()
    }

    /// The table of the properties that no class declares.
    pub fn dynamic(&self, object: Addr) -> Option<Addr> {
        self.pointer(object, DYNAMIC)
    }

    /// A property by its name.
    pub fn property(&self, object: Addr, wanted: &str) -> Option<Value> {
        let all = self.properties(object);
        all.into_iter().find(|(name, _)| name == wanted).map(|(_, value)| value)
    }
}

/// The name of a property that others may not see stands behind its class: `zend_mangle_property_name`.
fn plain(name: &str) -> &str {
    name.rsplit('\0').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_are_told_from_classes() {
        assert_eq!(
            (plain("\0Account\0balance"), plain("\0*\0name"), plain("x")),
            ("balance", "name", "x")
        );
    }
}
