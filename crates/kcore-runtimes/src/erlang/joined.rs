//! The processes of Erlang on the stacks of threads: where a thread is in C, the stack of the process that it runs lies
//! elsewhere.

use kcore_unwind::Frame;

use super::{Erlang, code, process::ErlangProcess};
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
    /// The frames of the process that a thread runs, where its native frames are not those.
    pub(super) fn joined(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Option<Span> {
        let process = *self.processes(host).on_thread(stack.thread?)?;
        let named = |frame: &Frame, names: &[&str]| {
            host.function_at(frame.pc).is_some_and(|name| names.contains(&&*name))
        };
        let main = stack.frames.iter().position(|frame| named(frame, &MAINS));
        let place = main.unwrap_or(stack.frames.len());
        let within = stack.frames.get(..place)?;
        let is_on_process = |frame: &Frame| frame.sp.is_some_and(|sp| process.stack.contains(sp));
        if within.iter().any(is_on_process) {
            return None;
        }
        let calls_c = stack.frames.iter().any(|frame| named(frame, &CALLS_C));
        let is_told = calls_c || main.is_some();
        is_told.then_some(())?;
        let language = self.frames_in_c(host, &process, calls_c);
        (!language.is_empty()).then_some(Span {
            frames: place..place,
            native: Native::Kept,
            language,
        })
    }

    fn frames_in_c(
        &self,
        host: &dyn Host,
        process: &ErlangProcess,
        calls_c: bool,
    ) -> Vec<LanguageFrame> {
        let Ok(found) = self.code(host) else { return Vec::new() };
        let terms = self.terms(host);
        let noted = process.noted.filter(|_| calls_c);
        let name = noted.and_then(|mfa| found.name(&terms, mfa));
        let mut frames: Vec<LanguageFrame> =
            name.map(|name| code::frame(Some(name), None)).into_iter().collect();
        frames.extend(self.on_stack(host, process.stack));
        if !calls_c {
            for frame in &mut frames {
                let doubt = frame.doubt.get_or_insert_with(|| DOUBT.into());
                frame.doubt = Some(doubt.clone());
            }
        }
        frames
    }
}
