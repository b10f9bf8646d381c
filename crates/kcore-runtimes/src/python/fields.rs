//! Attributes that objects of builtin types keep in fields of their own.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    dict::Entries,
    heap::{DICT, EXCEPTION, Heap, Object, TYPE},
};
use crate::Host;

/// `args` of an exception, `Include/cpython/pyerrors.h`.
pub const ARGUMENTS: u64 = 24;
/// `md_dict` of a module, `Objects/moduleobject.c`.
const MODULE_DICT: u64 = 16;

/// What an attribute is called, and where its pointer lies.
pub type Field = (&'static str, u64);

/// The fields of one builtin type: `Objects/classobject.c`, `cellobject.c`, `descrobject.c`, `methodobject.c`,
/// `genericaliasobject.c`, `unionobject.c`, `dictobject.c`, `Modules/_functoolsmodule.c`, `_collectionsmodule.c`,
/// `Include/cpython/traceback.h`, `weakrefobject.h`.
const FIELDS: &[(&str, &[Field])] = &[
    ("method", &[("__func__", 16), ("__self__", 24)]),
    ("builtin_function_or_method", &[("__self__", 24)]),
    ("cell", &[("cell_contents", 16)]),
    ("property", &[("fget", 16), ("fset", 24), ("fdel", 32)]),
    ("mappingproxy", &[("mapping", 16)]),
    ("traceback", &[("tb_next", 16), ("tb_frame", 24)]),
    ("staticmethod", &[("__func__", 16)]),
    ("classmethod", &[("__func__", 16)]),
    ("module", &[("__dict__", MODULE_DICT)]),
    ("weakref", &[("__referent__", 16)]),
    ("weakref.ReferenceType", &[("__referent__", 16)]),
    ("weakproxy", &[("__referent__", 16)]),
    ("weakref.ProxyType", &[("__referent__", 16)]),
    ("super", &[("__thisclass__", 16), ("__self__", 24), ("__self_class__", 32)]),
    ("slice", &[("start", 16), ("stop", 24), ("step", 32)]),
    ("range", &[("start", 16), ("stop", 24), ("step", 32)]),
    ("functools.partial", &[("func", 16), ("args", 24), ("keywords", 32)]),
    ("types.GenericAlias", &[("__origin__", 16), ("__args__", 24)]),
    ("types.UnionType", &[("__args__", 16)]),
    ("typing.Union", &[("__args__", 16)]),
    ("dict_keys", &[("mapping", 16)]),
    ("dict_values", &[("mapping", 16)]),
    ("dict_items", &[("mapping", 16)]),
    ("odict_keys", &[("mapping", 16)]),
    ("odict_values", &[("mapping", 16)]),
    ("odict_items", &[("mapping", 16)]),
    ("collections.defaultdict", &[("default_factory", 48)]),
];

/// Whether the fields of a type that C code made are known, by its name.
pub fn has_fields(native: &str) -> bool {
    FIELDS.iter().any(|(name, _)| *name == native)
}

impl Python {
    /// The attributes that lie in fields of an object because of its builtin type, those that are unset left out.
    pub(super) fn fields(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Vec<(Arc<str>, Addr)> {
        let objects = &heap.layout.objects;
        let set =
            |(name, offset): &Field| Some((Arc::from(*name), heap.field(object.at, *offset)?.at));
        if object.is(EXCEPTION) {
            let fields = [
                ("args", ARGUMENTS),
                ("__cause__", objects.cause),
                ("__context__", objects.context),
                ("__traceback__", objects.traceback),
            ];
            let common = fields.iter().filter_map(set);
            return common.chain(self.error_fields(host, heap, object)).collect();
        }
        let Some(builtin) = self.builtin_name(host, object.class) else { return Vec::new() };
        if let Some(frame) = self.frame_of(host, heap, object) {
            let locals = self.locals(host, frame).unwrap_or_default().into_iter();
            return locals.map(|local| (local.name, local.at)).collect();
        }
        if &*builtin == "function" {
            let [code, _] = objects.function;
            let [globals, defaults, keywords, closure] =
                if heap.layout.minor <= 9 { [24, 32, 40, 48] } else { [16, 56, 64, 72] };
            let fields = [
                ("__code__", code),
                ("__globals__", globals),
                ("__defaults__", defaults),
                ("__kwdefaults__", keywords),
                ("__closure__", closure),
            ];
            return fields.iter().filter_map(set).collect();
        }
        if &*builtin == "code" {
            let code = &heap.layout.code;
            let [consts, names] = if heap.layout.minor <= 10 { [56, 64] } else { [24, 32] };
            let fields = [
                ("co_consts", consts),
                ("co_names", names),
                ("co_filename", code.filename),
                ("co_name", code.name),
            ];
            return fields.iter().filter_map(set).collect();
        }
        let Some(native) = self.native(host, object.class) else { return Vec::new() };
        let known = FIELDS.iter().find(|(name, _)| *name == &*native.name);
        known.into_iter().flat_map(|(_, fields)| *fields).filter_map(set).collect()
    }

    /// What the namespace of a module or a type holds.
    pub(super) fn namespace<'a>(
        &self,
        host: &dyn Host,
        heap: &Heap<'a>,
        object: Object,
    ) -> Option<Entries<'a>> {
        Entries::of(heap, self.namespace_dict(host, heap, object)?)
    }

    /// The dict that is the namespace of a module or a type.
    pub(super) fn namespace_dict(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Option<Object> {
        let offset = match object.is(TYPE) {
            true => heap.layout.types.dict,
            false => {
                let builtin = self.builtin_name(host, object.class)?;
                (&*builtin == "module").then_some(MODULE_DICT)?
            }
        };
        heap.field_of(object.at, offset, DICT)
    }
}
