//! Variables of calls: `luaG_findlocal` of `ldebug.c`, upvalues of `lfunc.h`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    calls::{Call, Calls},
    memory::{Function, Memory, VALUE, Value},
};

/// Upvalues of a function, at most: their count is a byte.
const MAX_UPVALUES: u64 = 255;
/// The upvalue that has global variables, which is no variable of the program's.
const ENVIRONMENT: &str = "_ENV";

/// A variable of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name.
    pub name: Arc<str>,
    /// Its value.
    pub value: Value,
    /// Whether it is a parameter.
    pub is_argument: bool,
}

/// The variables of a call.
pub fn locals_of(memory: &Memory<'_>, call: &Call) -> Option<Vec<Local>> {
    let proto = call.proto.as_ref()?;
    let base = match memory.layout.call.base {
        Some(base) => memory.pointer(call.at, base)?,
        None => call.place.checked_add(VALUE)?,
    };
    let local = |name: super::proto::LocalName| {
        let at = base.checked_add(name.register.checked_mul(VALUE)?)?;
        Some(Local {
            name: name.name.into(),
            value: memory.value(at)?,
            is_argument: name.register < proto.parameters,
        })
    };
    // Where the instruction is not known, parameters are variables all the same: they are so from the first one on.
    let names = proto.locals(memory, call.index.unwrap_or_default()).into_iter();
    // What the compiler made for itself has no name that a program may write.
    let own = names.filter(|name| !name.name.starts_with('('));
    let mut locals: Vec<Local> = own.filter_map(local).collect();
    locals.extend(upvalues(memory, call));
    Some(locals)
}

fn upvalues(memory: &Memory<'_>, call: &Call) -> Vec<Local> {
    let Some(Function::Lua { closure, .. }) = call.function else { return Vec::new() };
    let (first, count) = memory.layout.upvalues;
    let count = memory.uint(closure, count, 1).unwrap_or_default().min(MAX_UPVALUES);
    let upvalue = |index: u64| {
        let name = call.proto.as_ref()?.upvalue(memory, index)?;
        let at = closure.checked_add(first)?.checked_add(index.checked_mul(8)?)?;
        let place = memory.pointer(memory.pointer(at, 0)?, memory.layout.upvalue_place)?;
        let value = memory.value(place).filter(|_| name != ENVIRONMENT)?;
        Some(Local { name: name.into(), value, is_argument: false })
    };
    (0..count).filter_map(upvalue).collect()
}

/// The call at an address, among those of a state.
pub fn call_at(memory: &Memory<'_>, state: &super::state::State, at: Addr) -> Option<Call> {
    Calls::of(memory, state).all.into_iter().find(|call| call.at == at)
}
