//! What is known at one place of a path.

use std::hash::{Hash, Hasher};

use kcore_mem::Addr;
use rustc_hash::FxHasher;

use super::{
    instruction::{Instruction, Op, Source},
    outcome::Outcome,
    value::Value,
};
use crate::Machine;

/// Registers that are followed: those with DWARF numbers below this.
const REGISTERS: usize = 33;
/// Words in memory that are remembered: those that save what a callee preserves, and the stack pointer.
const MAX_STORES: usize = 16;
/// Registers that a callee preserves, at most, on any machine.
pub const MAX_PRESERVED: usize = 11;

/// Registers and memory, relative to where following began.
#[derive(Clone, Copy, Debug)]
pub struct State {
    values: [Value; REGISTERS],
    stores: [Option<(Value, Value)>; MAX_STORES],
}

/// The registers of a machine that matter.
#[derive(Clone, Copy)]
pub struct Roles {
    pub sp: u16,
    pub pc: u16,
    pub link: Option<u16>,
    pub preserved: &'static [u16],
}

impl Roles {
    /// Those of a machine.
    pub fn of(machine: &dyn Machine) -> Self {
        Self {
            sp: machine.stack_pointer().0,
            pc: machine.program_counter().0,
            link: machine.link_register().map(|link| link.0),
            preserved: machine.preserved(),
        }
    }

    /// Whether a value may have to be known later: the stack pointer, what a callee preserves, and where
    /// that lies.
    fn matters(self, value: Value) -> bool {
        let is_kept = |number| {
            number == self.sp || Some(number) == self.link || self.preserved.contains(&number)
        };
        value.is_known() && value.root_register().is_none_or(is_kept)
    }
}

impl State {
    /// Where following begins: each register holds what it holds.
    pub fn new() -> Self {
        Self {
            values: std::array::from_fn(|number| Value::register(number as u16)),
            stores: [None; MAX_STORES],
        }
    }

    /// What a register holds.
    pub fn get(&self, number: u16) -> Value {
        self.values.get(usize::from(number)).copied().unwrap_or(Value::UNKNOWN)
    }

    fn set(&mut self, number: u16, value: Value) {
        if let Some(slot) = self.values.get_mut(usize::from(number)) {
            *slot = value;
        }
    }

    /// Applies what an instruction at `at` does.
    pub fn apply(&mut self, instruction: &Instruction, at: Addr, roles: Roles) {
        for op in instruction.ops {
            match op {
                Op::None => {}
                Op::Set(to, source) => self.assign(to, source, roles),
                Op::Align(number) => self.set(number, Value::aligned(at)),
                Op::Store(base, offset, from) => self.store(base, offset, from, roles),
            }
        }
    }

    /// What a function leaves behind that returned: it preserves what it must.
    pub fn call(&mut self, roles: Roles) {
        for number in 0..REGISTERS as u16 {
            if number != roles.sp && !roles.preserved.contains(&number) {
                self.set(number, Value::UNKNOWN);
            }
        }
    }

    fn assign(&mut self, to: u16, source: Source, roles: Roles) {
        let value = match source {
            Source::Unknown => Value::UNKNOWN,
            // A pointer that a loop moves has no one value.
            Source::Register(from, by) if from == to && to != roles.sp && by != 0 => Value::UNKNOWN,
            Source::Register(from, by) => self.get(from).plus(by),
            Source::Load(base, offset) => self.load(self.get(base).plus(offset)),
        };
        let is_kept = to == roles.sp || to == roles.pc || roles.matters(value);
        self.set(to, if is_kept { value } else { Value::UNKNOWN });
    }

    fn load(&self, place: Value) -> Value {
        self.stored(place).unwrap_or_else(|| place.word())
    }

    /// What was stored at a place since following began.
    fn stored(&self, place: Value) -> Option<Value> {
        let known = self.stores.iter().flatten().find(|(at, _)| *at == place)?;
        Some(known.1)
    }

    fn store(&mut self, base: u16, offset: i64, from: Option<u16>, roles: Roles) {
        let place = self.get(base).plus(offset);
        if !place.is_known() || !roles.matters(place) {
            return;
        }
        let value = from.map_or(Value::UNKNOWN, |from| self.get(from));
        let value = if roles.matters(value) { value } else { Value::UNKNOWN };
        let known = self.stores.iter_mut().find(|slot| slot.is_some_and(|(at, _)| at == place));
        match known {
            Some(slot) => *slot = Some((place, value)),
            // What was there before is not loaded again but as what it was when following began.
            None if !value.is_known() => {}
            None => match self.stores.iter_mut().find(|slot| slot.is_none()) {
                Some(slot) => *slot = Some((place, value)),
                // Nothing that is loaded from here on can be trusted.
                None => self.set(roles.sp, Value::UNKNOWN),
            },
        }
    }

    /// A number for all of it that decides how a path ends. Registers that a callee may change count only where
    /// they are, in order that a loop has one state.
    pub fn fingerprint(&self, roles: Roles) -> u64 {
        let mut hasher = FxHasher::default();
        self.get(roles.sp).hash(&mut hasher);
        roles.link.map(|link| self.get(link)).hash(&mut hasher);
        for number in roles.preserved {
            self.get(*number).hash(&mut hasher);
        }
        let stores = self.stores.iter().flatten().map(|store| {
            let mut hasher = FxHasher::default();
            store.hash(&mut hasher);
            hasher.finish()
        });
        stores.fold(hasher.finish(), u64::wrapping_add)
    }

    /// The caller, when control is about to go to the program counter that was set.
    pub fn outcome_of_return(&self, roles: Roles) -> Outcome {
        let preserved = |index: usize| roles.preserved.get(index).map(|number| self.get(*number));
        Outcome {
            pc: self.get(roles.pc),
            sp: self.get(roles.sp),
            preserved: std::array::from_fn(|index| preserved(index).unwrap_or(Value::UNKNOWN)),
        }
    }

    /// The caller, when control is about to go to another function that returns in place of this one.
    pub fn outcome_of_tail_call(&self, roles: Roles, word: i64) -> Outcome {
        let mut state = *self;
        match roles.link {
            Some(link) => state.set(roles.pc, self.get(link)),
            None => {
                state.set(roles.pc, self.load(self.get(roles.sp)));
                state.set(roles.sp, self.get(roles.sp).plus(word));
            }
        }
        state.outcome_of_return(roles)
    }

    /// The caller of a function that began where following began, by the registers at the place that was come to.
    pub fn outcome_at_place(&self, roles: Roles, word: i64) -> Option<Outcome> {
        let entry = self.entry_stack_pointer(roles)?;
        let from_entry = |place: Value| Some(entry.plus(place.offset_from(roles.sp)?));
        let kept = |number: u16| {
            let original = Value::register(number);
            let stores = self.stores.iter().flatten();
            let mut places =
                stores.filter(|(at, value)| *value == original && self.is_kept(*at, roles));
            let place = places.next().and_then(|(place, _)| from_entry(*place));
            let held = if self.get(number) == original { original } else { Value::UNKNOWN };
            place.map_or(held, Value::word)
        };
        let preserved = |index: usize| roles.preserved.get(index).map(|number| kept(*number));
        Some(Outcome {
            pc: roles.link.map_or_else(|| entry.word(), kept),
            sp: if roles.link.is_some() { entry } else { entry.plus(word) },
            preserved: std::array::from_fn(|index| preserved(index).unwrap_or(Value::UNKNOWN)),
        })
    }

    /// Whether a place on the stack is not below the stack pointer, where a signal's handler may have run.
    fn is_kept(&self, place: Value, roles: Roles) -> bool {
        let top = self.get(roles.sp).offset_from(roles.sp);
        top.is_none_or(|top| place.offset_from(roles.sp).is_some_and(|at| at >= top))
    }

    /// The stack pointer at the function's start, by a register that still tells.
    fn entry_stack_pointer(&self, roles: Roles) -> Option<Value> {
        let by = |number: u16| {
            let offset = self.get(number).offset_from(roles.sp)?;
            Some(Value::register(number).plus(offset.checked_neg()?))
        };
        by(roles.sp).or_else(|| roles.preserved.iter().find_map(|number| by(*number)))
    }
}
