//! What types are called, and which builtin type an object is of.
//!
//! A type that Python made carries its name in the heap. The name of a static type lies in constant memory,
//! which a core of the kernel leaves to the module's file: without it `builtins` and `types` say what they
//! have under which name.

use std::sync::{Arc, PoisonError};

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    Python,
    dict::Entries,
    heap::{DICT, HEAP_TYPE, Heap, Object, STR, TYPE},
};
use crate::Host;

/// `tp_base`.
const BASE: u64 = 256;
/// Types whose names are kept: more than any program has.
const MAX_KNOWN: usize = 1 << 16;
/// Bases of one type, at most.
const MAX_BASES: usize = 64;
/// Values of `builtins` whose types have no name there.
const SINGLES: [(&str, &str); 3] =
    [("None", "NoneType"), ("Ellipsis", "ellipsis"), ("NotImplemented", "NotImplementedType")];
/// Types as `types` has them, and as they call themselves: `Lib/types.py`.
const TYPES: [(&str, &str); 11] = [
    ("FunctionType", "function"),
    ("CodeType", "code"),
    ("GeneratorType", "generator"),
    ("CoroutineType", "coroutine"),
    ("AsyncGeneratorType", "async_generator"),
    ("MethodType", "method"),
    ("BuiltinFunctionType", "builtin_function_or_method"),
    ("ModuleType", "module"),
    ("TracebackType", "traceback"),
    ("FrameType", "frame"),
    ("CellType", "cell"),
];

/// Static types that other modules have, and their `tp_name`.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("_collections", "deque", "collections.deque"),
    ("_collections", "defaultdict", "collections.defaultdict"),
    ("_collections", "OrderedDict", "collections.OrderedDict"),
    ("_collections_abc", "dict_keys", "dict_keys"),
    ("_collections_abc", "dict_values", "dict_values"),
    ("_collections_abc", "dict_items", "dict_items"),
    ("array", "array", "array.array"),
    ("_functools", "partial", "functools.partial"),
    ("_decimal", "Decimal", "decimal.Decimal"),
    ("_datetime", "datetime", "datetime.datetime"),
    ("_datetime", "date", "datetime.date"),
    ("_datetime", "time", "datetime.time"),
    ("_datetime", "timedelta", "datetime.timedelta"),
    ("_datetime", "timezone", "datetime.timezone"),
    ("datetime", "datetime", "datetime.datetime"),
    ("datetime", "date", "datetime.date"),
    ("datetime", "time", "datetime.time"),
    ("datetime", "timedelta", "datetime.timedelta"),
    ("datetime", "timezone", "datetime.timezone"),
    ("itertools", "count", "itertools.count"),
    ("types", "SimpleNamespace", "types.SimpleNamespace"),
    ("types", "GenericAlias", "types.GenericAlias"),
    ("types", "UnionType", "types.UnionType"),
    ("types", "MappingProxyType", "mappingproxy"),
];

impl Python {
    /// What a type is called, without its module.
    pub fn class_name(&self, host: &dyn Host, class: Addr) -> Option<Arc<str>> {
        if let Some(known) =
            self.class_names.read().unwrap_or_else(PoisonError::into_inner).get(&class)
        {
            return known.clone();
        }
        let name = self.read_class_name(host, class);
        let mut known = self.class_names.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MAX_KNOWN {
            known.insert(class, name.clone());
        }
        name
    }

    fn read_class_name(&self, host: &dyn Host, class: Addr) -> Option<Arc<str>> {
        let heap = self.heap(host);
        let object = heap.object(class).filter(|object| object.is(TYPE))?;
        let flags = heap.word(object.at, heap.layout.types.flags)?;
        if flags & HEAP_TYPE != 0 {
            let name = heap.field_of(object.at, heap.layout.types.qualname, STR)?;
            return heap.name(name).map(Arc::from);
        }
        let own = |name: Arc<str>| name.rsplit('.').next().map(Arc::from);
        let known = || self.static_name(host, class).and_then(own);
        heap.type_name(class).map(Arc::from).or_else(known)
    }

    /// The name of the builtin type that a type is, or is derived from.
    pub fn builtin_name(&self, host: &dyn Host, class: Addr) -> Option<Arc<str>> {
        let heap = self.heap(host);
        let mut class = class;
        for _ in 0..MAX_BASES {
            if heap.word(class, heap.layout.types.flags)? & HEAP_TYPE == 0 {
                return self.class_name(host, class);
            }
            class = heap.pointer(class, BASE)?;
        }
        None
    }

    /// The name of a static type as `tp_name` would have it, by what modules call it.
    pub(super) fn static_name(&self, host: &dyn Host, class: Addr) -> Option<Arc<str>> {
        self.static_names(host).get(&class).cloned()
    }

    /// The static types that modules have, and what they call them.
    pub(super) fn known_static_types(&self, host: &dyn Host) -> Vec<(Addr, Arc<str>)> {
        let names = self.static_names(host).iter();
        let mut types: Vec<(Addr, Arc<str>)> =
            names.map(|(at, name)| (*at, name.clone())).collect();
        types.sort_unstable();
        types
    }

    /// The names of static types, by what modules call them.
    fn static_names(&self, host: &dyn Host) -> &FxHashMap<Addr, Arc<str>> {
        self.static_names.get_or_init(|| self.read_static_names(host))
    }

    fn read_static_names(&self, host: &dyn Host) -> FxHashMap<Addr, Arc<str>> {
        let heap = self.heap(host);
        let mut names = FxHashMap::default();
        let builtins = heap.field_of(self.main, heap.layout.interpreter.builtins, DICT);
        for (name, value) in builtins.iter().flat_map(|dict| named(&heap, *dict)) {
            let single = SINGLES.iter().find(|(known, _)| *known == name);
            match single {
                Some((_, class)) => names.insert(value.class, Arc::from(*class)),
                None if value.is(TYPE) => names.insert(value.at, name.into()),
                None => None,
            };
        }
        for (module, variable, own) in ELSEWHERE {
            let value = self.module_variable(&heap, self.main, module, variable);
            if let Some(value) = value.filter(|value| value.is(TYPE)) {
                names.insert(value.at, Arc::from(*own));
            }
        }
        let types = self.module_dict(&heap, self.main, "types");
        for (name, value) in types.iter().flat_map(|dict| named(&heap, *dict)) {
            if let Some((_, own)) = TYPES.iter().find(|(known, _)| *known == name) {
                names.insert(value.at, Arc::from(*own));
            }
        }
        names
    }
}

/// The entries of a dict whose keys are names.
fn named(heap: &Heap<'_>, dict: Object) -> Vec<(String, Object)> {
    let entries = Entries::of(heap, dict).into_iter().flatten();
    let named = entries
        .filter_map(|entry| Some((heap.name(heap.object(entry.key)?)?, heap.object(entry.value)?)));
    named.collect()
}
