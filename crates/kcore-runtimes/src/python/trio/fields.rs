//! Attributes of objects by their names, in slots or in dicts, with what is known of classes kept.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::super::{
    Python,
    heap::{Heap, Object},
};
use crate::Host;

/// `ob_fval` of a `float`: `Include/cpython/floatobject.h`.
const FLOAT: u64 = 16;

/// Reads attributes in one process.
pub struct Fields<'a> {
    pub python: &'a Python,
    pub host: &'a dyn Host,
    pub heap: Heap<'a>,
    classes: FxHashMap<Addr, Arc<ClassFacts>>,
}

/// What is known of a class.
struct ClassFacts {
    name: Option<Arc<str>>,
    slots: FxHashMap<Arc<str>, u64>,
}

impl<'a> Fields<'a> {
    /// Those of a process.
    pub fn new(python: &'a Python, host: &'a dyn Host) -> Self {
        let (heap, classes) = (python.heap(host), FxHashMap::default());
        Self { python, host, heap, classes }
    }

    fn class(&mut self, class: Addr) -> Arc<ClassFacts> {
        let (python, host, heap) = (self.python, self.host, self.heap);
        let facts = self.classes.entry(class).or_insert_with(|| {
            let slots = python.slots_of_class(&heap, class).into_iter().collect();
            Arc::new(ClassFacts { name: python.class_name(host, class), slots })
        });
        facts.clone()
    }

    /// The name of the class that an object is of.
    pub fn class_name(&mut self, object: Object) -> Option<Arc<str>> {
        self.class(object.class).name.clone()
    }

    /// An attribute that is not `None`.
    pub fn get(&mut self, object: Object, name: &str) -> Option<Object> {
        let value = match self.class(object.class).slots.get(name) {
            Some(offset) => self.heap.field(object.at, *offset),
            None => self.of_dict(object, name),
        };
        value.filter(|value| self.class_name(*value).is_none_or(|name| &*name != "NoneType"))
    }

    fn of_dict(&self, object: Object, name: &str) -> Option<Object> {
        let is_it = |key: Addr| self.heap.object(key).is_some_and(|it| self.heap.is_text(it, name));
        let entry = self.heap.attributes(object)?.find(|entry| is_it(entry.key))?;
        self.heap.object(entry.value)
    }

    /// An attribute that is a `float` or a small `int`.
    pub fn float(&mut self, object: Object, name: &str) -> Option<f64> {
        let value = self.get(object, name)?;
        match self.heap.small_int(value) {
            Some(number) => i32::try_from(number).ok().map(f64::from),
            None => {
                let is_one = self.class_name(value).is_some_and(|name| &*name == "float");
                let bits = self.heap.word(value.at, FLOAT).filter(|_| is_one)?;
                Some(f64::from_bits(bits))
            }
        }
    }

    /// Whether an attribute is `True`.
    pub fn is_true(&mut self, object: Object, name: &str) -> bool {
        self.get(object, name).and_then(|value| self.heap.small_int(value)) == Some(1)
    }
}
