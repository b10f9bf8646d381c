//! Frames of Lua among the native ones of a stack.

use std::{ops::Range, sync::Arc};

use kcore_mem::{Addr, Arch, CodeAddr};
use kcore_unwind::{Frame, RegisterId, Tid};
use rustc_hash::FxHashSet;

use super::{
    LuaJit,
    calls::{Call, Calls},
    memory::{Function, Memory},
    names,
    running::running,
    state::State,
};
use crate::{FrameKind, Host, LanguageFrame, Native, NativeStack, Span, thread_stack::holder};

/// Functions by which programs call Lua: what they do says nothing of the program.
const PLUMBING: [&str; 4] = ["lua_call", "lua_pcall", "lua_cpcall", "lua_resume"];
/// The registers in which the machine has its variables and its instruction (`vm_x64.dasc`): `rdx` and `rbx`.
const BASE: RegisterId = RegisterId(1);
const NEXT: RegisterId = RegisterId(3);
/// Bytes of a stack of values that are looked at beforehand, at most.
const MAX_VALUES: u64 = 256 << 10;
/// What is said of what runs in a trace.
const TRACE: &str = "JIT trace";
/// What is said of the innermost function, of which the machine has the place in a register.
const LAGS: &str =
    "its line may be that of an instruction shortly before: LuaJIT does not store each";

/// What decodes one stack.
pub struct Decoder<'a> {
    /// The runtime.
    pub lua: &'a LuaJit,
    /// The process.
    pub host: &'a dyn Host,
}

impl Decoder<'_> {
    /// The spans of a stack.
    pub fn spans(&self, stack: &NativeStack<'_>) -> Vec<Span> {
        let Some(tid) = stack.thread else { return Vec::new() };
        if !stack.frames.iter().any(|frame| self.is_own(frame)) {
            return Vec::new();
        }
        let mut spans = Vec::new();
        let mut is_innermost = true;
        for (state, _) in running(self.host, tid, stack.frames) {
            let memory = Memory { space: self.host.space() };
            let known =
                is_innermost.then(|| self.in_registers(tid, stack.frames, &state)).flatten();
            let calls = match known {
                Some((base, next)) => Calls::from_place(&memory, &state, Some(base), Some(next)),
                None => Calls::of(&memory, &state),
            };
            let mut frames = self.frames(&memory, &state, &calls);
            if is_innermost {
                let is_known = known.is_some();
                self.doubt_innermost(&memory, stack.frames, &state, &calls, &mut frames, is_known);
                is_innermost = false;
            }
            place(stack, &calls, frames, &mut spans);
        }
        let plumbing = self.plumbing(stack.frames, &spans);
        spans.extend(plumbing);
        spans
    }

    /// The frames of a state that no native thread runs, innermost first.
    pub fn of_state(&self, state: &State) -> Vec<LanguageFrame> {
        let memory = Memory { space: self.host.space() };
        let calls = Calls::of(&memory, state);
        let mut frames = self.frames(&memory, state, &calls);
        frames.extend(calls.broken.map(missing));
        frames
    }

    fn is_own(&self, frame: &Frame) -> bool {
        self.lua.module.contains(frame.pc.lookup())
    }

    fn frames(&self, memory: &Memory<'_>, state: &State, calls: &Calls) -> Vec<LanguageFrame> {
        self.lua.remember(*state);
        let callers = calls.all.iter().skip(1).map(Some).chain([None]);
        calls.all.iter().zip(callers).map(|(call, caller)| language(memory, call, caller)).collect()
    }

    /// Where the variables of the innermost call begin, and the instruction after the one that runs: where the machine
    /// itself was stopped, they are in registers.
    fn in_registers(&self, tid: Tid, native: &[Frame], state: &State) -> Option<(Addr, u64)> {
        let memory = Memory { space: self.host.space() };
        let innermost = native.first().filter(|frame| matches!(frame.pc, CodeAddr::Pc(_)))?;
        let is_machine = self.host.space().target().arch == Arch::X86_64
            && self.is_own(innermost)
            && state.trace(&memory).is_none()
            && holder(native, state.machine(&memory)?.0) == Some(0);
        let regs = self.host.registers(tid).filter(|_| is_machine)?;
        let base = Addr::new(regs.get(BASE)?);
        state.is_base(&memory, base).then_some((base, regs.get(NEXT)?))
    }

    /// Says what is not certain of the function that runs.
    fn doubt_innermost(
        &self,
        memory: &Memory<'_>,
        native: &[Frame],
        state: &State,
        calls: &Calls,
        frames: &mut [LanguageFrame],
        is_known: bool,
    ) {
        let (Some(call), Some(frame)) = (calls.all.first(), frames.first_mut()) else { return };
        if let Some(number) = state.trace(memory) {
            frame.tier = Some(TRACE);
            let doubt = format!(
                "it runs machine code of trace {number}: its line is where the trace was entered, its own variables are not known, and functions that the trace has in itself are not told"
            );
            frame.doubt = Some(doubt.into());
            return;
        }
        let is_told = is_known && call.index.is_some();
        let runs_itself = call.proto.is_some()
            && !is_told
            && call.machine.and_then(|machine| holder(native, machine.0)) == Some(0);
        if runs_itself {
            frame.doubt = Some(LAGS.into());
        }
    }

    /// Spans that hide how programs call Lua, on a stack where its frames are shown in their places.
    fn plumbing(&self, frames: &[Frame], spans: &[Span]) -> Vec<Span> {
        let mut taken: FxHashSet<usize> = FxHashSet::default();
        for span in spans {
            taken.extend(span.frames.clone());
        }
        if taken.is_empty() {
            return Vec::new();
        }
        let is_hidden = |frame: &Frame| {
            let name = self.host.function_at(frame.pc).filter(|_| self.is_own(frame));
            name.is_some_and(|name| PLUMBING.contains(&&*name))
        };
        let free = frames.iter().enumerate().filter(|(place, _)| !taken.contains(place));
        let hidden = free.filter(|(_, frame)| is_hidden(frame));
        hidden.map(|(place, _)| Span::replacing(place, Vec::new())).collect()
    }
}

/// Puts the frames of a state to the native ones: those of Lua to the frames of the machine that run them, functions of C to
/// those that the machine called.
fn place(
    stack: &NativeStack<'_>,
    calls: &Calls,
    frames: Vec<LanguageFrame>,
    spans: &mut Vec<Span>,
) {
    let one = |place: usize| -> Range<usize> { place..place.saturating_add(1) };
    let mut apart = Vec::new();
    for (call, frame) in calls.all.iter().zip(frames) {
        let machine = call.machine.and_then(|machine| holder(stack.frames, machine.0));
        let is_c = matches!(call.function, Some(Function::C(_)));
        let (place, native) = match machine {
            Some(place) if is_c => (place.checked_sub(1), Native::Kept),
            place => (place, Native::Replaced),
        };
        let Some(place) = place else {
            apart.push(without_place(frame));
            continue;
        };
        match spans.last_mut().filter(|span| span.frames == one(place)) {
            // Of what was called from C in place of what the machine called.
            Some(span) if native == span.native || is_c => span.language.push(frame),
            _ => spans.push(Span { frames: one(place), native, language: vec![frame] }),
        }
    }
    apart.extend(calls.broken.map(missing));
    if !apart.is_empty() {
        let end = stack.frames.len();
        spans.push(Span { frames: end..end, native: Native::Kept, language: apart });
    }
}

/// A frame as all languages have it.
fn language(memory: &Memory<'_>, call: &Call, caller: Option<&Call>) -> LanguageFrame {
    let proto = call.proto.as_ref();
    let line = proto.zip(call.index).and_then(|(proto, index)| proto.line(memory, index));
    let unreadable = call.function.is_none()
        || matches!(call.function, Some(Function::Lua(_))) && proto.is_none();
    let doubt = unreadable.then_some("its function is damaged, or was not dumped");
    LanguageFrame {
        kind: FrameKind::Lua,
        function: Some(name(memory, call, caller).into()),
        file: proto.map(|proto| proto.file().into()),
        line,
        language: Some("lua"),
        bytecode: call.index.and_then(|index| u32::try_from(index).ok()),
        object: Some(call.at),
        doubt: doubt.map(Arc::from),
        ..LanguageFrame::default()
    }
}

fn name(memory: &Memory<'_>, call: &Call, caller: Option<&Call>) -> String {
    let by_caller = || {
        let caller = caller?;
        names::called(memory, caller.proto.as_ref()?, caller.index?)
    };
    let builtin = || match call.function? {
        Function::Builtin(number) => Some(format!("builtin#{number}")),
        _ => None,
    };
    let place = || call.proto.as_ref().map(super::proto::Proto::place);
    by_caller().or_else(place).or_else(builtin).unwrap_or_else(|| "?".to_owned())
}

fn without_place(frame: LanguageFrame) -> LanguageFrame {
    let doubt = "its place among the native frames is not known";
    LanguageFrame { doubt: Some(Arc::from(doubt)), ..frame }
}

/// What stands in place of calls that cannot be read.
fn missing(why: &'static str) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Lua,
        function: Some("<unknown>".into()),
        language: Some("lua"),
        doubt: Some(Arc::from(why)),
        ..LanguageFrame::default()
    }
}

impl LuaJit {
    /// Looks at what the calls of the next moment may need.
    pub(super) fn look_ahead(&self, host: &dyn Host) {
        for thread in host.threads() {
            let frames = host.frames(thread);
            let end = kcore_unwind::End::Outermost;
            let stack = NativeStack { thread: Some(thread), task: None, frames: &frames, end };
            let _ = Decoder { lua: self, host }.spans(&stack);
            let memory = Memory { space: host.space() };
            for (state, _) in running(host, thread, &frames) {
                // Calls of the next moment may lie anywhere on it.
                let stack = state.stack(&memory);
                let _ = stack.map(|stack| host.space().read_held(stack, MAX_VALUES));
            }
        }
    }

    /// The state that runs on a thread, innermost.
    pub(super) fn innermost(&self, host: &dyn Host, tid: Tid) -> Vec<Addr> {
        let frames = host.frames(tid);
        running(host, tid, &frames).into_iter().map(|(state, _)| state.at).collect()
    }
}
