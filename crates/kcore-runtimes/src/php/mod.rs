//! PHP: 7.4 to 8.5, with threads of its own and without.
//!
//! Facts come from php/php-src (the files are named where they are used), by compiling the headers of versions. No symbol
//! is needed but what a module exports for its extensions, and of a program named after PHP none at all. What is damaged
//! or was not dumped costs what it holds, and nothing else.

mod array;
mod blocks;
mod call_memory;
mod contents;
mod decode;
mod exceptions;
mod fiber;
mod frame;
mod generator;
mod globals;
mod layout;
mod locals;
mod machine;
mod memory;
mod object;
mod objects;
mod plumbing;
mod probe;
mod request;
mod step;
#[cfg(test)]
mod tests;
mod value;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Phase, Regs, RuleFrame, RuleStep, Tid};
use rustc_hash::{FxHashMap, FxHashSet};

use contents::Contents;
use decode::Decoder;
use fiber::FiberStack;
pub use frame::{Chain, Code, Frame};
pub use globals::{Globals, Storage};
use layout::Layout;
pub use memory::Memory;
use memory::Value;
pub use objects::{CALL, GLOBAL};
pub use probe::{NAME, PROBE};
use step::Prologue;
use value::Teller;

use crate::{
    Dialect, DyingStack, Ending, FrameKind, FrameOfLanguage, Host, Identity, NativeStack, Runtime,
    ScriptNode, ScriptVariables, Span, Task, ThreadFacts, VariableLimits, extents::Extents,
    graph::GraphCell, objects::Objects,
};

/// PHP in a process.
pub struct Php {
    identity: Identity,
    layout: &'static Layout,
    /// From the lowest to the highest address of its module.
    module: AddrRange,
    storage: Storage,
    /// Where functions begin, by module.
    extents: RwLock<FxHashMap<Addr, Option<Extents>>>,
    /// What the machine puts on the stack.
    prologue: OnceLock<Option<Prologue>>,
    /// The thread that runs PHP where that has no threads.
    runner: OnceLock<Option<Tid>>,
    contents: OnceLock<Contents>,
    /// Where the stacks of fibers lie.
    fiber_stacks: OnceLock<Vec<FiberStack>>,
    graph: GraphCell,
}

impl Php {
    fn new(
        identity: Identity,
        layout: &'static Layout,
        module: AddrRange,
        storage: Storage,
    ) -> Self {
        let (extents, prologue, runner) = (RwLock::default(), OnceLock::new(), OnceLock::new());
        let (contents, fiber_stacks) = (OnceLock::new(), OnceLock::new());
        Self {
            identity,
            layout,
            module,
            storage,
            extents,
            prologue,
            runner,
            contents,
            fiber_stacks,
            graph: GraphCell::default(),
        }
    }

    /// That of a version whose globals lie at an address, in a module: for who knows where they lie.
    ///
    /// # Errors
    /// In words, where the layouts of the version are not known.
    pub fn with_globals(
        version: (u8, u8),
        module: AddrRange,
        executor: Addr,
    ) -> Result<Self, String> {
        let (major, minor) = version;
        let layout = Layout::of(version)
            .ok_or_else(|| format!("the layouts of PHP {major}.{minor} are not known"))?;
        let storage = Storage::Fixed(Globals { executor, server: None });
        Ok(Self::new(Identity::new(NAME, ""), layout, module, storage))
    }

    fn memory<'a>(&self, host: &'a dyn Host) -> Memory<'a> {
        Memory { space: host.space(), layout: self.layout }
    }

    /// The calls that globals have, where there are any.
    fn chain_of(&self, host: &dyn Host, globals: &Globals) -> Option<Chain> {
        let memory = self.memory(host);
        let current = globals.current(&memory)?;
        Some(memory.chain(current, globals.before_exception(&memory)))
    }

    /// The globals of the process, each once, and a thread that has them where that is known.
    fn all_globals(&self, host: &dyn Host) -> Vec<(Globals, Option<Tid>)> {
        match self.storage {
            Storage::Fixed(globals) => vec![(globals, self.runner(host))],
            Storage::PerThread { .. } => {
                let of = |thread| Some((self.storage.of(host, thread)?, Some(thread)));
                host.threads().into_iter().filter_map(of).collect()
            }
        }
    }

    /// The thread that runs PHP where that has no threads: the one with the machine on its stack.
    fn runner(&self, host: &dyn Host) -> Option<Tid> {
        let find = || {
            let main = host.main_thread();
            let threads = main.into_iter().chain(host.threads());
            { threads }.find(|thread| self.has_machine(host, &host.frames(*thread))).or(main)
        };
        *self.runner.get_or_init(find)
    }

    /// The range of the function that holds this code, by the unwind information of its module.
    fn function(&self, host: &dyn Host, at: Addr) -> Option<AddrRange> {
        let module = host.module_at(at)?;
        let start = module.span().start;
        let known = self.extents.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(extents) = known.get(&start) {
            return extents.as_ref().and_then(|it| it.around(module, at));
        }
        drop(known);
        let extents = Extents::of(module);
        let range = extents.as_ref().and_then(|it| it.around(module, at));
        let mut known = self.extents.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(start, extents);
        range
    }
}

impl Runtime for Php {
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
        Decoder { php: self, host }.spans(stack)
    }

    /// Another thread may run PHP, and code may be loaded where other code was.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        let later = Self::new(self.identity.clone(), self.layout, self.module, self.storage);
        Some(Arc::new(Self { prologue: self.prologue.clone(), ..later }))
    }

    /// Calls lie in memory of their own.
    fn needs_its_instant(&self) -> bool {
        true
    }

    /// Fibers have them.
    fn keeps_stacks(&self) -> bool {
        self.layout.fiber.is_some()
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let memory = self.memory(host);
        let mut tasks = Vec::new();
        for (globals, thread) in self.all_globals(host) {
            let chain = self.chain_of(host, &globals).unwrap_or_default();
            let Some(store) = globals.objects(&memory) else { continue };
            let running: FxHashSet<Addr> = chain.frames.iter().map(|frame| frame.at).collect();
            tasks.extend(self.fibers(host, store, thread, &chain));
            tasks.extend(self.generators(host, store, &running));
        }
        tasks
    }

    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let content = *self.contents(host).holding(at)?;
        let inside = match at.offset_from(content.at) {
            Some(0) | None => String::new(),
            Some(offset) => format!("+{offset:#x}"),
        };
        let class = self.class_at(host, content.at)?;
        Some(format!("{:x}{inside}, {class} of {} bytes", content.at.get(), content.size))
    }

    fn value(
        &self,
        host: &dyn Host,
        at: Addr,
        limits: VariableLimits,
    ) -> Option<(Dialect, ScriptNode)> {
        let kind = self.contents(host).at(at)?.kind();
        let memory = self.memory(host);
        Some((Dialect::Php, Teller::new(&memory, limits).value(Value { kind, word: at.get() })))
    }

    fn objects(&self, _host: &dyn Host) -> Option<&dyn Objects> {
        Some(self)
    }

    fn variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        let at = frame.object.filter(|_| frame.kind == FrameKind::Php)?;
        let memory = self.memory(host);
        let teller = Teller::new(&memory, limits);
        let mut variables = memory.locals(at, &teller)?;
        variables.retain(|local| limits.locals || local.is_argument);
        Some(ScriptVariables { dialect: Dialect::Php, variables })
    }

    fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        self.endings(host, dying)
    }

    fn thread(&self, host: &dyn Host, thread: Tid) -> Option<ThreadFacts> {
        let globals = self.storage.of(host, thread)?;
        let runner = self.runner(host);
        let is_own = matches!(self.storage, Storage::PerThread { .. }) || runner == Some(thread);
        // Of a process that was looked at without its threads, none is known to be the one.
        if is_own || runner.is_none() {
            self.look_at_stacks(host, &globals);
        }
        is_own.then_some(())?;
        let state = self.request(host, &globals);
        Some(ThreadFacts { name: None, state: state.map(Arc::from) })
    }

    fn follow_running(&self, host: &dyn Host) -> bool {
        self.look_ahead(host);
        true
    }
}
