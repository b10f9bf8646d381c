//! The caller's registers by what a function's instructions did to the stack, for code that has
//! no call frame information: hand-written assembly, C libraries built without it.
//!
//! The instructions are followed in address order. Where control does not flow from one to the
//! next, the state comes from a branch that leads there, else from the deepest state seen, which
//! is that of the body between prologue and epilogue. Where no branch leads beyond a return, the
//! next function begins, so the trace may start at any function before the one that is wanted.

use std::collections::HashMap;

use kcore_mem::{Addr, AddrRange, AddressSpace, Cursor};

use super::{
    decode::{Effect, Transfer, effect_of, is_call},
    regs::{SP, X29, X30},
};
use crate::{Reading, RegisterId, Regs, reading::MAX_CODE};

/// Registers that a callee preserves, and the return address.
const PRESERVED: std::ops::RangeInclusive<u16> = 19..=30;
const WORD: usize = 4;
/// Other readings of the code that are tried.
const MAX_RESTARTS: usize = 8;

/// Where things lie, relative to the CFA, which is the stack pointer at the function's entry.
#[derive(Clone, PartialEq, Eq, Debug)]
struct State(Reading);

impl State {
    fn at_entry() -> Self {
        Self(Reading { sp: Some(0), ..Reading::NOTHING })
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Move(by) => self.move_by(by),
            Effect::SetFrame(by) => self.0.fp = self.0.sp.map(|sp| sp.wrapping_add(by)),
            Effect::FromFrame(by) => self.0.sp = self.0.fp.map(|fp| fp.wrapping_add(by)),
            Effect::Unknown => self.0.sp = None,
            Effect::LoseFrame => self.0.fp = None,
            Effect::Transfer(transfer) => self.transfer(transfer),
            Effect::Switch => self.0.switched = true,
            Effect::None | Effect::Branch(_) | Effect::Jump(_) | Effect::Stop => {}
        }
    }

    fn move_by(&mut self, by: i64) {
        self.0.sp = self.0.sp.map(|sp| sp.wrapping_add(by));
    }

    fn transfer(&mut self, transfer: Transfer) {
        let [before, after] = transfer.base_change;
        if transfer.from_frame && before.wrapping_add(after) != 0 {
            self.0.fp = None;
            return;
        }
        self.move_by(before);
        let base = if transfer.from_frame { self.0.fp } else { self.0.sp };
        let slots = [transfer.offset, transfer.offset.wrapping_add(8)];
        for (register, offset) in transfer.registers.into_iter().zip(slots) {
            let slot = base.map(|base| base.wrapping_add(offset));
            if let (Some(register), Some(slot)) = (register, slot) {
                self.access(register, slot, transfer.load);
            }
        }
        self.move_by(after);
    }

    /// The first store of a register that a callee preserves saves the caller's value; a load
    /// from there gives it back.
    fn access(&mut self, register: u16, slot: i64, load: bool) {
        if load {
            self.0.saved.retain(|saved| *saved != (register, slot));
            if register == X29.0 {
                self.0.fp = None;
            }
        } else if PRESERVED.contains(&register)
            && slot < 0
            && !self.0.saved.iter().any(|(known, _)| *known == register)
        {
            self.0.saved.push((register, slot));
        }
    }

    fn is_deeper_than(&self, other: &Self) -> bool {
        match (self.0.sp, other.0.sp) {
            (Some(own), Some(theirs)) => {
                own < theirs || (own == theirs && self.0.saved.len() >= other.0.saved.len())
            }
            _ => false,
        }
    }
}

/// All ways to read the code from the start of `function` up to `pc`, the likeliest first: from what
/// looks like the start of a function behind a call that does not return, or from the start of
/// `function`.
pub fn read_code(pc: Addr, function: AddrRange, space: &dyn AddressSpace) -> Vec<Reading> {
    let Some(code) = instructions(pc, function.start, space) else { return Vec::new() };
    let mut trace = Trace::default();
    let whole = trace.run(&code, 0);
    let restarts = trace.restarts.iter().rev().take(MAX_RESTARTS);
    let states = restarts.map(|start| Trace::default().run(&code, *start));
    states.chain([whole]).map(|state| state.0).collect()
}

/// The caller's registers and the CFA, or `None` where the code does not tell.
pub fn caller_by_code(
    regs: &Regs,
    readings: &[Reading],
    space: &dyn AddressSpace,
    is_plausible: &dyn Fn(&Regs, Addr) -> bool,
) -> Option<(Regs, Addr)> {
    let mut callers = readings.iter().filter_map(|state| caller_of(state, regs, space));
    callers.find(|(caller, cfa)| is_plausible(caller, *cfa))
}

/// The instructions from `start` up to the pc; `None` when it is far away or they have no bytes.
fn instructions(pc: Addr, start: Addr, space: &dyn AddressSpace) -> Option<Vec<u32>> {
    let len = pc.offset_from(start).filter(|len| *len <= MAX_CODE)?;
    let mut bytes = vec![0; usize::try_from(len).ok()?];
    space.read(start, &mut bytes).ok()?;
    let mut cursor = Cursor::new(&bytes, space.target());
    let count = bytes.len().checked_div(WORD)?;
    (0..count).map(|_| cursor.u32().ok()).collect()
}

fn caller_of(state: &Reading, regs: &Regs, space: &dyn AddressSpace) -> Option<(Regs, Addr)> {
    let cfa = match (state.sp, state.fp) {
        (Some(sp), _) => regs.get(SP)?.wrapping_sub_signed(sp),
        (None, Some(fp)) => regs.get(X29)?.wrapping_sub_signed(fp),
        (None, None) => return None,
    };
    let slot = |offset: i64| space.read_word(Addr::new(cfa.wrapping_add_signed(offset))).ok();
    let return_slot = state.saved.iter().find(|(register, _)| *register == X30.0);
    let pc = match return_slot {
        Some((_, offset)) => slot(*offset)?,
        None => regs.get(X30)?,
    };
    let mut caller = regs.with_pc(Addr::new(pc));
    super::regs::forget_scratch(&mut caller);
    for (register, offset) in &state.saved {
        caller.set(RegisterId(*register), slot(*offset));
    }
    caller.set(SP, Some(cfa));
    Some((caller, Addr::new(cfa)))
}

/// Whether functions begin with such an instruction: x29 and x30 are pushed, or the return address is
/// signed, or a landing pad waits for indirect calls.
const fn begins_function(word: u32) -> bool {
    word & 0xffc0_7fff == 0xa980_7bfd || matches!(word, 0xd503_233f | 0xd503_237f | 0xd503_245f)
}

struct Trace {
    state: State,
    deepest: State,
    /// The state that a branch carries to an instruction further on, by its index.
    carried: HashMap<usize, State>,
    /// The furthest instruction to which a branch of this function leads.
    furthest: usize,
    flow: Flow,
    /// Where a function may begin, behind a call that need not return.
    restarts: Vec<usize>,
}

/// How control comes to an instruction from the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    /// It goes on.
    Continues,
    /// It does not, but the function has more code.
    Broken,
    /// It does not, and the function ends unless a branch leads further.
    Stopped,
}

impl Default for Trace {
    fn default() -> Self {
        let entry = State::at_entry();
        Self {
            state: entry.clone(),
            deepest: entry,
            carried: HashMap::new(),
            furthest: 0,
            flow: Flow::Continues,
            restarts: Vec::new(),
        }
    }
}

impl Trace {
    /// Follows `code` from instruction `start` on; gives the state behind it.
    fn run(&mut self, code: &[u32], start: usize) -> State {
        let mut after_call = false;
        for (at, word) in code.iter().enumerate().skip(start) {
            if after_call && begins_function(*word) && self.furthest < at {
                self.restarts.push(at);
            }
            after_call = is_call(*word);
            self.step(at, *word);
        }
        self.enter(code.len());
        self.state.clone()
    }

    fn step(&mut self, at: usize, word: u32) {
        self.enter(at);
        let effect = effect_of(word);
        self.state.apply(effect);
        if self.state.is_deeper_than(&self.deepest) {
            self.deepest = self.state.clone();
        }
        match effect {
            Effect::Branch(by) => self.carry(at, by),
            // With nothing left on the stack it is a call that ends the function.
            Effect::Jump(Some(_)) if self.state == State::at_entry() => self.flow = Flow::Stopped,
            Effect::Jump(Some(by)) => {
                self.carry(at, by);
                self.flow = Flow::Stopped;
            }
            Effect::Jump(None) => self.flow = Flow::Broken,
            Effect::Stop => self.flow = Flow::Stopped,
            _ => {}
        }
    }

    /// Takes the state with which control comes to instruction `at`.
    fn enter(&mut self, at: usize) {
        let carried = self.carried.remove(&at);
        let flow = std::mem::replace(&mut self.flow, Flow::Continues);
        if flow == Flow::Continues {
            return;
        }
        if let Some(state) = carried {
            self.state = state;
        } else if self.furthest >= at || flow == Flow::Broken {
            self.state = self.deepest.clone();
        } else {
            self.state = State::at_entry();
            self.deepest = State::at_entry();
        }
    }

    fn carry(&mut self, at: usize, by: i64) {
        let words = by.checked_div(WORD as i64).and_then(|words| isize::try_from(words).ok());
        let Some(to) = words.filter(|words| *words > 0).and_then(|by| at.checked_add_signed(by))
        else {
            return;
        };
        self.furthest = self.furthest.max(to);
        self.carried.entry(to).or_insert_with(|| self.state.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; cbz x0, +16; ldr x19, [sp,
    /// #16]; ldp x29, x30, [sp], #32; ret; bl`.
    const FUNCTION: [u32; 8] = [
        0xa9be_7bfd,
        0x9100_03fd,
        0xf900_0bf3,
        0xb400_0080,
        0xf940_0bf3,
        0xa8c2_7bfd,
        0xd65f_03c0,
        0x9400_0000,
    ];

    fn state(sp: i64, fp: Option<i64>, saved: &[(u16, i64)]) -> State {
        State(Reading { sp: Some(sp), fp, saved: saved.to_vec(), ..Reading::NOTHING })
    }

    fn state_at(count: usize) -> State {
        Trace::default().run(&FUNCTION[..count], 0)
    }

    #[test]
    fn the_stack_is_followed_through_prologue_body_and_epilogue() {
        assert_eq!(state_at(0), State::at_entry());
        let pushed = vec![(29, -32), (30, -24)];
        assert_eq!(state_at(1), state(-32, None, &pushed));
        assert_eq!(state_at(2), state(-32, Some(-32), &pushed));
        assert_eq!(state_at(6), state(0, None, &[]));
    }

    #[test]
    fn code_behind_a_return_has_the_state_of_the_branch_to_it() {
        let saved = vec![(29, -32), (30, -24), (19, -16)];
        assert_eq!(state_at(7), state(-32, Some(-32), &saved));
    }

    #[test]
    fn code_behind_a_return_to_which_nothing_leads_is_another_function() {
        let code = [0xd100_83ff, 0xd65f_03c0];
        assert_eq!(Trace::default().run(&code, 0), State::at_entry());
    }

    #[test]
    fn a_call_that_ends_a_function_carries_nothing_into_the_next() {
        // stp x29, x30, [sp, #-32]!; ldp x29, x30, [sp], #32; b +64; stp x29, x30, [sp, #-48]!
        let code = [0xa9be_7bfd, 0xa8c2_7bfd, 0x1400_0010, 0xa9bd_7bfd];
        let pushed = [(29, -48), (30, -40)];
        assert_eq!(Trace::default().run(&code, 0), state(-48, None, &pushed));
    }

    #[test]
    fn behind_a_call_that_does_not_return_a_function_may_begin() {
        // stp x29, x30, [sp, #-32]!; bl; stp x29, x30, [sp, #-48]!
        let code = [0xa9be_7bfd, 0x9400_0010, 0xa9bd_7bfd];
        let mut trace = Trace::default();
        trace.run(&code, 0);
        assert_eq!(trace.restarts, [2]);
        let again = Trace::default().run(&code, 2);
        assert_eq!(again, state(-48, None, &[(29, -48), (30, -40)]));
    }

    /// Leaves the stack as Boost.Context and bRPC do on this machine, with two registers and the return address.
    #[test]
    fn another_stack_has_what_was_saved_on_this_one() {
        let code = [
            0xd102_c3ff, // sub sp, sp, #0xb0
            0xa904_53f3, // stp x19, x20, [sp, #0x40]
            0xa909_7bfd, // stp x29, x30, [sp, #0x90]
            0x9100_03e4, // mov x4, sp
            0x9100_003f, // mov sp, x1
            0xa944_53f3, // ldp x19, x20, [sp, #0x40]
            0xa949_7bfd, // ldp x29, x30, [sp, #0x90]
            0x9102_c3ff, // add sp, sp, #0xb0
        ];
        let after = |count: usize| Trace::default().run(&code[..count], 0).0;
        assert!(!after(4).switched && after(5).switched && after(8).switched);
        let saved = vec![(19, -0x70), (20, -0x68), (29, -0x20), (30, -0x18)];
        assert_eq!((after(5).sp, after(5).saved), (Some(-0xb0), saved));
        assert_eq!((after(8).sp, after(8).saved), (Some(0), Vec::new()));
    }
}
