//! The states that a native thread runs: what its registers and its stack hold leads to them.
//!
//! Lua keeps no list of what runs where. But each function of it has its state in a register or on the stack, and a
//! state that runs has the place on that stack of the protected call that it is in (`lua_longjmp` of `ldo.c`).

use std::ops::Range;

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Frame, RegisterId, Tid};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Lua,
    memory::{Memory, pointer},
    state::{Activity, State},
};
use crate::{Host, thread_stack::holder};

/// Registers of a machine, at most.
const MAX_REGISTERS: u16 = 64;
/// Bytes of a stack that are searched, at most.
const MAX_STACK: u64 = 4 << 20;
/// How many protected calls (`lua_pcall`) may be nested; deeper ones are not followed.
const MAX_PROTECTED: usize = 1 << 16;

/// A state that runs on a stack, and the native frames that may be its own.
#[derive(Clone, Debug)]
pub struct Running {
    /// It.
    pub state: State,
    /// Indices of native frames.
    pub window: Range<usize>,
}

impl Lua {
    /// What runs on a stack, innermost first.
    pub(super) fn running(&self, host: &dyn Host, tid: Tid, frames: &[Frame]) -> Vec<Running> {
        if !frames.iter().any(|frame| self.module.contains(frame.pc.lookup())) {
            return Vec::new();
        }
        let Some(stack) = extent(frames) else { return Vec::new() };
        let mut states: Vec<(Option<Addr>, State)> = self
            .states_in(host, words(host, tid, stack))
            .into_iter()
            .filter_map(|state| Some((self.place(host, frames, &stack, &state)?, state)))
            .collect();
        // The outer one lies higher; one that nothing protects is the outermost.
        states.sort_by_key(|(at, state)| (at.is_none(), *at, state.at));
        let mut start = 0;
        let windows = states.into_iter().map(|(at, state)| {
            let last = at.and_then(|at| outermost(&state.memory(host.space()), &stack, at));
            let end = last.and_then(|at| holder(frames, at)).map(|place| place.saturating_add(1));
            let window = start..end.unwrap_or(frames.len()).max(start);
            start = window.end;
            Running { state, window }
        });
        windows.collect()
    }

    /// The states of this module that words lead to.
    pub(super) fn states_in(
        &self,
        host: &dyn Host,
        words: impl IntoIterator<Item = u64>,
    ) -> Vec<State> {
        let mut known: FxHashSet<u64> = FxHashSet::default();
        let mut states: FxHashMap<Addr, State> = FxHashMap::default();
        for word in words {
            let Some(at) = pointer(word).filter(|_| known.insert(word)) else { continue };
            if let Some(state) = State::at(host.space(), at).filter(|state| self.is_own(state)) {
                states.insert(state.main, State { at: state.main, ..state });
                states.insert(at, state);
            }
        }
        let mut states: Vec<State> = states.into_values().collect();
        states.sort_by_key(|state| state.at);
        states
    }

    /// Where the protected call lies that a state is in, if the state runs on this stack.
    fn place(
        &self,
        host: &dyn Host,
        frames: &[Frame],
        stack: &AddrRange,
        state: &State,
    ) -> Option<Option<Addr>> {
        let memory = state.memory(host.space());
        (state.activity(&memory)? == Activity::Active).then_some(())?;
        let Some(at) = state.protected(&memory) else { return Some(None) };
        // Another module may have a copy of Lua.
        let frame = frames.get(holder(frames, at).filter(|_| stack.contains(at))?)?;
        self.module.contains(frame.pc.lookup()).then_some(Some(at))
    }
}

/// The outermost of the protected calls that a state is in.
fn outermost(memory: &Memory<'_>, stack: &AddrRange, innermost: Addr) -> Option<Addr> {
    let mut at = innermost;
    for _ in 0..MAX_PROTECTED {
        // `previous`: it lies higher on the stack.
        match memory.pointer(at, 0).filter(|outer| *outer > at && stack.contains(*outer)) {
            Some(outer) => at = outer,
            None => return Some(at),
        }
    }
    None
}

/// The part of the stack that frames use.
fn extent(frames: &[Frame]) -> Option<AddrRange> {
    let start = frames.first()?.sp?;
    let end = frames.iter().rev().find_map(|frame| frame.cfa.or(frame.sp))?;
    (start < end).then(|| AddrRange::new(start, end))
}

/// The words of a thread's registers and of its stack.
fn words(host: &dyn Host, tid: Tid, stack: AddrRange) -> Vec<u64> {
    let regs = host.registers(tid);
    let registers = (0..MAX_REGISTERS).filter_map(|number| regs?.get(RegisterId(number)));
    let held = host.space().read_held(stack.start, stack.len().min(MAX_STACK));
    let (held, _) = held.as_chunks::<8>();
    registers.chain(held.iter().map(|word| u64::from_le_bytes(*word))).collect()
}
