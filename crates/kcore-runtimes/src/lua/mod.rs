//! Lua: 5.1 to 5.4 of PUC-Rio, in a library of its own or linked into a program.
//!
//! Facts come from lua.org's releases (the files are named where they are used), by compiling the headers of each
//! version. No symbol is needed but one that tells that a module has Lua: which states a thread runs is read from its
//! stack, and each state leads to its calls. What is damaged or was not dumped costs what it holds, and nothing else.

mod calls;
mod coroutine;
mod decode;
mod globals;
mod heap;
mod instruction;
mod layout;
mod locals;
mod machine;
mod memory;
mod names;
mod names_of_tables;
mod objects;
mod plumbing;
mod probe;
mod proto;
mod references;
mod running;
mod state;
mod table;
mod value;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashMap;

pub use calls::{Call, Calls};
use decode::Decoder;
use globals::Globals;
pub use layout::Series;
use locals::{call_at, locals_of};
pub use memory::{Function, Memory, Value};
use objects::Heaps;
pub use objects::{METATABLE, REGISTRY, RUNNING};
pub use probe::{NAME, PROBE};
pub use proto::Proto;
pub use state::{Activity, State};
use value::Teller;

use crate::{
    Dialect, FrameKind, FrameOfLanguage, Host, Identity, NativeStack, Runtime, ScriptNode,
    ScriptVariable, ScriptVariables, Span, Task, VariableLimits, extents::Extents,
    graph::GraphCell, objects::Objects,
};

/// Lua in a process.
pub struct Lua {
    identity: Identity,
    /// From the lowest to the highest address of its module.
    module: AddrRange,
    /// Its minor version, where the module says it.
    series: Option<Series>,
    /// Whether coroutines of its version are its own to list: a program and a library that it loads may both have Lua, and
    /// nothing in a state tells whose code made it.
    lists_coroutines: bool,
    /// Where functions begin, by module.
    extents: RwLock<FxHashMap<Addr, Option<Extents>>>,
    /// Functions that have names, by global state.
    globals: RwLock<FxHashMap<Addr, Arc<Globals>>>,
    /// The states whose calls were decoded.
    known: RwLock<FxHashMap<Addr, State>>,
    heaps: OnceLock<Heaps>,
    graph: GraphCell,
}

impl Lua {
    fn new(identity: Identity, module: AddrRange, series: Option<Series>) -> Self {
        Self {
            identity,
            module,
            series,
            lists_coroutines: true,
            extents: RwLock::default(),
            globals: RwLock::default(),
            known: RwLock::default(),
            heaps: OnceLock::new(),
            graph: GraphCell::default(),
        }
    }

    /// That of a module, of any version: for who knows where it lies.
    pub fn in_module(module: AddrRange) -> Self {
        Self::new(Identity::new(NAME, ""), module, None)
    }

    /// Whether a state is of this version: another module may have another.
    fn is_own(&self, state: &State) -> bool {
        self.series.is_none_or(|series| state.layout.series == series)
    }

    fn globals(&self, memory: &Memory<'_>, state: &State) -> Arc<Globals> {
        let known = self.globals.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(globals) = known.get(&state.global) {
            return globals.clone();
        }
        drop(known);
        let globals = Arc::new(Globals::of(memory, state));
        let mut known = self.globals.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(state.global).or_insert(globals).clone()
    }

    fn remember(&self, state: State) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(state.at, state);
    }

    /// The state and the call that lie at an address, among those that were decoded.
    fn call(&self, host: &dyn Host, at: Addr) -> Option<(State, Call)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().find_map(|state| {
            let call = call_at(&state.memory(host.space()), state, at)?;
            Some((*state, call))
        })
    }
}

impl Runtime for Lua {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        Decoder { lua: self, host }.spans(stack)
    }

    /// States end, and functions get other names.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        let later = Self::new(self.identity.clone(), self.module, self.series);
        Some(Arc::new(Self { lists_coroutines: self.lists_coroutines, ..later }))
    }

    /// Calls lie in memory of their own.
    fn needs_its_instant(&self) -> bool {
        true
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        if self.lists_coroutines { self.coroutine_tasks(host) } else { Vec::new() }
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
        let (value, memory) = self.object_value(host, at)?;
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
        let (state, call) = self.call(host, at)?;
        let memory = state.memory(host.space());
        let mut locals = locals_of(&memory, &call)?;
        locals.retain(|local| limits.locals || local.is_argument);
        let teller = Teller::new(&memory, limits);
        let told = |local: locals::Local| ScriptVariable {
            value: teller.value(local.value),
            name: local.name,
            is_argument: local.is_argument,
        };
        let variables = locals.into_iter().map(told).collect();
        Some(ScriptVariables { dialect: Dialect::Lua, variables })
    }
}
