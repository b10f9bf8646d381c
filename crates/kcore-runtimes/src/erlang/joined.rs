//! The processes of Erlang on the stacks of threads: where a thread is in C, the stack of the process that it runs lies
//! elsewhere.

use kcore_unwind::Frame;

use super::{Erlang, process::ErlangProcess};
use crate::{Host, LanguageFrame, Native, NativeStack, Span};

/// What runs processes.
const MAINS: [&str; 2] = ["process_main", "erts_dirty_process_main"];
/// Functions that are called for a function in C: while they run, the stack of the process is as it was noted.
const CALLS_C: [&str; 5] = [
    "beam_jit_call_bif",
    "beam_jit_call_nif",
    "erts_call_dirty_nif",
    "erts_call_dirty_bif",
    "erts_dirty_process_main",
];
const DOUBT: &str = "of the stack of the process when it was last noted";

impl Erlang {
    /// The frames of the process that a thread runs, unless its native frames are those.
    pub(super) fn joined(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Option<Span> {
        let process = *self.processes(host).on_thread(stack.thread?)?;
        let has_name = |frame: &Frame, names: &[&str]| {
            host.function_at(frame.pc).is_some_and(|name| names.contains(&&*name))
        };
        let main = stack.frames.iter().position(|frame| has_name(frame, &MAINS));
        let place = main.unwrap_or(stack.frames.len());
        let is_on_process = |frame: &Frame| frame.sp.is_some_and(|sp| process.stack.contains(sp));
        if stack.frames.iter().take(place).any(is_on_process) {
            return None;
        }
        let calls_c = stack.frames.iter().any(|frame| has_name(frame, &CALLS_C));
        (calls_c || main.is_some()).then_some(())?;
        let language = self.frames_in_c(host, &process, calls_c);
        let span = Span { frames: place..place, native: Native::Kept, language };
        (!span.language.is_empty()).then_some(span)
    }

    fn frames_in_c(
        &self,
        host: &dyn Host,
        process: &ErlangProcess,
        calls_c: bool,
    ) -> Vec<LanguageFrame> {
        let noted = process.noted.filter(|_| calls_c);
        let innermost = noted.and_then(|mfa| self.named(host, mfa));
        let callers = self.on_stack(host, process.stack);
        let mut frames: Vec<LanguageFrame> = innermost.into_iter().chain(callers).collect();
        for frame in frames.iter_mut().filter(|_| !calls_c) {
            frame.doubt.get_or_insert_with(|| DOUBT.into());
        }
        frames
    }
}
