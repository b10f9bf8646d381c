//! LuaJIT 2.1 with pointers of 64 bits, in a library of its own or linked into a program.
//!
//! Facts come from LuaJIT/LuaJIT and openresty/luajit2 (the files are named where they are used), by compiling their headers.
//! No symbol is needed but one that tells that a module has LuaJIT: which states a thread runs is read from its stack. What
//! is damaged or was not dumped costs what it holds, and nothing else.

mod calls;
mod coroutine;
mod decode;
mod heap;
mod locals;
mod memory;
mod names;
mod names_of_tables;
mod objects;
mod probe;
mod proto;
mod references;
mod running;
mod state;
mod step;
mod value;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Phase, Regs, RuleFrame, RuleStep};
use rustc_hash::FxHashMap;

pub use calls::{Call, Calls};
use decode::Decoder;
use locals::{Local, locals_of, upvalues_of};
pub use memory::{Function, Memory, Value};
use objects::Heaps;
pub use objects::{REGISTRY, RUNNING};
pub use probe::{NAME, PROBE};
pub use proto::Proto;
pub use state::{Activity, MachineFrame, State};
use value::Teller;

use crate::{
    Dialect, FrameKind, FrameOfLanguage, Host, Identity, NativeStack, Runtime, ScriptNode,
    ScriptVariable, ScriptVariables, Span, Task, VariableLimits, graph::GraphCell,
    objects::Objects,
};

/// LuaJIT in a process.
pub struct LuaJit {
    identity: Identity,
    /// From the lowest to the highest address of its module.
    module: AddrRange,
    /// The states whose calls were decoded.
    known: RwLock<FxHashMap<Addr, State>>,
    heaps: OnceLock<Heaps>,
    graph: GraphCell,
}

impl LuaJit {
    fn new(identity: Identity, module: AddrRange) -> Self {
        let (heaps, graph) = (OnceLock::new(), GraphCell::default());
        Self { identity, module, known: RwLock::default(), heaps, graph }
    }

    /// That of a module: for who knows where it lies.
    pub fn in_module(module: AddrRange) -> Self {
        Self::new(Identity::new(NAME, ""), module)
    }

    fn remember(&self, state: State) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(state.at, state);
    }

    /// The variables of the call whose frame lies at an address, among those that were decoded.
    ///
    /// Machine code of a trace has those of the call that entered it in registers, and its stack what they were then.
    fn locals(&self, memory: &Memory<'_>, at: Addr) -> Option<Vec<Local>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().find_map(|state| {
            let calls = Calls::of(memory, state);
            let (place, call) = calls.all.iter().enumerate().find(|(_, call)| call.at == at)?;
            match place == 0 && state.trace(memory).is_some() {
                true => upvalues_of(memory, call),
                false => locals_of(memory, call),
            }
        })
    }
}

impl Runtime for LuaJit {
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
        Decoder { lua: self, host }.spans(stack)
    }

    /// States end, and others lie where they lay.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        Some(Arc::new(Self::new(self.identity.clone(), self.module)))
    }

    /// Calls lie in memory of their own.
    fn needs_its_instant(&self) -> bool {
        true
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        self.coroutine_tasks(host)
    }

    fn identify(&self, host: &dyn Host, at: Addr) -> Option<String> {
        self.identify_object(host, at)
    }

    fn value(
        &self,
        host: &dyn Host,
        at: Addr,
        limits: VariableLimits,
    ) -> Option<(Dialect, ScriptNode)> {
        let value = self.object_value(host, at)?;
        let memory = Memory { space: host.space() };
        Some((Dialect::Lua, Teller::new(&memory, limits).value(value)))
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
        let at = frame.object.filter(|_| frame.kind == FrameKind::Lua)?;
        let memory = Memory { space: host.space() };
        let mut locals = self.locals(&memory, at)?;
        locals.retain(|local| limits.locals || local.is_argument);
        let teller = Teller::new(&memory, limits);
        let told = |local: Local| ScriptVariable {
            value: teller.value(local.value),
            name: local.name.into(),
            is_argument: local.is_argument,
        };
        let variables = locals.into_iter().map(told).collect();
        Some(ScriptVariables { dialect: Dialect::Lua, variables })
    }

    fn follow_running(&self, host: &dyn Host) -> bool {
        self.look_ahead(host);
        true
    }
}
