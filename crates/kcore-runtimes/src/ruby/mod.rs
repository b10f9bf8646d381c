//! Ruby: MRI 2.7 to 3.4, on x86-64.
//!
//! Facts come from ruby/ruby (the files are named where they are used), by compiling the headers of each version. Those
//! of 2.7, 3.1 and 3.3 were held against processes. No symbol is needed: a process is found by the context that each of
//! its threads has, and names of methods by the table of symbols in its data. What is damaged or was not dumped
//! costs what it holds, and nothing else.

mod classes;
mod code;
mod collections;
mod decode;
mod frame;
mod heap;
mod layout;
mod lines;
mod plumbing;
mod probe;
mod shapes;
mod tags;
mod text;
mod version;
mod vm;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

pub use code::{Code, CodeKind};
use decode::Decoder;
pub use frame::{Chain, Group, RubyFrame};
use heap::Heap;
use layout::{Layout, VariableKind};
pub use probe::{NAME, PROBE};
pub use vm::{Context, RubyThread, ThreadState, Threads};

use crate::{Host, Identity, NativeStack, Runtime, Span, ThreadFacts};

/// MRI in a process.
pub struct Ruby {
    identity: Identity,
    layout: &'static Layout,
    /// From the lowest to the highest address of its module.
    module: AddrRange,
    /// `rb_vm_t`.
    vm: Addr,
    /// The array that has the names of identifiers.
    names: Option<Addr>,
    /// The nodes of the tree of shapes.
    shapes: Option<Addr>,
    /// The word that hides addresses in buffers of `setjmp`.
    guard: Option<u64>,
    /// Where jumps to `rb_vm_exec` go on.
    resumes: OnceLock<Option<Addr>>,
    threads: OnceLock<Threads>,
    /// What lies where frames have their code: threads share methods.
    codes: RwLock<FxHashMap<Addr, Option<Arc<Code>>>>,
}

impl Ruby {
    fn new(identity: Identity, layout: &'static Layout, module: AddrRange, vm: Addr) -> Self {
        Self {
            identity,
            layout,
            module,
            vm,
            names: None,
            shapes: None,
            guard: None,
            resumes: OnceLock::new(),
            threads: OnceLock::new(),
            codes: RwLock::default(),
        }
    }

    /// The same one, which says what it cannot decode.
    fn with_gaps(mut self) -> Self {
        if self.names.is_none() {
            self.identity.undecoded.push(
                "names of methods in C and of variables: the table of symbols is not found".into(),
            );
        }
        if matches!(self.layout.variables, VariableKind::Shapes(_)) && self.shapes.is_none() {
            self.identity
                .undecoded
                .push("variables of objects: the tree of shapes is not found".into());
        }
        self
    }

    fn heap<'a>(&'a self, host: &'a dyn Host) -> Heap<'a> {
        Heap { space: host.space(), layout: self.layout, names: self.names, shapes: self.shapes }
    }

    /// The threads of the program. They are looked for once.
    pub fn threads(&self, host: &dyn Host) -> &Threads {
        self.threads.get_or_init(|| self.heap(host).threads(host, self.vm))
    }

    /// The frames of a native thread, and why there are none where its stack cannot be read.
    pub fn chain_of(&self, host: &dyn Host, tid: Tid) -> Option<Chain> {
        let heap = self.heap(host);
        let context = heap.context(self.threads(host).of(tid)?.context)?;
        Some(self.chain(&heap, &context))
    }

    /// The code at an address.
    fn code(&self, heap: &Heap<'_>, at: Addr) -> Option<Arc<Code>> {
        if let Some(known) = self.codes.read().unwrap_or_else(PoisonError::into_inner).get(&at) {
            return known.clone();
        }
        let code = heap.code(at).map(Arc::new);
        self.codes.write().unwrap_or_else(PoisonError::into_inner).insert(at, code.clone());
        code
    }
}

impl Runtime for Ruby {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        Decoder { ruby: self, host }.spans(stack)
    }

    /// Threads begin and end, and code may lie where other code did.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        let (identity, layout) = (self.identity.clone(), self.layout);
        let (names, shapes, guard) = (self.names, self.shapes, self.guard);
        let resumes = self.resumes.clone();
        let later = Self::new(identity, layout, self.module, self.vm);
        Some(Arc::new(Self { names, shapes, guard, resumes, ..later }))
    }

    /// Control frames lie in memory of their own.
    fn needs_its_instant(&self) -> bool {
        true
    }

    fn thread(&self, host: &dyn Host, thread: Tid) -> Option<ThreadFacts> {
        let thread = self.threads(host).of(thread)?;
        let state = match (thread.holds_gvl, thread.waits_for_gvl, thread.state) {
            (true, ..) => Some("holds the GVL"),
            (_, true, _) => Some("waits for the GVL"),
            (.., ThreadState::StoppedForever) => Some("waits forever"),
            (.., ThreadState::Stopped) => Some("waits"),
            (.., ThreadState::Killed) => Some("ended"),
            (.., ThreadState::Runnable) => None,
        };
        Some(ThreadFacts { name: thread.name.clone(), state: state.map(Arc::from) })
    }
}
