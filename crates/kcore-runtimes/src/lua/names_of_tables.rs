//! What programs call tables that others are made by: metatables and the tables that these look members up in.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    memory::{Memory, STRING, TABLE, Value},
    state::State,
    table::Entries,
};

/// The key of the registry under which modules lie that were loaded, and among these the global variables.
const LOADED: &str = "_LOADED";
const GLOBALS: &str = "_G";
/// The members of a metatable that say what it is for, and where members of its tables are looked up.
const NAME: &str = "__name";
const INDEX: &str = "__index";
/// Entries that are looked at, at most: of all modules, and of a metatable.
const MAX_ENTRIES: usize = 1 << 16;
const MAX_MEMBERS: usize = 1024;

/// Tables that are global variables, modules or members of modules, by what they are called.
#[derive(Clone, Debug, Default)]
pub struct TableNames {
    names: FxHashMap<Addr, Arc<str>>,
}

impl TableNames {
    /// Those of a global state.
    pub fn of(memory: &Memory<'_>, state: &State) -> Self {
        let mut names = Self::default();
        let _ = names.fill(memory, state);
        names
    }

    fn fill(&mut self, memory: &Memory<'_>, state: &State) -> Option<()> {
        let registry = state.global.checked_add(state.layout.global.registry)?;
        let registry = memory.value(registry)?.object(TABLE)?;
        let loaded = memory.member(registry, LOADED, MAX_ENTRIES)?.object(TABLE)?;
        let mut left = MAX_ENTRIES;
        for (key, value) in Entries::of(memory, loaded)?.take(MAX_ENTRIES) {
            let name = key.object(STRING).and_then(|key| memory.text(key));
            let Some((module, name)) = value.object(TABLE).zip(name) else { continue };
            for (key, value) in Entries::of(memory, module).into_iter().flatten().take(left) {
                left = left.saturating_sub(1);
                let member = key.object(STRING).and_then(|key| memory.text(key));
                let Some((table, member)) = value.object(TABLE).zip(member) else { continue };
                match name == GLOBALS {
                    true => self.names.insert(table, member.into()),
                    false => {
                        let whole = || format!("{name}.{member}").into();
                        self.names.entry(table).or_insert_with(whole);
                        continue;
                    }
                };
            }
            self.names.entry(module).or_insert_with(|| name.into());
        }
        Some(())
    }

    /// What the tables are called that have a metatable: by its `__name`, by its own name, or by that of its `__index`.
    pub fn class(&self, memory: &Memory<'_>, metatable: Addr) -> Option<Arc<str>> {
        let own = memory.member(metatable, NAME, MAX_MEMBERS);
        let own = own.and_then(|name| memory.text(name.object(STRING)?)).map(Arc::from);
        own.or_else(|| self.names.get(&metatable).cloned()).or_else(|| {
            let index = memory.member(metatable, INDEX, MAX_MEMBERS)?.object(TABLE)?;
            self.names.get(&index).cloned()
        })
    }
}

impl Memory<'_> {
    /// The member of a table that has a name, among so many entries.
    pub fn member(&self, table: Addr, name: &str, most: usize) -> Option<Value> {
        let is_it = |(key, _): &(Value, Value)| {
            key.object(STRING).and_then(|key| self.text(key)).as_deref() == Some(name)
        };
        Entries::of(self, table)?.take(most).find(is_it).map(|(_, value)| value)
    }
}
