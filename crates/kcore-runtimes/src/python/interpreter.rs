//! Interpreters and their threads: `Include/internal/pycore_interp.h`, `Include/cpython/pystate.h`.

use kcore_mem::Addr;
use kcore_unwind::{RegisterId, Tid};

use super::{
    Python,
    heap::{DICT, Heap},
};
use crate::Host;

/// Interpreters of a process, and thread states of an interpreter, at most.
const MAX_INTERPRETERS: usize = 4096;
const MAX_THREADS: usize = 100_000;
/// `struct _gil_runtime_state`, `Include/internal/pycore_gil.h`: the thread state that took it last, and
/// whether it is taken, `int`.
const GIL_HOLDER: u64 = 8;
const GIL_LOCKED: u64 = 16;
/// Its size at most: two conditions and two mutexes.
const GIL_SIZE: u64 = 256;
/// `rdi`, in which a system call on x86-64 has its first argument.
const FIRST_ARGUMENT: RegisterId = RegisterId(5);

/// Functions of the collector, which are there for as long as it is: `Modules/gcmodule.c`, `Python/gc.c` since
/// 3.13. What begins so goes on in the names of versions.
const COLLECTOR: [&str; 5] =
    ["collect", "gc_collect", "PyGC_Collect", "_PyGC_Collect", "_Py_RunGC"];

/// Whether a function is called so, or begins so and goes on with a word; compilers put theirs behind a dot.
fn is_named(name: &str, begin: &str) -> bool {
    let rest = name.strip_prefix(begin);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.', 'N']))
}

/// An interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// Where it lies.
    pub at: Addr,
    /// Its number; the main one's is 0.
    pub id: u64,
    /// The state of the lock of its threads.
    gil: Option<Addr>,
}

/// A thread of an interpreter. A native thread may have one in each of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    /// Where it lies.
    pub at: Addr,
    /// Index of its interpreter.
    pub interpreter: usize,
    /// `threading.get_ident()`.
    pub ident: u64,
    /// The native thread, if there is one: else it ended, or was left behind by `fork`.
    pub tid: Option<Tid>,
    /// Whether it holds the lock.
    pub holds_gil: bool,
    /// Whether a thread of its interpreter is in the collector, be it this one or another: what is called there,
    /// a finalizer for one, may leave the lock to others.
    pub may_collect: bool,
}

/// What a process has of both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The interpreters, the newest first.
    pub interpreters: Vec<Interpreter>,
    /// The threads of all of them, those of each newest first.
    pub threads: Vec<ThreadState>,
}

/// Whether a word is the address of an interpreter: the first of its threads knows it, and its dicts are
/// dicts.
pub fn is_interpreter(heap: &Heap<'_>, at: Addr) -> bool {
    let (offsets, threads) = (&heap.layout.interpreter, &heap.layout.thread);
    let is_dict = |offset| heap.field_of(at, offset, DICT).is_some();
    let knows = || {
        let thread = heap.pointer(at, offsets.threads)?;
        let back = heap.pointer(thread, threads.interpreter)? == at;
        (back && heap.word(thread, threads.prev)? == 0).then_some(())
    };
    knows().is_some()
        && is_dict(offsets.modules)
        && is_dict(offsets.sysdict)
        && is_dict(offsets.builtins)
}

impl Python {
    /// The interpreters and threads of the process.
    pub fn state(&self, host: &dyn Host) -> &State {
        self.state.get_or_init(|| self.read_state(host))
    }

    fn read_state(&self, host: &dyn Host) -> State {
        let heap = self.heap(host);
        let mut state = State::default();
        let mut next = Some(self.main);
        let by_pointer: Vec<(Tid, Option<Addr>)> =
            host.threads().into_iter().map(|tid| (tid, host.thread_pointer(tid))).collect();
        while let Some(at) = next.filter(|_| state.interpreters.len() < MAX_INTERPRETERS) {
            let index = state.interpreters.len();
            let id = heap.word(at, heap.layout.interpreter.id).unwrap_or_default();
            let interpreter = Interpreter { at, id, gil: self.gil(&heap, at) };
            state.threads.extend(threads(&heap, &interpreter, index, &by_pointer));
            state.interpreters.push(interpreter);
            next = heap.pointer(at, heap.layout.interpreter.next).filter(|next| *next != at);
        }
        self.find_runners(host, &mut state);
        let collecting = |index: usize| {
            state.interpreters.get(index).is_some_and(|it| self.is_collecting(&heap, it.at))
        };
        let collecting: Vec<bool> = (0..state.interpreters.len()).map(collecting).collect();
        for thread in &mut state.threads {
            thread.may_collect = collecting.get(thread.interpreter).copied().unwrap_or_default();
        }
        state
    }

    fn gil(&self, heap: &Heap<'_>, interpreter: Addr) -> Option<Addr> {
        match (heap.layout.runtime.gil, heap.layout.interpreter.gil) {
            (Some(gil), _) => self.runtime?.checked_add(gil),
            (None, gil) => heap.pointer(interpreter, gil?),
        }
    }

    /// Whether a thread waits for the lock: it was stopped in a call for a futex that is a part of the
    /// lock's state, which the first argument says.
    pub(super) fn waits_for_gil(&self, host: &dyn Host, thread: &ThreadState) -> bool {
        let registers = thread.tid.and_then(|tid| host.registers(tid));
        let futex = registers.and_then(|registers| registers.get(FIRST_ARGUMENT));
        futex.is_some_and(|futex| self.gil_holding(host, thread, Addr::new(futex)).is_some())
    }

    /// The state of the lock of a thread's interpreter, if `at` is a part of it.
    pub(super) fn gil_holding(
        &self,
        host: &dyn Host,
        thread: &ThreadState,
        at: Addr,
    ) -> Option<Addr> {
        let gil = self.state(host).interpreters.get(thread.interpreter)?.gil?;
        let inside = at.get().checked_sub(gil.get())?;
        (inside < GIL_SIZE).then_some(gil)
    }

    /// Whether the collector is on a thread's stack, as far as its functions have names.
    pub(super) fn is_in_collector(&self, host: &dyn Host, tid: Tid) -> bool {
        let is_own =
            |at| host.module_at(at).is_some_and(|it| it.name() == &*self.identity.instance);
        let own = host.frames(tid).into_iter().filter(|frame| is_own(frame.pc.lookup()));
        let mut names = own.filter_map(|frame| host.function_at(frame.pc));
        names.any(|name| COLLECTOR.iter().any(|begin| is_named(&name, begin)))
    }

    /// Whether functions of the collector have names: those of stripped builds have none.
    pub(super) fn names_collector(&self, host: &dyn Host) -> bool {
        let modules = host.modules();
        let own = modules.iter().find(|module| module.name() == &*self.identity.instance);
        let is_known =
            |name: &&str| own.is_some_and(|it| it.symbols().table().lookup(name).is_some());
        ["collect", "gc_collect_main"].iter().any(is_known)
    }

    fn is_collecting(&self, heap: &Heap<'_>, interpreter: Addr) -> bool {
        let flag = match (heap.layout.interpreter.collecting, heap.layout.runtime.collecting) {
            (Some(offset), _) => heap.int(interpreter, offset),
            (None, offset) => {
                self.runtime.zip(offset).and_then(|(runtime, offset)| heap.int(runtime, offset))
            }
        };
        flag.is_some_and(|flag| flag != 0)
    }
}

/// The thread states of an interpreter.
fn threads(
    heap: &Heap<'_>,
    interpreter: &Interpreter,
    index: usize,
    native: &[(Tid, Option<Addr>)],
) -> Vec<ThreadState> {
    let offsets = &heap.layout.thread;
    let holder = interpreter.gil.and_then(|gil| {
        (heap.int(gil, GIL_LOCKED)? == 1).then(|| heap.pointer(gil, GIL_HOLDER))?
    });
    let mut found = Vec::new();
    let mut next = heap.pointer(interpreter.at, heap.layout.interpreter.threads);
    while let Some(at) = next.filter(|_| found.len() < MAX_THREADS) {
        if heap.pointer(at, offsets.interpreter) != Some(interpreter.at) {
            break;
        }
        let ident = heap.word(at, offsets.thread_id).unwrap_or_default();
        let number = offsets.native_id.and_then(|offset| heap.word(at, offset));
        found.push(ThreadState {
            at,
            interpreter: index,
            ident,
            tid: native_thread(native, ident, number),
            holds_gil: holder == Some(at),
            may_collect: false,
        });
        next = heap.pointer(at, offsets.next).filter(|next| *next != at);
    }
    found
}

/// The native thread: a `pthread_t` is the thread pointer of its thread on x86-64. The LWP that Python keeps
/// is one of its own namespace of processes, and counts where no thread pointer is known.
fn native_thread(native: &[(Tid, Option<Addr>)], ident: u64, number: Option<u64>) -> Option<Tid> {
    let by_pointer = native.iter().find(|(_, pointer)| *pointer == Some(Addr::new(ident)));
    let by_number = || {
        let is_it = |tid: Tid| Some(u64::from(tid.get())) == number;
        native.iter().find(|(tid, pointer)| pointer.is_none() && is_it(*tid))
    };
    by_pointer.or_else(by_number).map(|(tid, _)| *tid)
}
