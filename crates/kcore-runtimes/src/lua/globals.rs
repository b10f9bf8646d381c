//! Functions that programs know by a name: those in `package.loaded`, as `pushglobalfuncname` of `lauxlib.c` finds them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{
    layout::Series,
    memory::{FUNCTION, Memory, STRING, TABLE, Value},
    state::State,
    table::Entries,
};

/// The key of the registry under which modules lie that were loaded.
const LOADED: &str = "_LOADED";
/// Entries of modules that are looked at, at most.
const MAX_ENTRIES: usize = 1 << 16;
/// What 5.3 leaves out of the names of global variables.
const GLOBAL: &str = "_G.";

/// Functions by their values.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    names: FxHashMap<Value, Arc<str>>,
}

impl Globals {
    /// Those of a global state.
    pub fn of(memory: &Memory<'_>, state: &State) -> Self {
        let mut globals = Self::default();
        if globals.fill(memory, state).is_none() {
            globals.names.clear();
        }
        globals
    }

    /// The name of a function.
    pub fn name(&self, function: Value) -> Option<&str> {
        self.names.get(&function).map(|name| &**name)
    }

    fn fill(&mut self, memory: &Memory<'_>, state: &State) -> Option<()> {
        let registry =
            memory.value(state.global.checked_add(state.layout.global.registry)?)?.object(TABLE)?;
        let is_it = |(key, _): &(Value, Value)| {
            key.object(STRING).and_then(|key| memory.text(key)).as_deref() == Some(LOADED)
        };
        let loaded = Entries::of(memory, registry)?.take(MAX_ENTRIES).find(is_it)?.1;
        let mut left = MAX_ENTRIES;
        for (key, value) in Entries::of(memory, loaded.object(TABLE)?)?.take(MAX_ENTRIES) {
            let Some(module) = key.object(STRING).and_then(|key| memory.text(key)) else {
                continue;
            };
            self.put(memory, value, || module.clone());
            let Some(members) = value.object(TABLE).and_then(|at| Entries::of(memory, at)) else {
                continue;
            };
            for (key, value) in members.take(left) {
                left = left.saturating_sub(1);
                let name = || {
                    let name = key.object(STRING).and_then(|key| memory.text(key));
                    format!("{module}.{}", name.unwrap_or_default())
                };
                if key.kind() == STRING {
                    self.put(memory, value, name);
                }
            }
        }
        Some(())
    }

    /// The first name that is found counts.
    fn put(&mut self, memory: &Memory<'_>, value: Value, name: impl FnOnce() -> String) {
        if value.kind() != FUNCTION || self.names.contains_key(&value) {
            return;
        }
        let name = name();
        let short = match memory.layout.series {
            Series::V53 | Series::V54 => name.strip_prefix(GLOBAL).unwrap_or(&name),
            Series::V51 | Series::V52 => &name,
        };
        self.names.insert(value, short.into());
    }
}
