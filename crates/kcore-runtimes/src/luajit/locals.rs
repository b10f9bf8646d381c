//! Variables of calls: `debug_localname` and `lj_debug_uvnamev` of `lj_debug.c`.

use super::{
    calls::Call,
    memory::{Memory, VALUE, Value},
};

/// `uvptr` of a function, and `v` of an upvalue.
const UPVALUES: u64 = 40;
const PLACE: u64 = 32;

/// A variable of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Whether it is a parameter.
    pub is_argument: bool,
}

/// The variables of a call, and the upvalues of its function.
pub fn locals_of(memory: &Memory<'_>, call: &Call) -> Option<Vec<Local>> {
    let mut locals = own_of(memory, call)?;
    locals.extend(upvalues_of(memory, call)?);
    Some(locals)
}

/// The upvalues of a call's function: all that is known of a call whose machine code has its variables in registers.
pub fn upvalues_of(memory: &Memory<'_>, call: &Call) -> Option<Vec<Local>> {
    let proto = call.proto.as_ref()?;
    let upvalue = |index: u64| {
        let at = call.closure.checked_add(UPVALUES)?.checked_add(index.checked_mul(8)?)?;
        let place = memory.pointer(memory.pointer(at, 0)?, PLACE)?;
        let name = proto.upvalue(memory, index)?;
        Some(Local { name, value: memory.value(place)?, is_argument: false })
    };
    Some((0..proto.upvalues(memory)).filter_map(upvalue).collect())
}

fn own_of(memory: &Memory<'_>, call: &Call) -> Option<Vec<Local>> {
    let proto = call.proto.as_ref()?;
    let slots = proto.slots(memory, call.index?).into_iter();
    // What the compiler made for itself has no name that a program may write.
    let own = slots.filter(|(name, _)| !name.starts_with('('));
    let local = |(name, slot): (String, u64)| {
        let at = call.at.checked_add(slot.checked_add(1)?.checked_mul(VALUE)?)?;
        Some(Local { name, value: memory.value(at)?, is_argument: slot < proto.parameters })
    };
    Some(own.filter_map(local).collect())
}
