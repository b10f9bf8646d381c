//! The memory in which calls lie, looked at beforehand: a profile or a snapshot copies it with the stacks of one instant.

use kcore_mem::Addr;
use kcore_unwind::End;

use super::{Perl, decode::Decoder, interpreter::Interpreter, memory::Memory, value::Teller};
use crate::{Host, NativeStack, VariableLimits};

/// What is looked at of variables.
const LIMITS: VariableLimits =
    VariableLimits { locals: true, depth: 1, entries: 16, characters: 64 };
/// `si_cxstack`, `si_prev`, `si_cxmax` and `si_next` of `PERL_SI`.
const CONTEXTS: u64 = 8;
const PREVIOUS: u64 = 16;
const MOST: u64 = 36;
const NEXT: u64 = 24;
/// Pages of contexts and stacks of them that are looked at, at most.
const MAX_PAGES: u64 = 64;
const MAX_STACKS: usize = 8;
const PAGE: usize = 4096;

impl Perl {
    /// Looks at the memory in which calls of the first interpreter lie.
    pub(super) fn look_at_first(&self, host: &dyn Host) {
        let memory = self.memory(host);
        if let Some(interpreter) = self.storage.first(&memory) {
            memory.look_at_contexts(&interpreter);
            // The innermost position is one of its own words.
            let _ = memory.word(interpreter.position, 0);
        }
    }

    /// Looks at what the calls of the next moment may need: the calls of this one with their names and places.
    pub(super) fn look_ahead(&self, host: &dyn Host) {
        for thread in host.threads() {
            let frames = host.frames(thread);
            let decoder = Decoder { perl: self, host };
            let Some(interpreter) = decoder.interpreter(thread, &frames) else { continue };
            let memory = self.memory(host);
            memory.look_at_contexts(&interpreter);
            let end = End::Outermost;
            let stack = NativeStack { thread: Some(thread), task: None, frames: &frames, end };
            let spans = decoder.spans(&stack);
            for at in spans.iter().flat_map(|span| &span.language).filter_map(|it| it.object) {
                let teller = Teller::new(&memory, LIMITS);
                let Some((scope, _)) = self.scope(at) else { continue };
                let _ = scope.variables(&memory, &teller, true, LIMITS.entries);
            }
        }
    }
}

impl Memory<'_> {
    /// Looks at every page in which calls may lie now or in a moment.
    fn look_at_contexts(&self, interpreter: &Interpreter) {
        let innermost = self.pointer(interpreter.stack_info, 0);
        let all = std::iter::successors(innermost, |info| self.pointer(*info, PREVIOUS));
        let mut next = all.take(MAX_STACKS).last();
        for _ in 0..MAX_STACKS {
            let Some(info) = next else { break };
            let most = self.uint(info, MOST, 4).unwrap_or_default();
            let size = most.saturating_mul(self.layout.context.size);
            if let Some(start) = self.pointer(info, CONTEXTS) {
                let end = start.get().saturating_add(size.min(MAX_PAGES.saturating_mul(4096)));
                for page in (start.get()..end).step_by(PAGE) {
                    let _ = self.uint(Addr::new(page), 0, 1);
                }
            }
            // Stacks are kept for who calls again.
            next = self.pointer(info, NEXT);
        }
    }
}
