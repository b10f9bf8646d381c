//! What a thread of Node.js is for, and what it does.
//!
//! Told by the functions that begin its stack: `src/node_platform.cc`, `src/node_worker.cc`,
//! `src/inspector_agent.cc`, `deps/uv/src/threadpool.c`. Where those have no names only threads that run
//! JavaScript are known.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::{Frame, Tid};

use super::{Heap, Tagged, V8, decode::Decoder};
use crate::{Host, ThreadFacts};

/// Functions that begin threads, by how their name begins, and what their threads are called.
const BEGINNINGS: [(&str, &str); 9] = [
    ("node::worker::Worker::", WORKER),
    ("node::(anonymous namespace)::PlatformWorkerThread", "V8 platform worker"),
    ("node::WorkerThreadsTaskRunner::DelayedTaskScheduler::", "V8 delayed tasks"),
    ("node::inspector::(anonymous namespace)::StartIoThreadMain", "inspector signals"),
    ("node::inspector::InspectorIo::", "inspector"),
    ("node::Watchdog::", "watchdog"),
    ("node::SigintWatchdogHelper::", "interrupt watchdog"),
    ("node::tracing::", "tracing"),
    ("worker", "libuv pool"),
];
const WORKER: &str = "worker";
/// The function in which a loop waits for events.
const LOOP: [&str; 1] = ["uv__io_poll"];
/// Functions in which a thread of a pool waits for work.
const IDLE: [&str; 2] = ["uv_cond_wait", "uv_sem_wait"];
/// Frames from the outermost one on that may begin a thread: the C library's lie outside of them.
const OUTERMOST: usize = 8;
/// Words of them in which a worker is searched.
const MAX_WORDS: u64 = 1024;

impl V8 {
    /// What a thread is for and does; `None` of one that is not Node.js's.
    pub fn thread_facts(&self, host: &dyn Host, tid: Tid) -> Option<ThreadFacts> {
        let frames = host.frames(tid);
        let heap = self.decodable(host)?;
        let seen = Decoder { v8: self, host, heap }.frames(&frames);
        let runs = !seen.is_empty();
        let outermost = frames.len().saturating_sub(OUTERMOST);
        // V8's own code has no names worth the search, and where it runs the rest tells no more.
        let functions: Vec<Option<Arc<str>>> = (0..)
            .zip(&frames)
            .map(|(at, frame)| {
                let is_asked = !runs || at >= outermost && !seen.iter().any(|it| it.index == at);
                is_asked.then(|| host.function_at(frame.pc))?
            })
            .collect();
        let named = functions.iter().enumerate().skip(outermost);
        let mut begins =
            named.filter_map(|(at, function)| Some((at, thread_of(function.as_ref()?)?)));
        let begun = begins.next();
        let name: String = match begun {
            Some((at, WORKER)) => worker_name(&heap, frames.get(at..)?),
            Some((_, name)) => name.to_owned(),
            None if host.main_thread() == Some(tid) => "main".to_owned(),
            None if runs => WORKER.to_owned(),
            None => return None,
        };
        let state = state(&functions, runs).map(Arc::from);
        Some(ThreadFacts { name: Some(name.into()), state })
    }
}

fn thread_of(function: &str) -> Option<&'static str> {
    let fits = |begin: &str| match begin {
        // A function of C, which has no more to its name.
        "worker" => function == begin,
        _ => function.starts_with(begin),
    };
    BEGINNINGS.iter().find_map(|(begin, name)| fits(begin).then_some(*name))
}

fn state(functions: &[Option<Arc<str>>], runs: bool) -> Option<&'static str> {
    let is_in = |names: &[&str]| functions.iter().flatten().any(|name| names.contains(&&**name));
    match () {
        () if runs => Some("in JavaScript"),
        () if is_in(&LOOP) => Some("waits for events"),
        () if is_in(&IDLE) => Some("idle"),
        () => None,
    }
}

/// The name of a worker by its number, which its object for JavaScript has. The object of C++ keeps
/// that behind its table of functions: `BaseObject` in `src/base_object.h`.
fn worker_name(heap: &Heap<'_>, frames: &[Frame]) -> String {
    let numbered = || {
        let start = frames.first()?.sp?;
        let end = frames.last()?.cfa.or(frames.last()?.sp)?;
        let words = end.offset_from(start)?.checked_div(8)?.min(MAX_WORDS);
        let mut words = (0..words).filter_map(|index| heap.word(start, index.checked_mul(8)?));
        words.find_map(|word| thread_id(heap, word))
    };
    numbered().map_or_else(|| WORKER.to_owned(), |id| format!("{WORKER} {id}"))
}

/// The number of the worker whose object of C++ lies at an address.
fn thread_id(heap: &Heap<'_>, object: u64) -> Option<i32> {
    object.is_multiple_of(8).then_some(())?;
    let handle = heap.word(Addr::new(object), 8).filter(|handle| handle.is_multiple_of(8))?;
    let object = heap.object(Tagged::of(heap.word(Addr::new(handle), 0)?))?;
    heap.is_receiver(object).then_some(())?;
    heap.property(object, "threadId")?.value.smi()
}
