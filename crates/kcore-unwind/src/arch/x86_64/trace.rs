//! The caller's registers by what a function's instructions did to the stack, for code that has
//! no call frame information: hand-written assembly, C libraries built without it.
//!
//! The instructions are followed in address order. Where control does not flow from one to the
//! next, the state comes from a branch that leads there, else from the deepest state seen, which
//! is that of the body between prologue and epilogue.

use std::collections::HashMap;

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{
    decode::{MAX_LEN, decode},
    regs::{RBP, RSP},
    stack_effect::{Effect, effect_of},
};
use crate::{RegisterId, Regs};

/// Code that is followed, at most, in bytes.
const MAX_CODE: u64 = 64 << 10;
/// Places of saved registers that are remembered: a function saves each of six once.
const MAX_SAVED: usize = 6;
const CALLEE_SAVED: [u16; 6] = [3, 6, 12, 13, 14, 15];

/// Where things lie, relative to the CFA.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State {
    /// The stack pointer, if the code tells.
    sp: Option<i64>,
    /// The frame pointer, if it was set from the stack pointer.
    fp: Option<i64>,
    /// Registers that were pushed.
    saved: Vec<(u16, i64)>,
}

impl State {
    /// Right after the call: the return address is the last word below the CFA.
    const fn at_entry() -> Self {
        Self { sp: Some(-8), fp: None, saved: Vec::new() }
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Push(register) => self.push(register),
            Effect::Pop(register) => self.pop(register),
            Effect::Move(by) => self.move_by(by),
            Effect::SetFrame => self.fp = self.sp,
            Effect::FromFrame(offset) => {
                self.sp = self.fp.map(|fp| fp.wrapping_add(offset));
            }
            Effect::Leave => {
                self.sp = self.fp;
                self.pop(Some(RBP.0));
            }
            Effect::Unknown => self.sp = None,
            Effect::LoseFrame => self.fp = None,
            Effect::None | Effect::Branch(_) | Effect::Jump(_) | Effect::Stop => {}
        }
    }

    fn move_by(&mut self, by: i64) {
        self.sp = self.sp.map(|sp| sp.wrapping_add(by));
    }

    /// The first push of a register that a callee preserves saves the caller's value.
    fn push(&mut self, register: Option<u16>) {
        self.move_by(-8);
        let preserved = register.filter(|register| CALLEE_SAVED.contains(register));
        let known = |register| self.saved.iter().any(|(number, _)| *number == register);
        if let (Some(register), Some(sp)) = (preserved, self.sp)
            && self.saved.len() < MAX_SAVED
            && !known(register)
        {
            self.saved.push((register, sp));
        }
    }

    fn pop(&mut self, register: Option<u16>) {
        let from = self.sp;
        if let Some(register) = register {
            self.saved.retain(|(number, at)| *number != register || Some(*at) != from);
        }
        if register == Some(RBP.0) {
            self.fp = None;
        }
        self.move_by(8);
    }

    fn is_deeper_than(&self, other: &Self) -> bool {
        matches!((self.sp, other.sp), (Some(own), Some(theirs)) if own < theirs)
    }
}

/// The caller's registers and the CFA, or `None` where the code does not tell.
pub fn caller_by_code(
    regs: &Regs,
    function: AddrRange,
    space: &dyn AddressSpace,
) -> Option<(Regs, Addr)> {
    let state = state_at(regs.pc(), function, space)?;
    let cfa = match (state.sp, state.fp) {
        (Some(sp), _) => regs.get(RSP)?.wrapping_sub_signed(sp),
        (None, Some(fp)) => regs.get(RBP)?.wrapping_sub_signed(fp),
        (None, None) => return None,
    };
    let slot = |offset: i64| space.read_word(Addr::new(cfa.wrapping_add_signed(offset)));
    let mut caller = regs.with_pc(Addr::new(slot(-8).ok()?));
    super::regs::forget_scratch(&mut caller);
    caller.set(RSP, Some(cfa));
    for (register, offset) in &state.saved {
        caller.set(RegisterId(*register), slot(*offset).ok());
    }
    Some((caller, Addr::new(cfa)))
}

/// Follows the code of `function` up to `pc`. `None` when that is far, not readable, or not on the
/// boundary of an instruction.
fn state_at(pc: Addr, function: AddrRange, space: &dyn AddressSpace) -> Option<State> {
    let len = pc.offset_from(function.start).filter(|len| *len <= MAX_CODE)?;
    let mut code = vec![0; usize::try_from(len).ok()?.checked_add(MAX_LEN)?];
    let (read, _) = space.read_partial(function.start, &mut code);
    code.truncate(read);
    let len = usize::try_from(len).ok()?;
    let mut trace = Trace::default();
    let mut at = 0;
    while at < len {
        at = trace.step(code.get(at..)?, at)?;
    }
    (at == len).then(|| trace.state_before(at))
}

struct Trace {
    state: State,
    deepest: State,
    /// The state that a branch carries to an offset further on.
    carried: HashMap<usize, State>,
    /// Whether control does not flow here from the instruction before.
    broken: bool,
}

impl Default for Trace {
    fn default() -> Self {
        let entry = State::at_entry();
        let carried = HashMap::new();
        Self { state: entry.clone(), deepest: entry, carried, broken: false }
    }
}

impl Trace {
    /// Applies the instruction at offset `at`; gives the offset of the next.
    fn step(&mut self, code: &[u8], at: usize) -> Option<usize> {
        let found = decode(code)?;
        let next = at.checked_add(found.len)?;
        let effect = effect_of(&found);
        self.state = self.state_before(at);
        self.state.apply(effect);
        if self.state.is_deeper_than(&self.deepest) {
            self.deepest = self.state.clone();
        }
        match effect {
            Effect::Branch(by) => self.carry(next, by),
            Effect::Jump(Some(by)) => self.carry(next, by),
            _ => {}
        }
        self.broken = matches!(effect, Effect::Jump(_) | Effect::Stop);
        Some(next)
    }

    fn state_before(&self, at: usize) -> State {
        if !self.broken {
            return self.state.clone();
        }
        self.carried.get(&at).unwrap_or(&self.deepest).clone()
    }

    fn carry(&mut self, next: usize, by: i64) {
        let target = (next as i64).checked_add(by).and_then(|at| usize::try_from(at).ok());
        if let Some(target) = target.filter(|target| *target >= next) {
            self.carried.entry(target).or_insert_with(|| self.state.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kcore_mem::{Fault, Origin, Region, Target};

    /// Code at 0x1000, a stack of counting words at 0x8000.
    struct Memory(Vec<u8>, Vec<u8>);

    impl AddressSpace for Memory {
        fn target(&self) -> Target {
            Target::X86_64
        }

        fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
            let (base, bytes) =
                if at.get() < 0x8000 { (0x1000, &self.0) } else { (0x8000, &self.1) };
            let offset = at.get().checked_sub(base).ok_or(Fault::Unmapped(at))?;
            bytes.get(offset as usize..).filter(|rest| !rest.is_empty()).ok_or(Fault::Unmapped(at))
        }

        fn origin(&self, _: Addr) -> Result<Origin, Fault> {
            Ok(Origin::Core)
        }

        fn regions(&self) -> Vec<Region> {
            Vec::new()
        }
    }

    /// Runs the trace with the stack pointer at 0x8000 and the pc `at` bytes into `code`.
    fn caller(code: &[u8], at: u64) -> Option<(Regs, Addr)> {
        let stack = (0..64_u64).flat_map(|word| (0x100 + word).to_le_bytes()).collect();
        let memory = Memory(code.to_vec(), stack);
        let mut regs = Regs::new(Addr::new(0x1000 + at));
        regs.set(RSP, Some(0x8000));
        regs.set(RBP, Some(0x8040));
        caller_by_code(&regs, AddrRange::with_len(Addr::new(0x1000), 0x100), &memory)
    }

    #[test]
    fn pushes_and_a_moved_stack_pointer_are_undone() {
        // push %rbx; sub $0x10,%rsp; nop
        let code = [0x53, 0x48, 0x83, 0xec, 0x10, 0x90];
        let (regs, cfa) = caller(&code, 5).unwrap();
        assert_eq!(cfa, Addr::new(0x8020));
        assert_eq!(regs.pc(), Addr::new(0x103), "third word above the locals");
        assert_eq!(regs.get(RegisterId(3)), Some(0x102), "rbx as pushed");
        assert_eq!(caller(&code, 0).unwrap().1, Addr::new(0x8008), "at entry");
    }

    #[test]
    fn code_behind_an_early_return_has_the_state_of_the_branch_to_it() {
        // push %rbx; je +2; pop %rbx; ret; nop
        let code = [0x53, 0x74, 0x02, 0x5b, 0xc3, 0x90, 0x90];
        let (regs, cfa) = caller(&code, 6).unwrap();
        assert_eq!(cfa, Addr::new(0x8010));
        assert_eq!(regs.get(RegisterId(3)), Some(0x100));
    }

    #[test]
    fn a_realigned_stack_is_found_by_its_frame_pointer() {
        // push %rbp; mov %rsp,%rbp; and $-16,%rsp; nop
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xf0, 0x90];
        let (regs, cfa) = caller(&code, 8).unwrap();
        assert_eq!(cfa, Addr::new(0x8050));
        assert_eq!(regs.get(RBP), Some(0x108));
    }

    #[test]
    fn a_pc_inside_an_instruction_is_no_place_to_trace_to() {
        assert!(caller(&[0x48, 0x83, 0xec, 0x10, 0x90], 2).is_none());
        assert!(caller(&[0x53], 40).is_none());
    }
}
