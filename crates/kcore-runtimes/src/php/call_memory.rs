//! The memory in which calls lie: `_zend_vm_stack` of `zend_execute.h`.
//!
//! A profile copies what was read of it beforehand, so that the calls of a sample are of one instant.

use kcore_mem::Addr;

use super::{Php, array::Elements, globals::Globals, memory::Memory, value::Teller};
use crate::{Host, VariableLimits};

/// `vm_stack_end` and `vm_stack` of `zend_executor_globals`, to 8.4, and `end` and `prev` of `_zend_vm_stack`.
const LAST_END: u64 = 464;
const LAST: u64 = 472;
const END: u64 = 8;
const PREVIOUS: u64 = 16;
/// Pieces of memory that are looked at, and pages of each, at most: a piece has 256 KiB, and a big call more.
const MAX_PIECES: usize = 8;
const MAX_PAGES: usize = 64;
const PAGE: usize = 4096;
/// `function_table` of `zend_executor_globals`, to 8.4, and `function_name` of `zend_function`.
const FUNCTIONS: u64 = 432;
const NAME: u64 = 8;
/// Functions that are looked at, at most.
const MAX_FUNCTIONS: usize = 4096;
/// Fibers whose calls are looked at, at most; where a fiber has its memory for calls, from `stack_bottom` on, and pages of
/// that: `ZEND_FIBER_VM_STACK_SIZE`.
const MAX_FIBERS: usize = 256;
const FIBER_LAST: u64 = 8;
const FIBER_PAGES: usize = 4;
/// Calls that are looked at where another fiber runs, and pages from each on: those inside of it come and go.
const MAX_CALLS: usize = 256;
const PAGES_FROM_CALL: usize = 3;
/// What is looked at of variables.
const LIMITS: VariableLimits =
    VariableLimits { locals: true, depth: 1, entries: 16, characters: 64 };

impl Php {
    /// Looks at what the calls of the next moment may need: the calls of this one with their variables, and functions.
    pub(super) fn look_ahead(&self, host: &dyn Host) {
        let memory = self.memory(host);
        for (globals, _) in self.all_globals(host) {
            self.look_at_stacks(host, &globals);
            memory.look_at_functions(&globals);
            let teller = Teller::new(&memory, LIMITS);
            for frame in self.chain_of(host, &globals).unwrap_or_default().frames {
                let _ = memory.locals(frame.at, &teller);
            }
        }
    }
}

impl Php {
    /// Looks at every page in which calls may lie now or in a moment: of what runs, of what resumed it, and of fibers.
    pub(super) fn look_at_stacks(&self, host: &dyn Host, globals: &Globals) {
        let memory = self.memory(host);
        memory.look_at_calls(globals);
        for frame in self.chain_of(host, globals).unwrap_or_default().frames.iter().take(MAX_CALLS)
        {
            memory.look_at_pages(frame.at, PAGES_FROM_CALL);
        }
        let Some(offsets) = self.layout.fiber else { return };
        let store = globals.objects(&memory);
        let fibers = store.map(|store| memory.objects_of(store, "Fiber")).unwrap_or_default();
        for fiber in fibers.into_iter().take(MAX_FIBERS) {
            let place = offsets.bottom.saturating_add(FIBER_LAST);
            if let Some(start) = memory.pointer(fiber, place) {
                memory.look_at_pages(start, FIBER_PAGES);
            }
        }
    }
}

impl Memory<'_> {
    fn look_at_pages(&self, from: Addr, count: usize) {
        let pages = (0_u64..).step_by(PAGE).map_while(|offset| from.checked_add(offset));
        for page in pages.take(count) {
            let _ = self.byte(page, 0);
        }
    }

    /// Looks at every page in which calls of what runs may lie.
    fn look_at_calls(&self, globals: &Globals) {
        let mut next = self.pointer(globals.executor, LAST.saturating_add(self.layout.shift));
        let mut end = self.word(globals.executor, LAST_END.saturating_add(self.layout.shift));
        for _ in 0..MAX_PIECES {
            let Some(start) = next else { break };
            let pages = (start.get()..end.unwrap_or_default()).step_by(PAGE).take(MAX_PAGES);
            for page in pages {
                let _ = self.byte(Addr::new(page), 0);
            }
            next = self.pointer(start, PREVIOUS);
            end = next.and_then(|previous| self.word(previous, END));
        }
    }

    fn look_at_functions(&self, globals: &Globals) {
        let table = self.pointer(globals.executor, FUNCTIONS.saturating_add(self.layout.shift));
        let functions = table.and_then(|table| Elements::of(self, table)).into_iter().flatten();
        for (_, function, _) in functions.take(MAX_FUNCTIONS) {
            let function = Addr::new(function.word);
            let _ = self.word(function, self.layout.handler);
            let _ = self.pointer(function, NAME).and_then(|name| self.text(name));
        }
    }
}
