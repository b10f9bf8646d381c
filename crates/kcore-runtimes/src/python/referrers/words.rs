//! The words of an object that may refer to others.

use std::borrow::Cow;

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::super::{
    Python,
    dict::{Entries, Keys},
    heap::{DICT, Heap, LIST, Object, TUPLE},
};
use crate::Host;

/// Bytes of one object, or of what it keeps elsewhere, that are looked at, at most, and of all.
const MAX_BYTES: u64 = 1 << 32;
const MAX_ALL: u64 = 1 << 37;
/// Bytes of what all objects have: references and type.
const HEADER: u64 = 16;
/// `PySetObject`: `mask` and `table`, `Include/cpython/setobject.h`, and bytes of an entry and of the object.
const MASK: u64 = 32;
const TABLE: u64 = 40;
const SET_ENTRY: u64 = 16;
const SET_SIZE: u64 = 200;

/// What is known of a class.
#[derive(Clone, Copy)]
struct Class {
    basic: u64,
    item: u64,
    /// Whether instances may be sets: as big as one, or bigger.
    may_be_set: bool,
    /// Whether instances are coroutines or generators: of what lies in their frames the code tells how much it is.
    has_frame: bool,
}

/// Reads words of objects.
pub struct Words<'a> {
    python: &'a Python,
    host: &'a dyn Host,
    heap: Heap<'a>,
    classes: FxHashMap<Addr, Option<Class>>,
    left: u64,
}

impl<'a> Words<'a> {
    /// Of the heap of a CPython.
    pub fn new(python: &'a Python, host: &'a dyn Host) -> Self {
        Self { python, host, heap: python.heap(host), classes: FxHashMap::default(), left: MAX_ALL }
    }

    /// Tells all words of an object, and of what it alone keeps elsewhere. The type is none of them.
    pub fn of(&mut self, object: Object, tell: &mut dyn FnMut(u64)) {
        let Some(class) = self.class(object) else { return };
        let heap = self.heap;
        let count = match class.item {
            8 if !object.is(TUPLE) && !class.has_frame => {
                heap.word(object.at, HEADER).unwrap_or_default()
            }
            _ => 0,
        };
        let size = class.basic.saturating_add(count.saturating_mul(8)).saturating_sub(HEADER);
        let with_values = size.saturating_add(heap.inline_size(object));
        self.each(object.at.checked_add(HEADER), with_values, tell);
        if object.is(LIST) || object.is(TUPLE) {
            let size = heap.size(object).unwrap_or_default().saturating_mul(8);
            self.each(heap.items(object), size, tell);
        } else if object.is(DICT) {
            self.of_dict(object, tell);
        } else if class.may_be_set {
            self.of_set(object, tell);
        }
        if class.has_frame {
            self.of_frame(object, tell);
        }
        if let Some(dict) = heap.dict_of(object) {
            tell(dict.get());
        }
        for entry in heap.values_elsewhere(object).into_iter().flatten() {
            tell(entry.value.get());
        }
    }

    fn class(&mut self, object: Object) -> Option<Class> {
        let (python, host) = (self.python, self.host);
        let (heap, types) = (self.heap, &self.heap.layout.types);
        *self.classes.entry(object.class).or_insert_with(|| {
            let basic = heap.word(object.class, types.basic_size)?;
            let item = heap.word(object.class, types.item_size)?;
            (basic <= MAX_BYTES).then_some(Class {
                basic,
                item,
                may_be_set: basic >= SET_SIZE && item == 0,
                has_frame: python.is_coroutine(host, object),
            })
        })
    }

    /// The variables of a coroutine or generator that did not end, and what it awaits.
    fn of_frame(&self, object: Object, tell: &mut dyn FnMut(u64)) {
        let Some(frame) = self.python.frame_of(self.host, &self.heap, object) else { return };
        let locals = self.python.locals(self.host, frame).unwrap_or_default();
        let awaited = self.python.awaited_by(self.host, object.at);
        for at in locals.iter().map(|local| local.at).chain(awaited) {
            tell(at.get());
        }
    }

    fn of_dict(&mut self, dict: Object, tell: &mut dyn FnMut(u64)) {
        let is_split = self.heap.word(dict.at, 40).is_some_and(|values| values != 0);
        if is_split {
            for entry in Entries::of(&self.heap, dict).into_iter().flatten() {
                tell(entry.key.get());
                tell(entry.value.get());
            }
            return;
        }
        let keys = self.heap.pointer(dict.at, 32).and_then(|keys| Keys::load(&self.heap, keys));
        if let Some((start, size)) = keys.and_then(|keys| keys.table()) {
            self.each(Some(start), size, tell);
        }
    }

    fn of_set(&mut self, set: Object, tell: &mut dyn FnMut(u64)) {
        let mask = self.heap.word(set.at, MASK).filter(|mask| (mask & mask.wrapping_add(1)) == 0);
        let size = mask.unwrap_or_default().saturating_add(1).saturating_mul(SET_ENTRY);
        self.each(self.heap.pointer(set.at, TABLE).filter(|_| mask.is_some()), size, tell);
    }

    /// The words from `start` on that memory holds.
    fn each(&mut self, start: Option<Addr>, size: u64, tell: &mut dyn FnMut(u64)) {
        let size = size.min(MAX_BYTES).min(self.left);
        let (Some(start), Ok(length)) = (start, usize::try_from(size)) else { return };
        let whole = self.heap.space.slice(start).ok().and_then(|bytes| bytes.get(..length));
        let bytes = match whole {
            Some(bytes) => Cow::Borrowed(bytes),
            None => Cow::Owned(self.heap.space.read_held(start, size)),
        };
        self.left = self.left.saturating_sub(bytes.len() as u64);
        for word in bytes.as_chunks::<8>().0 {
            tell(u64::from_le_bytes(*word));
        }
    }
}
