//! What Python calls its threads: `Lib/threading.py` keeps them in `_active`, by their idents.

use std::sync::Arc;

use super::{
    Python,
    dict::Entries,
    heap::{DICT, Heap, Object, STR},
    interpreter::ThreadState,
};
use crate::Host;

/// Where a thread keeps its name.
const NAME: &str = "_name";

impl Python {
    /// The name of a thread, as `threading` has it.
    pub fn thread_name(&self, host: &dyn Host, thread: &ThreadState) -> Option<Arc<str>> {
        let heap = self.heap(host);
        let interpreter = self.state(host).interpreters.get(thread.interpreter)?;
        let active = self.module_variable(&heap, interpreter.at, "threading", "_active")?;
        let mut entries = Entries::of(&heap, active)?;
        let found = entries.find(|entry| {
            let ident = heap.object(entry.key).and_then(|key| heap.small_int(key));
            ident.and_then(|ident| u64::try_from(ident).ok()) == Some(thread.ident)
        })?;
        let name = self.attribute(&heap, heap.object(found.value)?, NAME)?;
        name.is(STR).then(|| heap.name(name))?.map(Arc::from)
    }

    /// The dict of a module, by its name in `sys.modules`.
    pub(super) fn module_dict(
        &self,
        heap: &Heap<'_>,
        interpreter: kcore_mem::Addr,
        module: &str,
    ) -> Option<Object> {
        let modules = heap.field_of(interpreter, heap.layout.interpreter.modules, DICT)?;
        // `md_dict`, `Objects/moduleobject.c`.
        heap.field_of(heap.lookup(modules, module)?.at, 16, DICT)
    }

    /// A variable of a module.
    pub(super) fn module_variable(
        &self,
        heap: &Heap<'_>,
        interpreter: kcore_mem::Addr,
        module: &str,
        variable: &str,
    ) -> Option<Object> {
        heap.lookup(self.module_dict(heap, interpreter, module)?, variable)
    }

    /// An attribute that an instance keeps itself.
    pub(super) fn attribute(&self, heap: &Heap<'_>, object: Object, name: &str) -> Option<Object> {
        let mut attributes = self.attributes(heap, object).into_iter();
        heap.object(attributes.find(|(own, _)| &**own == name)?.1)
    }
}
