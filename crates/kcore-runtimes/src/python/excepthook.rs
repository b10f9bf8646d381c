//! `sys.excepthook`, which is called with an exception that nobody caught.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Code, Python,
    exceptions::Raised,
    heap::{DICT, Heap, Object},
    interpreter::ThreadState,
};
use crate::Host;

/// Callables that call each other, at most.
const MAX_CALLS: usize = 4;
/// `im_func` of a `method`, `Include/cpython/classobject.h`; `fn` of a `functools.partial`, `Modules/_functoolsmodule.c`.
const CALLED: u64 = 16;

impl Python {
    /// Whether a thread is in `sys.excepthook`. That `sys` keeps an exception does not say so: it keeps one as well that
    /// was told of long ago, and that the program survived.
    pub(super) fn is_in_excepthook(
        &self,
        host: &dyn Host,
        thread: &ThreadState,
        sys: Object,
        last: Raised,
    ) -> bool {
        let heap = self.heap(host);
        let hook = heap.lookup(sys, "excepthook");
        let hook = hook.and_then(|hook| self.code_that_is_called(host, &heap, hook));
        let chain = self.chain(&heap, thread);
        // What calls it is C code.
        let mut entered = chain.groups.iter().filter_map(|group| group.frames.last());
        entered.any(|frame| {
            Some(&frame.code) == hook.as_ref()
                || self.is_called_with(host, &frame.code, frame.at, last)
        })
    }

    /// Whether the arguments of a frame are those of the hook: a class, its exception, and more. A hook may have
    /// put back the one before it as its first deed.
    fn is_called_with(&self, host: &dyn Host, code: &Code, frame: Addr, last: Raised) -> bool {
        let locals = self.locals(host, frame).unwrap_or_default();
        match locals.as_slice() {
            [class, exception, ..] => {
                code.is_optimized()
                    && code.arguments >= 2
                    && class.at == last.class
                    && Some(exception.at) == last.value
            }
            _ => false,
        }
    }

    /// The code that runs when an object is called: a function, a method of an object, an object whose class can be
    /// called.
    fn code_that_is_called(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        callable: Object,
    ) -> Option<Arc<Code>> {
        let mut callable = callable;
        for _ in 0..MAX_CALLS {
            let class = self.builtin_name(host, callable.class);
            callable = match class.as_deref() {
                Some("function") => {
                    let [code, _] = heap.layout.objects.function;
                    return self.code(heap, heap.pointer(callable.at, code)?);
                }
                Some("method" | "partial") => heap.field(callable.at, CALLED)?,
                _ => {
                    let dict = heap.field_of(callable.class, heap.layout.types.dict, DICT)?;
                    heap.lookup(dict, "__call__")?
                }
            };
        }
        None
    }
}
