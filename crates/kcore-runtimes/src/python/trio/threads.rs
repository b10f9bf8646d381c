//! Threads that run a task, or a function that a task waits for.

use kcore_mem::Addr;
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::super::{Python, frame::PyFrame};
use crate::Host;

/// Files with the functions that run in a thread for a task.
const WORKERS: [&str; 2] = ["trio/_threads.py", "trio/_core/_thread_cache.py"];

/// What threads execute, as far as it is of a run.
#[derive(Default)]
pub struct Threads {
    frames: FxHashMap<Addr, Tid>,
    functions: FxHashMap<Addr, Tid>,
}

impl Threads {
    /// Those of a process.
    pub fn of(python: &Python, host: &dyn Host) -> Self {
        let mut found = Self::default();
        let heap = python.heap(host);
        for thread in &python.state(host).threads {
            let Some(tid) = thread.tid else { continue };
            let groups = python.chain(&heap, thread).groups;
            for frame in groups.iter().flat_map(|group| &group.frames) {
                found.frames.insert(frame.at, tid);
                if is_of(frame, &WORKERS) {
                    let functions = functions(python, host, frame);
                    found.functions.extend(functions.into_iter().map(|function| (function, tid)));
                }
            }
        }
        found
    }

    /// The thread that executes the frame at an address.
    pub fn executing(&self, frame: Addr) -> Option<Tid> {
        self.frames.get(&frame).copied()
    }

    /// The worker thread of a task. `frame` is the task's call of `to_thread_run_sync`, which shares a closure with the
    /// worker.
    pub fn working_for(&self, python: &Python, host: &dyn Host, frame: &PyFrame) -> Option<Tid> {
        functions(python, host, frame).into_iter().find_map(|it| self.functions.get(&it).copied())
    }
}

/// The closures of trio among the variables of a frame. Trio makes them anew for each call, so they identify it; many calls
/// may run the same function of the program.
fn functions(python: &Python, host: &dyn Host, frame: &PyFrame) -> Vec<Addr> {
    let heap = python.heap(host);
    let is_one = |at: &Addr| {
        let function = heap.object(*at).filter(|it| {
            let class = python.class_name(host, it.class);
            class.is_some_and(|class| &*class == "function")
        });
        let code = function.and_then(|function| python.function_code(&heap, function));
        code.is_some_and(|code| WORKERS.iter().any(|file| code.file.ends_with(file)))
    };
    let locals = python.locals(host, frame.at).unwrap_or_default();
    locals.iter().map(|local| local.at).filter(is_one).collect()
}

/// Whether a frame is of one of these files.
pub fn is_of(frame: &PyFrame, files: &[&str]) -> bool {
    files.iter().any(|file| frame.code.file.ends_with(file))
}
