//! The runs of trio, one a thread at most: `GLOBAL_RUN_CONTEXT` of `trio/_core/_run.py`, a `threading.local`.

use super::super::{
    Python,
    dict::Entries,
    heap::{DICT, Heap, Object},
};
use crate::Host;

/// The module that says which run a thread is in, the variable, and the attribute that each thread has of it.
const MODULE: &str = "trio._core._run";
const CONTEXT: &str = "GLOBAL_RUN_CONTEXT";
const RUNNER: &str = "runner";
/// The header of an object, and bytes of a `threading.local`, at most: `localobject` of `Modules/_threadmodule.c`.
const HEADER: u64 = 16;
const MAX_LOCAL: u64 = 256;
/// The file whose code runs tasks, and how many threads are looked at for it.
const RUN: &str = "/trio/_core/_run.py";
const MAX_LOOKED_AT: usize = 16;
/// Threads that have attributes of one, at most.
const MAX_THREADS: usize = 1 << 16;

/// The runs of a process.
#[derive(Default)]
pub struct Runs {
    /// The objects of class `Runner`.
    pub runners: Vec<Object>,
    /// How many interpreters have trio whose runs cannot be read.
    pub unread: u64,
}

/// Whether a process has one, or may have one that cannot be read.
pub fn are_there(python: &Python, host: &dyn Host) -> bool {
    let runs = all(python, host);
    !runs.runners.is_empty() || runs.unread > 0
}

/// All of them.
pub fn all(python: &Python, host: &dyn Host) -> Runs {
    let heap = python.heap(host);
    let mut found = Runs::default();
    for interpreter in &python.state(host).interpreters {
        let modules = heap.field_of(interpreter.at, heap.layout.interpreter.modules, DICT);
        if modules.is_none_or(|modules| heap.lookup(modules, MODULE).is_none()) {
            continue;
        }
        let module = python.module_dict(&heap, interpreter.at, MODULE);
        let context = module.and_then(|module| heap.lookup(module, CONTEXT));
        match context {
            Some(context) => found.runners.extend(of_threads(&heap, context)),
            None => found.unread = found.unread.saturating_add(1),
        }
    }
    if found.runners.is_empty() && found.unread == 0 && runs_in_a_thread(python, host, &heap) {
        found.unread = 1;
    }
    found.runners.sort_unstable_by_key(|runner| runner.at);
    found.runners.dedup();
    found
}

/// Whether a thread is in a run of trio, whatever can be read of that.
fn runs_in_a_thread(python: &Python, host: &dyn Host, heap: &Heap<'_>) -> bool {
    python.state(host).threads.iter().take(MAX_LOOKED_AT).any(|thread| {
        let groups = python.chain(heap, thread).groups;
        groups.iter().flat_map(|group| &group.frames).any(|frame| frame.code.file.ends_with(RUN))
    })
}

/// The runs that threads are in. A `threading.local` points to a dict that has the attributes of each thread. The offset of
/// that pointer differs between versions of CPython, so every word of the object is tried.
fn of_threads(heap: &Heap<'_>, context: Object) -> Vec<Object> {
    let size = heap.word(context.class, heap.layout.types.basic_size).unwrap_or_default();
    let words = (HEADER..size.min(MAX_LOCAL)).step_by(8);
    let dicts = words.filter_map(|offset| heap.field_of(context.at, offset, DICT));
    let entries = dicts.filter_map(|dict| Entries::of(heap, dict)).flatten().take(MAX_THREADS);
    let attributes = entries.filter_map(|entry| heap.object(entry.value).filter(|it| it.is(DICT)));
    attributes.filter_map(|attributes| heap.lookup(attributes, RUNNER)).collect()
}
