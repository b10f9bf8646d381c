//! Objects of the standard library that C code made: locks, buffers, patterns, context variables.
//!
//! `lockobject` and `rlockobject` (`Modules/_threadmodule.c`), `bytesio` (`Modules/_io/bytesio.c`), `PatternObject`
//! (`Modules/_sre/sre.h`), `_pycontextvarobject` (`Include/internal/pycore_context.h`) of 3.8 to 3.15. Builds with debug
//! information have these offsets up to 3.13.

use std::sync::Arc;

use super::{
    super::heap::{BYTES, Object, STR},
    Value, ValueKind,
    reader::Reader,
};

/// The first fields behind the header.
const FIRST: u64 = 16;
const SECOND: u64 = 24;
const THIRD: u64 = 32;
/// A `PyMutex` is held.
const LOCKED: u64 = 1;
/// `pattern` and `flags` of a `PatternObject`.
const PATTERN: u64 = 48;
const FLAGS: u64 = 56;
/// The bytes of a `bytes` object begin here.
const BYTES_OFFSET: u64 = 32;

impl Reader<'_> {
    /// Whether it is locked. Up to 3.13 a byte says so, then a `PyMutex`.
    pub(super) fn lock(&mut self, object: Object) -> Option<ValueKind> {
        let offset = if self.heap.layout.minor >= 14 { FIRST } else { THIRD };
        let is_locked = self.heap.uint(object.at, offset, 1)? & LOCKED != 0;
        Some(self.call(object, Vec::new(), vec![locked(is_locked)]))
    }

    /// Whether it is locked, by which thread (`threading.get_ident()`), and how often. Since 3.14 the count leaves out the
    /// first time (`_PyRecursiveMutex`).
    pub(super) fn recursive_lock(&mut self, object: Object) -> Option<ValueKind> {
        let (owner, count) =
            (self.heap.word(object.at, SECOND)?, self.heap.word(object.at, THIRD)?);
        let count = match self.heap.layout.minor {
            14.. if owner != 0 => count.checked_add(1)?,
            _ => count,
        };
        let mut told = vec![locked(count > 0)];
        if count > 0 {
            let number = |name: &str, value: u64| {
                (Arc::from(name), Value::of_kind(ValueKind::Int(value.to_string().into())))
            };
            told.extend([number("owner", owner), number("count", count)]);
        }
        Some(self.call(object, Vec::new(), told))
    }

    /// What it holds, and where it is read.
    pub(super) fn bytes_io(&mut self, object: Object) -> Option<ValueKind> {
        let length = self.heap.word(object.at, THIRD)?;
        let buffer = match self.heap.pointer(object.at, FIRST) {
            // It is closed.
            None => return Some(self.call(object, Vec::new(), vec![word("closed", "True")])),
            Some(at) => self.heap.object(at).filter(|buffer| buffer.is(BYTES))?,
        };
        (length <= self.heap.size(buffer)?).then_some(())?;
        let start = buffer.at.checked_add(BYTES_OFFSET)?;
        let bytes = self.heap.space.read_held(start, length.min(self.limits.characters));
        let bytes = Value::of_kind(ValueKind::Bytes { bytes, length });
        let place = self.heap.word(object.at, SECOND)?.cast_signed();
        Some(self.call(object, vec![bytes], vec![("pos".into(), Value::of_int(place))]))
    }

    /// The pattern, and its flags unless they are those of any pattern of text.
    pub(super) fn pattern(&mut self, object: Object) -> Option<ValueKind> {
        /// `re.UNICODE`, which a `str` has by itself.
        const UNICODE: u64 = 32;
        let pattern = self.heap.field(object.at, PATTERN)?;
        let flags = self.heap.uint(object.at, FLAGS, 4)?;
        let usual = if pattern.is(STR) { UNICODE } else { 0 };
        let flags = (flags != usual).then(|| ("flags".into(), Value::of_int(flags.cast_signed())));
        let pattern = self.value(pattern);
        Some(self.call(object, vec![pattern], flags.into_iter().collect()))
    }

    /// Its name, and what it is where it was not set.
    pub(super) fn context_variable(&mut self, object: Object) -> Option<ValueKind> {
        let name = self.heap.field_of(object.at, FIRST, STR)?;
        let name = self.value(name);
        let default = self.heap.field(object.at, SECOND).map(|default| self.value(default));
        let default = default.map(|default| ("default".into(), default));
        Some(self.call(object, vec![name], default.into_iter().collect()))
    }
}

fn locked(is_locked: bool) -> (Arc<str>, Value) {
    word("locked", if is_locked { "True" } else { "False" })
}

fn word(name: &str, word: &'static str) -> (Arc<str>, Value) {
    (name.into(), Value::of_kind(ValueKind::Word(word)))
}
