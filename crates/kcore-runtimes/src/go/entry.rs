//! The function that a goroutine began with, where the compiler made another one around it for its arguments.

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};

use super::{Go, code::CodePlace, inline, name::printed};
use crate::Host;

/// The length of the shortest call.
const CALL_LEN: usize = 4;
/// Bytes of the code of a wrapper, at most.
const MAX_CODE: u64 = 1 << 10;
/// What all functions call to get more stack.
const MORE_STACK: &str = "runtime.morestack";
/// What names of functions of the runtime begin with.
const RUNTIME: &str = "runtime.";

impl Go {
    /// The name of the function that a goroutine began with, as Go prints it; `None` where that is a wrapper which does not
    /// tell what it calls.
    pub fn entry(&self, host: &dyn Host, start: Addr) -> Option<Arc<str>> {
        let place = self.place(host, CodeAddr::Pc(start))?;
        match place.function.id == self.layout.wrapper {
            true => self.wrapped(host, &place),
            false => place.function.name(&self.tables, host.space()).map(printed),
        }
    }

    /// Whether a function that goroutines begin with is made around another.
    pub fn is_wrapper(&self, host: &dyn Host, start: Addr) -> bool {
        let place = self.place(host, CodeAddr::Pc(start));
        place.is_some_and(|place| place.function.id == self.layout.wrapper)
    }

    /// What a wrapper calls: the first function that is inlined into it, or that it calls by its address. Functions of
    /// the runtime that one of another package calls may only make its arguments.
    fn wrapped(&self, host: &dyn Host, place: &CodePlace) -> Option<Arc<str>> {
        let (space, code) = (host.space(), place.function.code);
        let own = place.function.name(&self.tables, space);
        let is_own = own.is_some_and(|name| name.starts_with(RUNTIME));
        let bytes = space.read_held(code.start, code.len().min(MAX_CODE));
        (0..=bytes.len().checked_sub(CALL_LEN)?).find_map(|offset| {
            let at = code.start.checked_add(offset as u64)?;
            let to = self.abi.called(bytes.get(offset..)?, at)?;
            let called = self.place(host, CodeAddr::Pc(to))?;
            (called.function.code.start == to).then_some(())?;
            let name = called.function.name(&self.tables, space)?;
            (!name.starts_with(MORE_STACK)).then_some(())?;
            let frames = inline::frames_at(&self.tables, space, &place.function, at);
            let inlined = frames.iter().rev().nth(1).and_then(|frame| frame.function.clone());
            inlined.or_else(|| (is_own || !name.starts_with(RUNTIME)).then(|| printed(name)))
        })
    }
}
