//! Which native frames run functions of Lua: activations of `luaV_execute` of `lvm.c`, and where functions of C begin.

use std::ops::Range;

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Frame;
use rustc_hash::FxHashMap;

use super::Lua;
use crate::Host;

/// The function that runs functions of Lua; a compiler may have appended `.cold` and the like.
const FUNCTION: &str = "luaV_execute";
/// It has more bytes of code than this, in every version.
const MIN_CODE: u64 = 2048;

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
    /// Looks at the frames of a stack. `groups` are the activations that the states on it have begun, and the innermost
    /// of them called the function of C at `innermost`.
    pub fn of(
        lua: &Lua,
        host: &'a dyn Host,
        frames: &'a [Frame],
        windows: &[Range<usize>],
        groups: usize,
        innermost: Option<Addr>,
    ) -> Self {
        let functions = frames.iter().map(|frame| lua.function(host, frame.pc.lookup())).collect();
        let activations = frames
            .iter()
            .map(|frame| {
                lua.module.contains(frame.pc.lookup())
                    && host.function_at(frame.pc).is_some_and(|name| is_machine(&name))
            })
            .collect();
        let mut machine = Self { host, frames, functions, activations };
        if !machine.activations.contains(&true) {
            machine.guess(lua, windows, groups, innermost);
        }
        machine
    }

    /// The next activation from a frame on, before another.
    pub fn activation(&self, range: Range<usize>) -> Option<usize> {
        range.into_iter().find(|place| self.activations.get(*place).copied().unwrap_or_default())
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
                let wanted = self.host.function_at(kcore_mem::CodeAddr::Pc(code));
                named.is_some() && named == wanted
            }),
        }
    }

    /// Without names: the function that stands on the stack as often as activations were begun. Of several the biggest:
    /// it is a switch with all instructions, and the others but call.
    fn guess(
        &mut self,
        lua: &Lua,
        windows: &[Range<usize>],
        groups: usize,
        innermost: Option<Addr>,
    ) {
        let called = innermost
            .and_then(|code| (0..self.frames.len()).find(|place| self.is_function(*place, code)));
        let from = called.map_or(0, |place| place.saturating_add(1));
        let mut counts: FxHashMap<(Addr, u64), usize> = FxHashMap::default();
        let places = windows.iter().flat_map(Clone::clone).filter(|place| *place >= from);
        for function in places.filter_map(|place| self.functions.get(place).copied().flatten()) {
            if lua.module.contains(function.start) && function.len() >= MIN_CODE {
                let count = counts.entry((function.start, function.len())).or_default();
                *count = count.saturating_add(1);
            }
        }
        let best = counts
            .into_iter()
            .filter(|(_, count)| *count <= groups)
            .max_by_key(|((start, size), count)| (*count == groups, *size, *start));
        let Some(((start, _), _)) = best else { return };
        let is_it = |function: &Option<AddrRange>| function.is_some_and(|it| it.start == start);
        self.activations = self.functions.iter().map(is_it).collect();
    }
}

fn is_machine(function: &str) -> bool {
    let rest = function.strip_prefix(FUNCTION);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
