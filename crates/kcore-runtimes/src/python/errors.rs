//! What exceptions of builtin types keep beside their arguments: `Include/cpython/pyerrors.h` of 3.8 to 3.15.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    heap::{Heap, Object},
};
use crate::Host;

/// `tp_base`.
const BASE: u64 = 256;
/// Bases of one type, at most.
const MAX_BASES: usize = 64;
/// A word that is no object.
const NONE: &str = "";

/// The words behind what all exceptions have, by the type, from a minor version on: the latest one that fits counts.
const WORDS: &[(&str, u8, &[&str])] = &[
    ("OSError", 8, &["errno", "strerror", "filename", "filename2"]),
    ("StopIteration", 8, &["value"]),
    ("SystemExit", 8, &["code"]),
    ("ImportError", 12, &["msg", "name", "path", "name_from"]),
    ("ImportError", 8, &["msg", "name", "path"]),
    ("BaseExceptionGroup", 11, &["message", "exceptions"]),
    (
        "SyntaxError",
        10,
        &["msg", "filename", "lineno", "offset", "end_lineno", "end_offset", "text"],
    ),
    ("SyntaxError", 8, &["msg", "filename", "lineno", "offset", "text"]),
    ("UnicodeError", 8, &["encoding", "object", NONE, NONE, "reason"]),
    ("NameError", 10, &["name"]),
    ("AttributeError", 10, &["obj", "name"]),
];

impl Python {
    /// The fields of an exception that its builtin type has, those that are unset left out.
    pub(super) fn error_fields(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        exception: Object,
    ) -> Vec<(Arc<str>, Addr)> {
        // `suppress_context` lies between the cause and these.
        let first = heap.layout.objects.cause.saturating_add(16);
        let offsets = (first..).step_by(8);
        let words = self.error_words(host, heap, exception.class).unwrap_or_default();
        let named = words.iter().zip(offsets).filter(|(name, _)| **name != NONE);
        let set = |(name, offset): (&&str, u64)| {
            Some((Arc::from(*name), heap.field(exception.at, offset)?.at))
        };
        named.filter_map(set).collect()
    }

    fn error_words(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        class: Addr,
    ) -> Option<&'static [&'static str]> {
        let mut class = class;
        for _ in 0..MAX_BASES {
            let own = self.class_name(host, class)?;
            let is_native = heap.is_native(class)?;
            let fits = |(name, since, _): &&(&str, u8, &[&str])| {
                is_native && *name == &*own && *since <= heap.layout.minor
            };
            if let Some((.., words)) = WORDS.iter().find(fits) {
                return Some(words);
            }
            class = heap.pointer(class, BASE)?;
        }
        None
    }
}

impl Heap<'_> {
    /// Whether an exception says that what it was raised in the handling of is not to be told: `raise … from`.
    pub fn suppresses_context(&self, exception: Object) -> bool {
        let offset = self.layout.objects.cause.saturating_add(8);
        self.uint(exception.at, offset, 1).is_some_and(|is_so| is_so != 0)
    }
}
