//! What is known of places in the code of a module, remembered: the stacks of many goroutines share them.

use std::sync::{Arc, PoisonError, RwLock};

use kcore_mem::{Addr, CodeAddr};
use rustc_hash::FxHashMap;

use super::{function::Function, role::Role, tables::Tables};
use crate::Host;

/// Places that are remembered, at most.
const MAX_KNOWN: usize = 1 << 16;

/// A place in the code.
#[derive(Clone, Debug)]
pub struct CodePlace {
    /// The function that holds it.
    pub function: Function,
    /// What is special about that.
    pub role: Role,
    /// How far the stack pointer lies below the return address.
    pub stack_delta: Option<u64>,
}

/// Places in the code of a module.
#[derive(Default)]
pub struct Code(RwLock<FxHashMap<Addr, Option<Arc<CodePlace>>>>);

impl Code {
    /// The place at `pc`; `None` where the tables have no function for it.
    pub fn at(&self, tables: &Tables, host: &dyn Host, pc: CodeAddr) -> Option<Arc<CodePlace>> {
        let at = pc.lookup();
        tables.text.contains(at).then_some(())?;
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&at).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = find(tables, host, at).map(Arc::new);
        // What a halted command did not come to may be there.
        if !host.budget().is_some_and(|budget| budget.is_halted()) {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.insert(at, found.clone());
        }
        found
    }
}

fn find(tables: &Tables, host: &dyn Host, at: Addr) -> Option<CodePlace> {
    let space = host.space();
    let function = Function::at(tables, space, at)?;
    let name = function.name(tables, space);
    let stack_delta = function.stack_delta(tables, space, at);
    Some(CodePlace { role: Role::of(&function, name.as_deref()), stack_delta, function })
}
