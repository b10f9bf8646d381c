//! Contexts whose registers lie in a structure beside the stack, as libco and its like write them: each library has
//! a layout of its own, and the code of its switch tells it.

use std::sync::{Arc, PoisonError, RwLock};

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_unwind::{Machine, Modules, Regs, Switch};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    ContextShape,
    code_words::{CodeWords, Pages},
    made::Made,
    shape::Shaped,
};
use crate::Core;

/// Bytes of the stack from its saved pointer on, and of the structure on either side of it, among which the
/// return address lies.
const NEAR: u64 = 128;
/// A word below the stack pointer, where a call has pushed it.
const WORD: u64 = 8;
/// What is left of a caller, by return address: so many are remembered.
const MAX_KNOWN: usize = 1 << 20;

/// Looks for contexts beside stacks.
pub struct Beside<'a> {
    core: &'a Core,
    machine: &'a dyn Machine,
    words: CodeWords<'a>,
    known: RwLock<FxHashMap<Addr, Option<Arc<Switch>>>>,
}

impl<'a> Beside<'a> {
    pub fn new(core: &'a Core, machine: &'a dyn Machine) -> Self {
        let words = CodeWords::new(core, machine);
        Self { core, machine, words, known: RwLock::default() }
    }

    /// The contexts in memory: those that were left, and those that were made by the same libraries and did not
    /// run.
    pub fn find(&self, memory: &[AddrRange]) -> Vec<Shaped> {
        let pages = self.words.pages(memory);
        let mut found = self.core.each_word(memory, |at, word| self.left(at, word, &pages));
        let switches = self.switches();
        let made = Made { core: self.core, machine: self.machine, words: &self.words };
        found.extend(self.core.each_word(memory, |at, word| made.at(at, word, &switches)));
        found
    }

    /// What was left where a word is the stack pointer that a switch saved: where the call is which led to the
    /// switch, the address it returns to must lie just where that switch leaves it.
    fn left(&self, slot: Addr, word: u64, pages: &Pages) -> Option<Shaped> {
        let is_near = || pages.hold(word) || pages.hold(word.wrapping_add(NEAR));
        (word.is_multiple_of(WORD) && word >= NEAR && is_near()).then_some(())?;
        let saved = Addr::new(word);
        let on_stack = near(self.core, Addr::new(word.wrapping_sub(WORD)), NEAR);
        let beside = self.machine.link_register().map(|_| {
            near(self.core, Addr::new(slot.get().saturating_sub(NEAR)), NEAR.saturating_mul(2))
        });
        let mut places = on_stack.into_iter().chain(beside.into_iter().flatten());
        places.find_map(|(place, word)| {
            let switch = self.switch_before(self.words.return_address(word)?)?;
            let is_there = switch.resolve(switch.returns, slot, saved) == Some(place);
            is_there.then(|| read(self.core, self.machine, &switch, slot, word))?
        })
    }

    /// What the call before a return address leaves, remembered.
    fn switch_before(&self, returns_to: Addr) -> Option<Arc<Switch>> {
        if let Some(known) =
            self.known.read().unwrap_or_else(PoisonError::into_inner).get(&returns_to)
        {
            return known.clone();
        }
        let caller = Modules::function_before(self.core.modules(), returns_to);
        let found = self.machine.switch_before(returns_to, caller, self.core.space());
        let found = found.map(Arc::new);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MAX_KNOWN {
            known.insert(returns_to, found.clone());
        }
        found
    }

    /// The switches that were met.
    fn switches(&self) -> Vec<Arc<Switch>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut functions = FxHashSet::default();
        let met = known.values().flatten().filter(|switch| functions.insert(switch.function));
        met.cloned().collect()
    }
}

/// Words of memory as far as they are held, and where they lie.
fn near(core: &Core, start: Addr, len: u64) -> impl Iterator<Item = (Addr, u64)> + '_ {
    let places = (0..len).step_by(8).map(move |by| start.saturating_add(by));
    places.filter_map(|at| Some((at, core.space().read_word(at).ok()?)))
}

/// All that a switch saved where its stack pointer lies in `slot`, with the pc where to go on.
pub fn read(
    core: &Core,
    machine: &dyn Machine,
    switch: &Switch,
    slot: Addr,
    pc: u64,
) -> Option<Shaped> {
    let saved = Addr::new(core.space().read_word(slot).ok()?);
    let pc = machine.strip_code(Addr::new(pc));
    let mut regs = Regs::new(pc);
    for (register, place) in &switch.registers {
        let at = switch.resolve(*place, slot, saved)?;
        regs.set(*register, core.space().read_word(at).ok());
    }
    let stack_pointer = machine.stack_pointer();
    regs.set(stack_pointer, switch.caller_stack_pointer(saved).map(Addr::get));
    Some(Shaped {
        at: Addr::new(slot.get().checked_add_signed(switch.lowest())?),
        shape: ContextShape::Beside,
        regs,
        stack_pointer,
        pc: CodeAddr::Return(pc),
        begins_with: None,
        stack: None,
    })
}
