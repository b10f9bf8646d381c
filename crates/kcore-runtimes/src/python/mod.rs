//! CPython, 3.8 to 3.15.
//!
//! Facts come from CPython's sources (the files are named where they are used), from the table for debuggers that
//! a process has since 3.13, and from debug information; they were held against cores of each version. Objects
//! are told by the flags of their types, which are in every core, and not by names, which lie in constant
//! memory. What is damaged or was not dumped costs what it holds, and nothing else.

mod activations;
mod attributes;
mod census;
mod classes;
mod code;
mod coroutine;
mod decode;
mod dict;
mod errors;
mod excepthook;
mod exception_table;
mod exceptions;
mod fields;
mod frame;
pub mod greenlet;
mod heap;
mod innermost;
mod inside;
mod instance;
mod interpreter;
mod layout;
mod lines;
mod locals;
mod lock;
mod named_tuple;
mod names;
mod native;
mod objects;
mod plumbing;
mod probe;
mod referrers;
mod roots;
pub mod script_tree;
mod search;
mod stack_object;
mod tasks;
mod text;
pub mod trio;
pub mod value;
mod variables;
mod version;
mod with_blocks;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

pub use code::Code;
use decode::Decoder;
use heap::Heap;
use layout::Layout;
use names::ThreadNames;
use version::Version;
use with_blocks::OpenWith;

use crate::{
    DyingStack, Ending, FrameOfLanguage, Host, Identity, LanguageLock, NativeStack, Runtime,
    ScriptVariables, Sleeper, Span, ThreadFacts, VariableLimits, graph::GraphCell,
    objects::Objects,
};

pub use census::{Census, Group as ObjectGroup};
pub use coroutine::{Awaiting, CoroutineState};
pub use exceptions::{Exceptions, Raised, TraceLine};
pub use frame::{Chain, Group, PyFrame};
pub use interpreter::{Interpreter, State, ThreadState};
pub use locals::Local;
pub use probe::{NAME, PROBE};
pub use roots::{
    EXCEPTION, FRAME, INTERPRETER, MODULE, OPERAND, REGISTER, STACK, STATIC, TYPE, VARIABLE,
};
pub use tasks::{NoTasks, PyTask, PyTasks};
pub use text::Text;
pub use variables::BUILTINS;

/// How much of values is wanted in a snapshot: what stands on a line.
const ON_A_LINE: value::Limits = value::Limits { depth: 2, entries: 16, characters: 256 };

/// CPython in a process.
pub struct Python {
    identity: Identity,
    layout: Layout,
    /// From the lowest to the highest address of its module.
    module: AddrRange,
    /// `_PyRuntime`.
    runtime: Option<Addr>,
    /// The first of its interpreters.
    main: Addr,
    state: OnceLock<State>,
    /// What lies where frames have their code: threads share functions.
    codes: RwLock<FxHashMap<Addr, Option<Arc<Code>>>>,
    /// What types are called: many objects are of few types.
    class_names: RwLock<FxHashMap<Addr, Option<Arc<str>>>>,
    static_names: OnceLock<FxHashMap<Addr, Arc<str>>>,
    thread_names: OnceLock<ThreadNames>,
    census: OnceLock<Arc<Census>>,
    graph: GraphCell,
    open_withs: OnceLock<Vec<OpenWith>>,
}

impl Python {
    fn new(
        identity: Identity,
        layout: Layout,
        module: AddrRange,
        runtime: Option<Addr>,
        main: Addr,
    ) -> Self {
        Self {
            identity,
            layout,
            module,
            runtime,
            main,
            state: OnceLock::new(),
            codes: RwLock::default(),
            class_names: RwLock::default(),
            static_names: OnceLock::new(),
            thread_names: OnceLock::new(),
            census: OnceLock::new(),
            graph: GraphCell::default(),
            open_withs: OnceLock::new(),
        }
    }

    /// The same one, without what it learnt.
    fn again(&self) -> Self {
        let (identity, layout) = (self.identity.clone(), self.layout.clone());
        Self::new(identity, layout, self.module, self.runtime, self.main)
    }

    fn heap<'a>(&'a self, host: &'a dyn Host) -> Heap<'a> {
        Heap { space: host.space(), layout: &self.layout }
    }

    /// The code object at an address.
    fn code(&self, heap: &Heap<'_>, at: Addr) -> Option<Arc<Code>> {
        if let Some(known) = self.codes.read().unwrap_or_else(PoisonError::into_inner).get(&at) {
            return known.clone();
        }
        let code = Code::load(heap, at).map(Arc::new);
        self.codes.write().unwrap_or_else(PoisonError::into_inner).insert(at, code.clone());
        code
    }

    /// The frames of a native thread, those of each interpreter apart.
    pub fn chains(&self, host: &dyn Host, tid: Tid) -> Vec<Chain> {
        let heap = self.heap(host);
        self.thread_states(host, tid).map(|thread| self.chain(&heap, thread)).collect()
    }

    /// The thread states of a native thread, each of another interpreter.
    pub fn thread_states<'a>(
        &'a self,
        host: &dyn Host,
        tid: Tid,
    ) -> impl Iterator<Item = &'a ThreadState> + 'a {
        self.state(host).threads.iter().filter(move |thread| thread.tid == Some(tid))
    }
}

impl Runtime for Python {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        Decoder { python: self, host }.spans(stack)
    }

    /// Threads begin and end, and code may lie where other code did.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        Some(Arc::new(self.again()))
    }

    /// The thread state and frames of functions lie in the heap.
    fn needs_its_instant(&self) -> bool {
        true
    }

    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let held = self.held(host, at)?;
        let inside = match held.offset {
            0 => String::new(),
            offset => format!("+{offset:#x}"),
        };
        let class = self.class_name(host, held.object.class)?;
        Some(format!("{:x}{inside}, {class} of {} bytes", held.object.at.get(), held.size))
    }

    fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        let Some(tid) = dying.stack.thread else { return Vec::new() };
        let threads = self.thread_states(host, tid);
        threads.flat_map(|thread| self.endings(host, thread)).collect()
    }

    fn variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        self.variables_of(host, frame, limits)
    }

    fn lock(&self, host: &dyn Host, sleeper: Sleeper) -> Option<LanguageLock> {
        self.lock_of(host, sleeper)
    }

    fn objects(&self, _host: &dyn Host) -> Option<&dyn Objects> {
        Some(self)
    }

    fn thread(&self, host: &dyn Host, thread: Tid) -> Option<ThreadFacts> {
        let mut states = self.thread_states(host, thread).peekable();
        states.peek()?;
        let states: Vec<&ThreadState> = states.collect();
        let any = |is_so: &dyn Fn(&ThreadState) -> bool| states.iter().any(|state| is_so(state));
        let may_collect = any(&|state| state.may_collect);
        let collects = || may_collect && self.is_in_collector(host, thread);
        let word = match () {
            () if any(&|state| state.holds_gil) => Some(match () {
                () if collects() => "collects garbage",
                // It does that itself, as a rule.
                () if may_collect && !self.names_collector(host) => {
                    "holds the GIL while garbage is collected"
                }
                () => "holds the GIL",
            }),
            () if any(&|state| self.waits_for_gil(host, state)) => Some("waits for the GIL"),
            () => collects().then_some("collects garbage without the GIL"),
        };
        // Those of the main interpreter are the last: what others call a thread is their affair.
        let name = states.iter().rev().find_map(|state| self.thread_name(host, state));
        Some(ThreadFacts { name, state: word.map(Arc::from) })
    }

    fn follow_running(&self, host: &dyn Host) -> bool {
        let heap = self.heap(host);
        for thread in &self.state(host).threads {
            let frames =
                self.chain(&heap, thread).groups.into_iter().flat_map(|group| group.frames);
            for frame in frames.filter(|frame| frame.code.is_optimized()) {
                let locals = self.locals(host, frame.at).unwrap_or_default();
                locals.iter().for_each(|local| drop(self.value(host, local.at, ON_A_LINE)));
            }
            drop(self.exceptions(host, thread));
        }
        drop(self.py_tasks(host));
        drop(self.find_withs(host));
        true
    }
}
