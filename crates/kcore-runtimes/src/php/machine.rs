//! Which native frames run code of PHP: activations of `execute_ex` of `zend_vm_execute.h` and code that the JIT made, and
//! where functions of C begin.

use std::ops::Range;

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_unwind::Frame;
use rustc_hash::FxHashMap;

use super::Php;
use crate::Host;

/// The function that runs code of PHP; a compiler may have appended `.cold` and the like.
const FUNCTION: &str = "execute_ex";
/// It has more bytes of code than this, in every version.
const MIN_CODE: u64 = 16 << 10;

/// The native frames of a stack, and what is known of them.
pub struct Machine<'a> {
    host: &'a dyn Host,
    frames: &'a [Frame],
    /// Where the function of each begins and ends.
    functions: Vec<Option<AddrRange>>,
    /// Which of them are activations.
    activations: Vec<bool>,
}

impl<'a> Machine<'a> {
    /// Looks at the frames of a stack, on which so many activations were begun.
    pub fn of(php: &Php, host: &'a dyn Host, frames: &'a [Frame], begun: usize) -> Self {
        let functions = frames.iter().map(|frame| php.function(host, frame.pc.lookup())).collect();
        let activations = frames.iter().map(|frame| php.is_activation(host, frame)).collect();
        let mut machine = Self { host, frames, functions, activations };
        if !machine.activations.contains(&true) {
            machine.guess(php, begun);
        }
        machine
    }

    /// The next activation in a range.
    pub fn activation(&self, range: Range<usize>) -> Option<usize> {
        range.into_iter().find(|place| self.activations.get(*place).copied().unwrap_or_default())
    }

    /// All of them, innermost first.
    pub fn all(&self) -> Vec<usize> {
        let places = self.activations.iter().enumerate();
        places.filter(|(_, is_one)| **is_one).map(|(place, _)| place).collect()
    }

    /// Whether a frame is one.
    pub fn is_activation(&self, place: usize) -> bool {
        self.activation(place..place.saturating_add(1)).is_some()
    }

    /// The next frame of a function of C, before the next activation.
    pub fn c_function(&self, range: Range<usize>, code: Addr) -> Option<usize> {
        let end = self.activation(range.clone()).unwrap_or(range.end);
        (range.start..end).find(|place| self.is_function(*place, code))
    }

    fn is_function(&self, place: usize, code: Addr) -> bool {
        match self.functions.get(place).copied().flatten() {
            Some(function) => function.start == code,
            // Without unwind information, by its name.
            None => self.frames.get(place).is_some_and(|frame| {
                let named = self.host.function_at(frame.pc);
                let wanted = self.host.function_at(CodeAddr::Pc(code));
                named.is_some() && named == wanted
            }),
        }
    }

    /// Without names: the biggest function of those that stand on the stack as often as activations were begun. It is a
    /// switch with all instructions.
    fn guess(&mut self, php: &Php, begun: usize) {
        let mut counts: FxHashMap<(Addr, u64), usize> = FxHashMap::default();
        for function in self.functions.iter().copied().flatten() {
            if php.module.contains(function.start) && function.len() >= MIN_CODE {
                let count = counts.entry((function.start, function.len())).or_default();
                *count = count.saturating_add(1);
            }
        }
        let fitting = counts.into_iter().filter(|(_, count)| *count == begun);
        let Some(((start, _), _)) = fitting.max_by_key(|((start, size), _)| (*size, *start)) else {
            return;
        };
        let is_it = |function: &Option<AddrRange>| function.is_some_and(|it| it.start == start);
        self.activations = self.functions.iter().map(is_it).collect();
    }
}

impl Php {
    /// Whether a native frame is an activation of the machine, by its name, or of code that the JIT made.
    fn is_activation(&self, host: &dyn Host, frame: &Frame) -> bool {
        match self.module.contains(frame.pc.lookup()) {
            true => host.function_at(frame.pc).is_some_and(|name| is_machine(&name)),
            false => self.is_machine_code(host, frame.pc.lookup()),
        }
    }

    /// Whether the machine stands on a stack.
    pub(super) fn has_machine(&self, host: &dyn Host, frames: &[Frame]) -> bool {
        let mut own = frames.iter().filter(|frame| self.module.contains(frame.pc.lookup()));
        own.any(|frame| self.is_activation(host, frame))
    }
}

fn is_machine(function: &str) -> bool {
    let rest = function.strip_prefix(FUNCTION);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
