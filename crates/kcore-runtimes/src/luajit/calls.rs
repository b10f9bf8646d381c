//! The calls of a state: frames of `lj_frame.h`, as `lj_debug_frame` and `debug_framepc` of `lj_debug.c` go over them.

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    memory::{Function, Memory, Value},
    proto::Proto,
    state::{MachineFrame, State},
};

/// `FRAME_LUA` and so on, and what tells them.
const TYPE: u64 = 3;
const LONG_TYPE: u64 = 7;
const C: u64 = 1;
const CONTINUATION: u64 = 2;
const VARIADIC: u64 = 3;
/// `LJ_CONT_FFI_CALLBACK`.
const CALLBACK: u64 = 1;
/// Bytes of a slot.
const SLOT: u64 = 8;
/// Calls of one state, at most.
const MAX_CALLS: usize = 1 << 20;

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Where its frame lies on the stack of values: right before its variables.
    pub at: Addr,
    /// The function.
    pub closure: Addr,
    /// What that is; `None` where it cannot be read.
    pub function: Option<Function>,
    /// Its code, of a function of Lua.
    pub proto: Option<Proto>,
    /// Its instruction, if that is known.
    pub index: Option<u64>,
    /// The frame of the machine on the stack of C that it runs in.
    pub machine: Option<MachineFrame>,
}

/// The calls of a state, innermost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// They.
    pub all: Vec<Call>,
    /// Why they end before the outermost.
    pub broken: Option<&'static str>,
}

/// The way over the frames of a state.
struct Walk<'a> {
    memory: &'a Memory<'a>,
    state: &'a State,
    stack: Addr,
    at: Addr,
    machine: Option<MachineFrame>,
    /// The frame inside of the one that is looked at.
    inner: Option<Addr>,
    /// Where the innermost function goes on, if that is known.
    next: Option<u64>,
    protos: FxHashMap<Addr, Option<Proto>>,
}

impl Calls {
    /// Those of a state.
    pub fn of(memory: &Memory<'_>, state: &State) -> Self {
        Self::from_place(memory, state, state.base(memory), None)
    }

    /// Those of a state whose innermost call has its variables from a place on, and goes on at an instruction.
    pub fn from_place(
        memory: &Memory<'_>,
        state: &State,
        base: Option<Addr>,
        next: Option<u64>,
    ) -> Self {
        let mut calls = Self::default();
        if calls.walk(memory, state, base, next).is_none() {
            calls.broken = Some("its calls are damaged, or were not dumped");
        }
        calls
    }

    fn walk(
        &mut self,
        memory: &Memory<'_>,
        state: &State,
        base: Option<Addr>,
        next: Option<u64>,
    ) -> Option<()> {
        let stack = state.stack(memory)?;
        let at = Addr::new(base?.get().checked_sub(SLOT)?);
        let mut walk = Walk {
            memory,
            state,
            stack,
            at,
            machine: state.machine(memory),
            inner: None,
            next,
            protos: FxHashMap::default(),
        };
        let bottom = stack.checked_add(SLOT)?;
        let mut is_pseudo = false;
        while walk.at > bottom {
            (self.all.len() < MAX_CALLS).then_some(())?;
            walk.leave_floors()?;
            if !is_pseudo {
                self.all.extend(walk.call()?);
            }
            is_pseudo = memory.word(walk.at, 0)? & LONG_TYPE == VARIADIC;
            walk.step()?;
        }
        Some(())
    }
}

impl Walk<'_> {
    /// Leaves frames of the machine that run nothing here.
    fn leave_floors(&mut self) -> Option<()> {
        while let Some(machine) = self.machine {
            let Some(floor) = machine.floor(self.memory) else { return Some(()) };
            if self.at >= self.stack.checked_add(floor)? {
                return Some(());
            }
            self.machine = machine.outer(self.memory).filter(|outer| *outer > machine);
        }
        Some(())
    }

    /// The call of the frame; `Some(None)` of one that only marks what is no function.
    fn call(&mut self) -> Option<Option<Call>> {
        let closure = Value(self.memory.word(self.before(1)?, 0)?).address();
        if closure == self.state.at {
            return Some(None);
        }
        let function = self.memory.function(closure);
        let proto = match function {
            Some(Function::Lua(at)) => {
                let memory = self.memory;
                self.protos.entry(at).or_insert_with(|| Proto::load(memory, at)).clone()
            }
            _ => None,
        };
        let index = proto.as_ref().and_then(|proto| proto.index(self.memory, self.instruction()?));
        Some(Some(Call { at: self.at, closure, function, proto, index, machine: self.machine }))
    }

    fn before(&self, slots: u64) -> Option<Addr> {
        self.at.get().checked_sub(slots.checked_mul(SLOT)?).map(Addr::new)
    }

    /// Where the function of the frame goes on.
    fn instruction(&self) -> Option<u64> {
        let stored = || self.machine?.instruction(self.memory);
        let Some(inner) = self.inner else { return self.next.or_else(stored) };
        let word = self.memory.word(inner, 0)?;
        match word & LONG_TYPE {
            _ if word & TYPE == 0 => Some(word),
            CONTINUATION => self.memory.word(Addr::new(inner.get().checked_sub(2 * SLOT)?), 0),
            _ => stored(),
        }
    }

    /// Goes to the frame outside.
    fn step(&mut self) -> Option<()> {
        let word = self.memory.word(self.at, 0)?;
        let size = match word & TYPE {
            0 => {
                let call = self.memory.uint(Addr::new(word.checked_sub(4)?), 0, 4)?;
                (call >> 8 & 0xff).checked_add(2)?.checked_mul(SLOT)?
            }
            _ => word & !LONG_TYPE,
        };
        let is_callback = || {
            word & LONG_TYPE == CONTINUATION
                && self.before(3).and_then(|at| self.memory.word(at, 0)) == Some(CALLBACK)
        };
        if word & TYPE == C || is_callback() {
            let outer = self
                .machine
                .and_then(|machine| machine.outer(self.memory).filter(|outer| *outer > machine));
            self.machine = outer;
        }
        (size > 0).then_some(())?;
        self.inner = Some(self.at);
        self.at = self.at.get().checked_sub(size).map(Addr::new).filter(|at| *at >= self.stack)?;
        Some(())
    }
}
