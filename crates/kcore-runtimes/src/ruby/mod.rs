//! Ruby: MRI 2.7 to 3.4, on x86-64.
//!
//! Facts come from ruby/ruby (the files are named where they are used), by compiling the headers of each version. Those
//! of 2.7, 3.1, 3.3 and 3.4 were held against processes. No symbol is needed: a process is found by the context that each of
//! its threads has, and names of methods by the table of symbols in its data. What is damaged or was not dumped
//! costs what it holds, and nothing else.

mod built_in;
mod classes;
mod code;
mod collections;
mod constants;
mod decode;
mod encodings;
mod exceptions;
mod fiber;
mod frame;
mod heap;
mod layout;
mod lines;
mod locals;
mod numbers;
mod objects;
mod parked;
mod plumbing;
mod probe;
mod shapes;
mod slots;
mod step;
mod strings;
mod structs;
mod tags;
mod text;
mod value;
mod version;
mod vm;
mod waits;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Phase, Regs, RuleFrame, RuleStep, Tid};
use rustc_hash::FxHashMap;

pub use code::{Code, CodeKind};
use decode::Decoder;
pub use exceptions::Exception;
pub use fiber::{Fiber, FiberState, Fibers};
pub use frame::{Chain, Group, RubyFrame};
use heap::Heap;
use layout::{Layout, VariableKind};
pub use locals::Local;
pub use objects::{CLASSES, RECEIVER, STACK};
pub use probe::{NAME, PROBE};
use slots::Pages;
use version::Version;
pub use vm::{Context, RubyThread, ThreadState, Threads};

use crate::{
    Dialect, DyingStack, Ending, FrameKind, FrameOfLanguage, Host, Identity, NativeStack, Runtime,
    ScriptNode, ScriptVariable, ScriptVariables, Span, Task, ThreadFacts, VariableLimits,
    graph::GraphCell, objects::Objects,
};

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
    guard: OnceLock<Option<u64>>,
    /// Where jumps to `rb_vm_exec` go on, once it is known; and what was found at this instant.
    resumes: Arc<OnceLock<Addr>>,
    resumed: OnceLock<Option<Addr>>,
    threads: OnceLock<Threads>,
    fibers: OnceLock<Fibers>,
    pages: OnceLock<Pages>,
    constants: OnceLock<Option<u64>>,
    graph: GraphCell,
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
            guard: OnceLock::new(),
            resumes: Arc::default(),
            resumed: OnceLock::new(),
            threads: OnceLock::new(),
            fibers: OnceLock::new(),
            pages: OnceLock::new(),
            constants: OnceLock::new(),
            graph: GraphCell::default(),
            codes: RwLock::default(),
        }
    }

    /// That whose `rb_vm_t` lies at `vm`, of this major and minor version, in a module: for who knows where it lies, and
    /// perhaps the names of identifiers and the tree of shapes.
    ///
    /// # Errors
    /// In words, where the layouts of the version are not known.
    pub fn with_vm(
        (major, minor): (u8, u8),
        module: AddrRange,
        vm: Addr,
        names: Option<Addr>,
        shapes: Option<Addr>,
    ) -> Result<Self, String> {
        let version = Version::new(major, minor);
        let layout = Layout::of(version)
            .ok_or_else(|| format!("the layouts of Ruby {version} are not known"))?;
        Ok(Self { names, shapes, ..Self::new(Identity::new(NAME, ""), layout, module, vm) })
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

    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        self.step_out(host, phase, frame, caller)
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        Decoder { ruby: self, host }.spans(stack)
    }

    /// Threads begin and end, and code may lie where other code did.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        let (identity, layout) = (self.identity.clone(), self.layout);
        let (names, shapes, resumes) = (self.names, self.shapes, self.resumes.clone());
        let later = Self::new(identity, layout, self.module, self.vm);
        Some(Arc::new(Self { names, shapes, resumes, ..later }))
    }

    /// Control frames lie in memory of their own.
    fn needs_its_instant(&self) -> bool {
        true
    }

    /// Fibers have them.
    fn keeps_stacks(&self) -> bool {
        true
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let mut tasks = self.fiber_tasks(host);
        tasks.extend(self.thread_tasks(host));
        tasks
    }

    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let object = self.holder(host, at)?;
        let inside = match at.offset_from(object.at) {
            Some(0) | None => String::new(),
            Some(offset) => format!("+{offset:#x}"),
        };
        let class = self.class_at(host, object.at)?;
        Some(format!("{:x}{inside}, {class} of {} bytes", object.at.get(), object.size))
    }

    fn value(
        &self,
        host: &dyn Host,
        at: Addr,
        limits: VariableLimits,
    ) -> Option<(Dialect, ScriptNode)> {
        self.holder(host, at).filter(|object| object.at == at)?;
        Some((Dialect::Ruby, self.script_value(host, at.get(), limits)))
    }

    fn variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        let at = frame.object.filter(|_| frame.kind == FrameKind::Ruby)?;
        let mut locals = self.locals(host, at)?;
        locals.retain(|local| limits.locals || local.is_argument);
        // Arguments come first.
        locals.sort_by_key(|local| !local.is_argument);
        let told = |local: Local| ScriptVariable {
            value: self.script_value(host, local.value, limits),
            name: local.name,
            is_argument: local.is_argument,
        };
        let variables = locals.into_iter().map(told).collect();
        Some(ScriptVariables { dialect: Dialect::Ruby, variables })
    }

    fn objects(&self, _host: &dyn Host) -> Option<&dyn Objects> {
        Some(self)
    }

    fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        self.endings(host, dying)
    }

    fn thread(&self, host: &dyn Host, thread: Tid) -> Option<ThreadFacts> {
        let thread = self.threads(host).of(thread)?;
        let state = match (thread.holds_gvl, thread.waits_for_gvl, thread.state) {
            (true, ..) => Some("holds the GVL".into()),
            (_, true, _) => Some("waits for the GVL".into()),
            (.., ThreadState::Killed) => Some("ended".into()),
            _ => self.wait(host, thread),
        };
        Some(ThreadFacts { name: thread.name.clone(), state: state.map(Arc::from) })
    }
}
