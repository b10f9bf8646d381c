//! Perl: 5.30 to 5.42, with interpreters by thread and without.
//!
//! Facts come from Perl/perl5 (the files are named where they are used), by compiling the headers of versions. No symbol is
//! needed but what Perl exports for its extensions. What is damaged or was not dumped costs what it holds, and nothing else.

mod ahead;
mod arenas;
mod code;
mod context;
mod death;
mod decode;
mod interpreter;
mod layout;
mod machine;
mod magic;
mod memory;
mod objects;
mod plumbing;
mod position;
mod probe;
mod references;
mod scope;
mod size;
mod value;
mod xs;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Frame, Tid};
use rustc_hash::FxHashMap;

use arenas::Arenas;
pub use context::{Call, Callee, Chain, Group};
use decode::Decoder;
pub use interpreter::{Interpreter, Storage};
use layout::Layout;
pub use memory::Memory;
pub use objects::{CALL, SYMBOLS};
pub use probe::{NAME, PROBE};
use scope::Scope;
use value::Teller;
use xs::Functions;

use crate::{
    Dialect, DyingStack, Ending, FrameKind, FrameOfLanguage, Host, Identity, NativeStack, Runtime,
    ScriptNode, ScriptVariables, Span, ThreadFacts, VariableLimits, graph::GraphCell,
    objects::Objects,
};

/// Perl in a process.
pub struct Perl {
    identity: Identity,
    layout: &'static Layout,
    /// From the lowest to the highest address of its module.
    module: AddrRange,
    storage: Storage,
    /// The calls that were decoded.
    known: RwLock<Remembered>,
    /// Functions of C that it may call.
    functions: OnceLock<Functions>,
    arenas: OnceLock<Arenas>,
    graph: GraphCell,
}

/// What is remembered of calls.
#[derive(Default)]
struct Remembered {
    scopes: FxHashMap<Addr, Scope>,
    /// The type of operations that are statements.
    statement: Option<u64>,
}

impl Perl {
    fn new(
        identity: Identity,
        layout: &'static Layout,
        module: AddrRange,
        storage: Storage,
    ) -> Self {
        let (known, functions) = (RwLock::default(), OnceLock::new());
        let (arenas, graph) = (OnceLock::new(), GraphCell::default());
        Self { identity, layout, module, storage, known, functions, arenas, graph }
    }

    /// That of a version with one interpreter by thread, in a module: for who knows where that lies.
    ///
    /// # Errors
    /// In words, where the layouts of the version are not known.
    pub fn in_module(version: (u8, u8), module: AddrRange) -> Result<Self, String> {
        let (major, minor) = version;
        let layout = Layout::of(version)
            .ok_or_else(|| format!("the layouts of Perl {major}.{minor} are not known"))?;
        let storage = Storage::PerThread { variable: None, key: None, first: None };
        Ok(Self::new(Identity::new(NAME, ""), layout, module, storage))
    }

    fn memory<'a>(&self, host: &'a dyn Host) -> Memory<'a> {
        Memory { space: host.space(), layout: self.layout }
    }

    fn is_own_code(&self, at: Addr) -> bool {
        self.module.contains(at)
    }

    /// Whether statements name their files by globs: where there is one interpreter.
    const fn has_globs(&self) -> bool {
        !self.storage.is_per_thread()
    }

    /// The interpreter of a thread whose stack has frames of Perl.
    fn interpreter(&self, host: &dyn Host, tid: Tid, frames: &[Frame]) -> Option<Interpreter> {
        let memory = self.memory(host);
        let module = host.module_at(self.module.start);
        let known = module.and_then(|module| self.storage.of(host, &memory, module, tid));
        let on_stack = || Storage::on_stack(host, &memory, tid, frames);
        known.or_else(|| self.storage.is_per_thread().then(on_stack).flatten())
    }

    fn remember(&self, scopes: &[Scope], statement: Option<u64>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.scopes.extend(scopes.iter().map(|scope| (scope.call, *scope)));
        known.statement = statement.filter(|kind| *kind > 0).or(known.statement);
    }

    fn scope(&self, call: Addr) -> Option<(Scope, Option<u64>)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        Some((*known.scopes.get(&call)?, known.statement))
    }
}

impl Runtime for Perl {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        Decoder { perl: self, host }.spans(stack)
    }

    /// Calls end, and others lie where they lay.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        let identity = self.identity.clone();
        Some(Arc::new(Self::new(identity, self.layout, self.module, self.storage)))
    }

    /// Calls lie in memory of their own.
    fn needs_its_instant(&self) -> bool {
        true
    }

    fn variables(
        &self,
        host: &dyn Host,
        frame: &FrameOfLanguage<'_>,
        limits: VariableLimits,
    ) -> Option<ScriptVariables> {
        let at = frame.object.filter(|_| frame.kind == FrameKind::Perl)?;
        let (scope, statement) = self.scope(at)?;
        let memory = self.memory(host);
        let teller = Teller::new(&memory, limits).with_statements(statement, self.has_globs());
        let variables = scope.variables(&memory, &teller, limits.locals, limits.entries)?;
        Some(ScriptVariables { dialect: Dialect::Perl, variables })
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
        self.value_at(host, at).filter(|(head, _)| *head == at)?;
        let memory = self.memory(host);
        Some((Dialect::Perl, Teller::new(&memory, limits).whole(at)))
    }

    fn objects(&self, _host: &dyn Host) -> Option<&dyn Objects> {
        Some(self)
    }

    fn end(&self, host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        self.endings(host, dying).into_iter().collect()
    }

    /// It knows nothing of threads. Who asks without any looks at a process before it is sampled: then the memory is looked at
    /// in which calls lie, so that samples copy it.
    fn thread(&self, host: &dyn Host, _thread: Tid) -> Option<ThreadFacts> {
        if host.threads().is_empty() {
            self.look_at_first(host);
        }
        None
    }

    fn follow_running(&self, host: &dyn Host) -> bool {
        self.look_ahead(host);
        true
    }
}
