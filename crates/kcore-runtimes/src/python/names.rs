//! What Python calls its threads: `Lib/threading.py` keeps them in `_active`, by their idents.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Python,
    dict::Entries,
    heap::{DICT, Heap, Object, STR},
    interpreter::ThreadState,
};
use crate::Host;

/// The names of threads, by the index of their interpreter and their ident.
pub type ThreadNames = FxHashMap<(usize, u64), Arc<str>>;

/// Where a thread keeps its name.
const NAME: &str = "_name";

impl Python {
    /// The name of a thread, as `threading` has it.
    pub fn thread_name(&self, host: &dyn Host, thread: &ThreadState) -> Option<Arc<str>> {
        let names = self.thread_names.get_or_init(|| self.read_thread_names(host));
        names.get(&(thread.interpreter, thread.ident)).cloned()
    }

    /// The names of the threads that have states, by interpreter and ident.
    fn read_thread_names(&self, host: &dyn Host) -> ThreadNames {
        let (heap, state) = (self.heap(host), self.state(host));
        let known: FxHashSet<(usize, u64)> =
            state.threads.iter().map(|thread| (thread.interpreter, thread.ident)).collect();
        let mut names = ThreadNames::default();
        for (index, interpreter) in state.interpreters.iter().enumerate() {
            let active = self.module_variable(&heap, interpreter.at, "threading", "_active");
            for entry in active.and_then(|active| Entries::of(&heap, active)).into_iter().flatten()
            {
                let ident = heap.object(entry.key).and_then(|key| heap.small_int(key));
                let thread = ident.and_then(|ident| Some((index, u64::try_from(ident).ok()?)));
                let name = || {
                    let name = self.attribute(&heap, heap.object(entry.value)?, NAME)?;
                    name.is(STR).then(|| heap.name(name))?
                };
                let thread = thread.filter(|thread| known.contains(thread));
                if let Some((thread, name)) = thread.and_then(|thread| Some((thread, name()?))) {
                    names.entry(thread).or_insert_with(|| Arc::from(name));
                }
            }
        }
        names
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
