//! What a function that changes stacks leaves behind of its caller, as its own code tells.
//!
//! Libraries of coroutines (Tencent's libco, libaco, minicoro, byuu's libco, Ruby's fibers) have one function
//! each that writes the stack pointer and the registers that a callee preserves into a structure, takes
//! those of another structure, and goes on there. Each has a layout of its own. The code of that function is
//! followed with names for values, not with values: what it stored where is the layout.

use kcore_mem::{Addr, AddressSpace};

use crate::RegisterId;

/// Instructions of a switch that are followed, with what leads to it.
pub(crate) const MAX_STEPS: usize = 192;
/// Instructions of a function that are followed up to a call of a switch through a register.
pub(crate) const MAX_BEFORE: usize = 4096;
/// Stores that are remembered of one function.
const MAX_STORES: usize = 256;

/// Where a switch puts the registers of its caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Switch {
    /// The function that was called.
    pub function: Addr,
    /// The stack pointer that it saves, less the caller's when the call has returned.
    pub stack_pointer: i64,
    /// Where the address lies that the call returns to.
    pub returns: SaveSlot,
    /// Where it saves that address, or one of its own code, beside the stack pointer: there a coroutine that was
    /// made and did not run has its function.
    pub pcs: Vec<i64>,
    /// Registers that a callee preserves, as far as it saves them.
    pub registers: Vec<(RegisterId, SaveSlot)>,
}

/// Where something is saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SaveSlot {
    /// So far from where the stack pointer is saved.
    Beside(i64),
    /// So far from the caller's stack pointer when the call has returned.
    OnStack(i64),
}

impl Switch {
    /// Where a place is, by where the stack pointer is saved and what was saved there. `None` where addresses
    /// end.
    pub fn resolve(&self, place: SaveSlot, slot: Addr, saved: Addr) -> Option<Addr> {
        let (from, by) = match place {
            SaveSlot::Beside(by) => (slot, by),
            SaveSlot::OnStack(by) => (self.caller_stack_pointer(saved)?, by),
        };
        from.get().checked_add_signed(by).map(Addr::new)
    }

    /// How far from where the stack pointer is saved the lowest lies of what is saved beside it: 0 or less.
    pub fn lowest(&self) -> i64 {
        let beside = |place: &SaveSlot| match place {
            SaveSlot::Beside(by) => Some(*by),
            SaveSlot::OnStack(_) => None,
        };
        let registers = self.registers.iter().filter_map(|(_, place)| beside(place));
        registers.chain(self.pcs.iter().copied()).min().unwrap_or(0).min(0)
    }

    /// The caller's stack pointer when the call has returned, by what was saved.
    pub fn caller_stack_pointer(&self, saved: Addr) -> Option<Addr> {
        saved.get().checked_add_signed(self.stack_pointer.checked_neg()?).map(Addr::new)
    }
}

/// A value by what it was made of: so much more than something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Value {
    pub(crate) of: Source,
    pub(crate) plus: i64,
}

/// What a value was made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// What a register held when the function was entered.
    Register(u16),
    /// The address that the function returns to.
    Return,
    /// Nothing: a number.
    Number,
    /// Something else, each with a number of its own.
    Unknown(u32),
}

impl Value {
    pub(crate) const fn register(number: u16) -> Self {
        Self { of: Source::Register(number), plus: 0 }
    }

    pub(crate) const fn number(value: u64) -> Self {
        Self { of: Source::Number, plus: value.cast_signed() }
    }

    pub(crate) const fn plus(self, by: i64) -> Self {
        Self { plus: self.plus.wrapping_add(by), ..self }
    }

    /// The address, if it is known.
    pub(crate) fn addr(self) -> Option<Addr> {
        (self.of == Source::Number).then(|| Addr::new(self.plus.cast_unsigned()))
    }
}

/// The state of a function that is followed. Registers have their numbers of the machine code.
pub(crate) struct Followed<'a> {
    space: &'a dyn AddressSpace,
    registers: [Value; 32],
    stack_pointer: u16,
    /// Addresses and what was stored there, oldest first.
    stores: Vec<(Value, Value)>,
    unknown: u32,
    /// Whether the stack pointer became one that was not made of the function's own.
    switched: bool,
}

impl<'a> Followed<'a> {
    /// At the entry of a function.
    pub(crate) fn at_entry(space: &'a dyn AddressSpace, stack_pointer: u16) -> Self {
        let registers = std::array::from_fn(|number| Value::register(number as u16));
        let stores = Vec::new();
        Self { space, registers, stack_pointer, stores, unknown: 0, switched: false }
    }

    pub(crate) const fn space(&self) -> &'a dyn AddressSpace {
        self.space
    }

    pub(crate) fn get(&self, register: u16) -> Value {
        let known = self.registers.get(usize::from(register)).copied();
        known.unwrap_or(Value::register(register))
    }

    pub(crate) fn set(&mut self, register: u16, value: Value) {
        let own = Source::Register(self.stack_pointer);
        self.switched |= register == self.stack_pointer && value.of != own;
        if let Some(slot) = self.registers.get_mut(usize::from(register)) {
            *slot = value;
        }
    }

    /// A value of which nothing is known.
    pub(crate) fn unknown(&mut self) -> Value {
        self.unknown = self.unknown.wrapping_add(1);
        Value { of: Source::Unknown(self.unknown), plus: 0 }
    }

    /// Something else is in a register.
    pub(crate) fn forget(&mut self, register: u16) {
        let value = self.unknown();
        self.set(register, value);
    }

    pub(crate) fn store(&mut self, at: Value, value: Value) {
        if self.stores.len() < MAX_STORES {
            self.stores.push((at, value));
        }
    }

    /// What was stored at an address, or lies there in memory if the address is known.
    pub(crate) fn load(&mut self, at: Value) -> Value {
        let stored = self.stores.iter().rev().find(|(place, _)| *place == at).map(|(_, it)| *it);
        let read = || self.space.read_register(at.addr()?).ok().map(Value::number);
        stored.or_else(read).unwrap_or_else(|| self.unknown())
    }

    /// What was left of the caller, if the function went to another stack and had saved its stack pointer beside
    /// it before. `caller` is the caller's stack pointer when the call has returned, less that at the entry.
    pub(crate) fn switch(
        &self,
        function: Addr,
        caller: i64,
        preserved: &[(u16, RegisterId)],
    ) -> Option<Switch> {
        let own = Source::Register(self.stack_pointer);
        let saves = |(at, value): &&(Value, Value)| value.of == own && at.of != own;
        let (slot, saved) = self.stores.iter().find(saves).filter(|_| self.switched)?;
        let places =
            StoredValues { stores: &self.stores, own, slot: *slot, saved: saved.plus, caller };
        let place =
            |(number, id): &(u16, RegisterId)| Some((*id, places.of(Value::register(*number))?));
        let returns = Value { of: Source::Return, plus: 0 };
        Some(Switch {
            function,
            stack_pointer: saved.plus.wrapping_sub(caller),
            returns: places.on_stack(returns).or_else(|| places.beside(returns))?,
            pcs: places.pcs(),
            registers: preserved.iter().filter_map(place).collect(),
        })
    }
}

/// Where values were stored.
struct StoredValues<'a> {
    stores: &'a [(Value, Value)],
    /// The function's own stack.
    own: Source,
    /// Where the stack pointer was saved, and what.
    slot: Value,
    saved: i64,
    caller: i64,
}

impl StoredValues<'_> {
    fn of(&self, value: Value) -> Option<SaveSlot> {
        self.beside(value).or_else(|| self.on_stack(value))
    }

    fn beside(&self, value: Value) -> Option<SaveSlot> {
        let is_beside = |(at, it): &&(Value, Value)| *it == value && at.of == self.slot.of;
        let (at, _) = self.stores.iter().find(is_beside)?;
        Some(SaveSlot::Beside(at.plus.wrapping_sub(self.slot.plus)))
    }

    /// Above the stack pointer that was saved: what lies below may be overwritten.
    fn on_stack(&self, value: Value) -> Option<SaveSlot> {
        let is_kept = |(at, it): &&(Value, Value)| {
            *it == value && at.of == self.own && at.plus >= self.saved.min(0)
        };
        let (at, _) = self.stores.iter().rev().find(is_kept)?;
        Some(SaveSlot::OnStack(at.plus.wrapping_sub(self.caller)))
    }

    /// Where addresses of code were saved beside the stack pointer, to go on at.
    fn pcs(&self) -> Vec<i64> {
        let is_pc = |(at, it): &&(Value, Value)| {
            let is_code = it.of == Source::Return || it.addr().is_some_and(|it| it.get() != 0);
            at.of == self.slot.of && is_code
        };
        let pcs = self.stores.iter().filter(is_pc);
        pcs.map(|(at, _)| at.plus.wrapping_sub(self.slot.plus)).collect()
    }
}
