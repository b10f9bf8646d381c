//! `memoryview`: `PyMemoryViewObject` of `Include/cpython/memoryobject.h` with its `Py_buffer` (3.8 to 3.15).

use std::sync::Arc;

use kcore_mem::Addr;

use super::{super::heap::Object, Value, ValueKind, reader::Reader};

/// `flags`, and `_Py_MEMORYVIEW_RELEASED` in it.
const FLAGS: u64 = 40;
const RELEASED: u64 = 1;
/// `buf`, `obj`, `len`, `itemsize`, `ndim`, `format`, `strides` and `suboffsets` of the view.
const BUFFER: u64 = 56;
const OBJECT: u64 = 64;
const LENGTH: u64 = 72;
const ITEM_SIZE: u64 = 80;
const DIMENSIONS: u64 = 92;
const FORMAT: u64 = 96;
const STRIDES: u64 = 112;
const SUB_OFFSETS: u64 = 120;
/// What the items of a view are without a format.
const USUAL: &str = "B";
/// Bytes of a format, at most.
const MAX_FORMAT: usize = 256;

impl Reader<'_> {
    /// The bytes that it shows, and whose they are, where they lie in one row; `None` otherwise.
    pub(super) fn memory_view(&mut self, object: Object) -> Option<ValueKind> {
        if self.heap.uint(object.at, FLAGS, 4)? & RELEASED != 0 {
            let released = Value::of_kind(ValueKind::Word("True"));
            return Some(self.call(object, Vec::new(), vec![("released".into(), released)]));
        }
        self.is_row(object)?.then_some(())?;
        let length = self.heap.word(object.at, LENGTH)?;
        let start = Addr::new(self.heap.word(object.at, BUFFER)?);
        let bytes = self.heap.space.read_held(start, length.min(self.limits.characters));
        let mut named = Vec::new();
        if let Some(owner) = self.heap.pointer(object.at, OBJECT) {
            named.push(("obj".into(), self.at(owner)));
        }
        named.extend(self.format(object).map(|format| ("format".into(), Value::made(&format))));
        let bytes = Value::of_kind(ValueKind::Bytes { bytes, length });
        Some(self.call(object, vec![bytes], named))
    }

    /// Whether it has one dimension, whose items lie side by side.
    fn is_row(&self, object: Object) -> Option<bool> {
        let heap = &self.heap;
        let step = match heap.word(object.at, STRIDES)? {
            0 => heap.word(object.at, ITEM_SIZE)?,
            strides => heap.word(Addr::new(strides), 0)?,
        };
        Some(
            heap.int(object.at, DIMENSIONS)? == 1
                && step == heap.word(object.at, ITEM_SIZE)?
                && heap.word(object.at, SUB_OFFSETS)? == 0,
        )
    }

    /// What its items are, if that can be read and is not the usual.
    fn format(&self, object: Object) -> Option<Arc<str>> {
        let format = Addr::new(self.heap.word(object.at, FORMAT).filter(|at| *at != 0)?);
        let format = self.heap.space.read_cstr(format, MAX_FORMAT).ok()?;
        let format = String::from_utf8(format).ok()?;
        (format != USUAL).then(|| format.into())
    }
}
