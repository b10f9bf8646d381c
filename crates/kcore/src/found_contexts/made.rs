//! Contexts that were made and did not run, of libraries whose switches were met: they have the same layout.

use std::{cmp::Reverse, sync::Arc};

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{Machine, Modules, RegisterId, Switch};

use super::{beside::read, code_words::CodeWords, shape::Shaped, walked::NOWHERE};
use crate::Core;

const WORD: u64 = 8;
/// Where the structure lies at the low end of the stack, so far away is the other end.
const STACKS: std::ops::Range<u64> = 1 << 10..64 << 20;

/// Looks for contexts that were made.
pub struct Made<'a> {
    pub core: &'a Core,
    pub machine: &'a dyn Machine,
    pub words: &'a CodeWords<'a>,
}

/// A place that may be such a context, by the layout of one library.
struct ContextCandidate {
    switch: Arc<Switch>,
    /// Where the stack pointer lies, and what it is.
    slot: Addr,
    stack: Addr,
    preserved: Vec<(RegisterId, u64)>,
}

impl ContextCandidate {
    /// Registers that were not set. Memory of other things has fewer of them.
    fn unset(&self) -> usize {
        self.preserved.iter().filter(|(_, value)| *value == 0).count()
    }

    fn lowest(&self) -> u64 {
        self.slot.get().wrapping_add_signed(self.switch.lowest())
    }
}

impl Made<'_> {
    /// The context where a word is the function that it begins with. Where several layouts fit, that of the most
    /// registers that are not set counts, and of those the one that begins first.
    pub fn at(&self, at: Addr, word: u64, switches: &[Arc<Switch>]) -> Option<Shaped> {
        let has_pcs = switches.iter().any(|switch| !switch.pcs.is_empty());
        let entry = has_pcs.then(|| self.words.function_start(word)).flatten()?;
        let places = switches.iter().flat_map(|switch| {
            let slots = switch.pcs.iter().filter_map(|by| by.checked_neg());
            let slots = slots.filter_map(|by| at.get().checked_add_signed(by).map(Addr::new));
            slots.filter_map(|slot| self.place(switch, slot)).collect::<Vec<_>>()
        });
        let fitting = places.filter(|place| self.is_prepared(place, entry));
        let place = fitting.max_by_key(|place| (place.unset(), Reverse(place.lowest())))?;
        let made = read(self.core, self.machine, &place.switch, place.slot, entry.get())?;
        Some(Shaped { pc: CodeAddr::Pc(entry), begins_with: Some(entry), ..made })
    }

    /// What lies there, if all of it does, and the stack is memory that belongs to no module.
    fn place(&self, switch: &Arc<Switch>, slot: Addr) -> Option<ContextCandidate> {
        let stack = self.word(slot).filter(|at| at.is_multiple_of(WORD)).map(Addr::new)?;
        let below = Addr::new(stack.get().checked_sub(WORD)?);
        let is_stack =
            self.word(below).is_some() && !Modules::is_in_module(self.core.modules(), below);
        let preserved = switch.registers.iter().map(|(register, place)| {
            Some((*register, self.word(switch.resolve(*place, slot, stack)?)?))
        });
        let preserved = preserved.collect::<Option<_>>()?;
        is_stack.then(|| ContextCandidate { switch: Arc::clone(switch), slot, stack, preserved })
    }

    /// Whether a place is one that the maker of a stack prepared: the frame pointer is not set and the stack begins
    /// with the function, with another that it is to return to, or with what says that it returns nowhere; or it is
    /// the end of the stack, at the other end of which the structure lies.
    fn is_prepared(&self, place: &ContextCandidate, entry: Addr) -> bool {
        let frame_pointer = self.machine.frame_pointer();
        let frame = place.preserved.iter().find(|(register, _)| *register == frame_pointer);
        let Some((_, frame)) = frame else { return false };
        let len = place.stack.offset_from(place.slot).unwrap_or(0);
        let is_end = *frame == place.stack.get() && STACKS.contains(&len);
        is_end || (*frame == 0 && self.begins_with_function(place, entry))
    }

    fn begins_with_function(&self, place: &ContextCandidate, entry: Addr) -> bool {
        let is_marked = place.preserved.iter().any(|(_, value)| *value == NOWHERE);
        let is_first = |first: u64| {
            first == entry.get() || first == NOWHERE || self.words.function_start(first).is_some()
        };
        let pushes = self.machine.link_register().is_none();
        is_marked || (pushes && self.word(place.stack).is_some_and(is_first))
    }

    fn word(&self, at: Addr) -> Option<u64> {
        self.core.space().read_word(at).ok()
    }
}
