//! Types that C code made, and the one of them that a class is derived from.
//!
//! Static types are the interpreter's own and those of old extensions. Since 3.9 more and more of the standard library's
//! are made by `PyType_FromSpec` (`Objects/typeobject.c`) and lie in the heap as Python's own classes do. What
//! tells them apart is `tp_name`: `type.__new__` and `type.__name__` point it at the characters of `ht_name`, a spec at
//! a text of its own, which holds the module too.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    fields::has_fields,
    heap::{DICT, EXCEPTION, HEAP_TYPE, Heap, Object, STR},
};
use crate::Host;

/// `Py_TPFLAGS_IMMUTABLETYPE`, since 3.10: no class of Python's has it.
const IMMUTABLE: u64 = 1 << 8;
/// `tp_base`.
const BASE: u64 = 256;
/// Bases of one type, at most.
const MAX_BASES: usize = 64;
/// Bytes of an object that holds nothing.
const HEADER: u64 = 16;
/// Bytes of a name, at most.
const MAX_NAME: usize = 256;

/// A type that C code made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Native {
    /// It.
    pub class: Addr,
    /// Its name behind that of its module, which `builtins` is not told of: `collections.deque`, `list`.
    pub name: Arc<str>,
}

impl Python {
    /// The type made by C code that a type is, or is derived from; `None` if its name is not known.
    pub(super) fn native(&self, host: &dyn Host, class: Addr) -> Option<Native> {
        let heap = self.heap(host);
        let mut class = class;
        for _ in 0..MAX_BASES {
            if heap.is_native(class)? {
                let known = || self.static_name(host, class);
                let name = heap.native_name(class).map(Arc::from).or_else(known)?;
                return Some(Native { class, name });
            }
            class = heap.pointer(class, BASE)?;
        }
        None
    }
}

impl Python {
    /// The type that an object is of, with its module, where C code made it, or a base of it, and what that keeps in
    /// its objects is not known.
    pub(super) fn opaque(&self, host: &dyn Host, object: Object) -> Option<Arc<str>> {
        let heap = self.heap(host);
        let Some(native) = self.native(host, object.class) else { return Some("unknown".into()) };
        let types = &heap.layout.types;
        let is_empty = heap.word(native.class, types.basic_size) == Some(HEADER)
            && heap.word(native.class, types.item_size) == Some(0);
        let is_known = is_empty
            || object.is(EXCEPTION)
            || &*native.name == "types.SimpleNamespace"
            || matches!(&*native.name, "frame" | "function")
            || self.is_coroutine(host, object)
            || has_fields(&native.name);
        (!is_known).then_some(native.name)
    }
}

impl Heap<'_> {
    /// Whether C code made a type.
    pub fn is_native(&self, class: Addr) -> Option<bool> {
        let flags = self.word(class, self.layout.types.flags)?;
        if flags & HEAP_TYPE == 0 || flags & IMMUTABLE != 0 && self.layout.minor >= 10 {
            return Some(true);
        }
        // `ht_name` lies before `ht_slots`.
        let own = self.field_of(class, self.layout.types.slots.checked_sub(8)?, STR)?;
        let name = self.word(class, self.layout.types.name)?;
        let ascii = self.layout.objects.ascii;
        // A text that is not of ASCII keeps its UTF-8 elsewhere, behind the length of that.
        let elsewhere = self.word(own.at, ascii.checked_add(8)?);
        let characters = own.at.checked_add(ascii)?.get();
        Some(name != characters && elsewhere != Some(name))
    }

    /// The name of a type that C code made, with its module, as far as memory has it.
    fn native_name(&self, class: Addr) -> Option<String> {
        let spelled = || {
            let at = self.word(class, self.layout.types.name).filter(|at| *at != 0)?;
            let name = String::from_utf8(self.space.read_cstr(Addr::new(at), MAX_NAME).ok()?).ok();
            name.filter(|name| !name.is_empty())
        };
        spelled().or_else(|| self.heap_name(class))
    }

    fn heap_name(&self, class: Addr) -> Option<String> {
        let types = &self.layout.types;
        (self.word(class, types.flags)? & HEAP_TYPE != 0).then_some(())?;
        let name = self.name(self.field_of(class, types.qualname, STR)?)?;
        let module = self
            .field_of(class, types.dict, DICT)
            .and_then(|dict| self.lookup(dict, "__module__"))
            .and_then(|module| self.name(module))?;
        Some(if module == "builtins" { name } else { format!("{module}.{name}") })
    }
}
