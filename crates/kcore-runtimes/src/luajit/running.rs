//! The states that a native thread runs: what its registers and its stack hold leads to them.
//!
//! A state that runs has the place on the stack of C of the machine's innermost frame (`cframe`), and that has the state.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Frame, RegisterId, Tid};
use rustc_hash::FxHashSet;

use super::{
    memory::{Memory, pointer},
    state::{MachineFrame, State},
};
use crate::Host;

/// Registers of a machine, at most.
const MAX_REGISTERS: u16 = 64;
/// Bytes of a stack that are searched, at most.
const MAX_STACK: u64 = 4 << 20;
/// Bytes of a stack above a place that are searched for a frame of the machine: a trace uses less.
const MAX_TRACE: u64 = 16 << 10;

/// The states of LuaJIT that run on a stack, each with the frames of LuaJIT's machine on that stack, innermost first.
pub fn running(host: &dyn Host, tid: Tid, frames: &[Frame]) -> Vec<(State, Vec<MachineFrame>)> {
    let Some(stack) = extent(frames) else { return Vec::new() };
    let memory = Memory { space: host.space() };
    let mut known: FxHashSet<Addr> = FxHashSet::default();
    let mut found = Vec::new();
    for at in words(host, tid, stack) {
        let Some(at) = pointer(at).filter(|at| known.insert(*at)) else { continue };
        let Some(state) = State::at(host.space(), at) else { continue };
        let own = |machine: &MachineFrame| {
            stack.contains(machine.0) && machine.owner(&memory) == Some(state.at)
        };
        let machines: Vec<MachineFrame> = state.machines(&memory).into_iter().filter(own).collect();
        if !machines.is_empty() {
            found.push((state, machines));
        }
    }
    found.sort_by_key(|(_, machines)| machines.first().copied());
    found
}

/// The frame of the machine whose trace uses a place on the stack.
pub fn around(host: &dyn Host, sp: Addr) -> Option<MachineFrame> {
    let memory = Memory { space: host.space() };
    let held = host.space().read_held(sp, MAX_TRACE);
    let (held, _) = held.as_chunks::<8>();
    let places = (0_u64..).step_by(8).zip(held);
    let is_frame = |(offset, word): (u64, &[u8; 8])| {
        let at = pointer(u64::from_le_bytes(*word))?;
        // The state lies in it behind two words.
        let frame = MachineFrame(sp.checked_add(offset)?.get().checked_sub(16).map(Addr::new)?);
        (frame.0 >= sp).then_some(())?;
        let state = State::at(host.space(), at)?;
        state.machines(&memory).contains(&frame).then_some(frame)
    };
    { places }.find_map(is_frame)
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
    let registers = (0..MAX_REGISTERS).filter_map(|number| regs.as_ref()?.get(RegisterId(number)));
    let held = host.space().read_held(stack.start, stack.len().min(MAX_STACK));
    let (held, _) = held.as_chunks::<8>();
    registers.chain(held.iter().map(|word| u64::from_le_bytes(*word))).collect()
}
