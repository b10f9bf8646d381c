//! Lua's frames among the native ones of a stack.

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{Frame, RegisterId, Tid};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Lua,
    calls::{Call, Calls},
    globals::Globals,
    layout::Series,
    machine::Machine,
    memory::{Function, Memory, Value},
    names,
    plumbing::{is_outermost, is_plumbing},
    running::Running,
    state::State,
};
use crate::{FrameKind, Host, LanguageFrame, Native, NativeStack, Span};

/// Registers of a machine, at most.
const MAX_REGISTERS: u16 = 64;
/// Native frames without names between a function that the program calls and an activation, at most.
const MAX_NAMELESS: usize = 8;
/// What is said of a line that may lag.
const LAGS: &str = "its line may be that of an instruction shortly before: Lua does not store each";
/// What is said of a function whose caller it replaced, so that the next frame is not its caller.
const TAIL: &str = "tail call";

/// What decodes one stack.
pub struct Decoder<'a> {
    /// The runtime.
    pub lua: &'a Lua,
    /// The process.
    pub host: &'a dyn Host,
}

/// A state on a stack with its calls.
struct Chain {
    running: Running,
    calls: Calls,
    frames: Vec<LanguageFrame>,
}

impl Decoder<'_> {
    /// The spans of a stack.
    pub fn spans(&self, stack: &NativeStack<'_>) -> Vec<Span> {
        let Some(tid) = stack.thread else { return Vec::new() };
        let running = self.lua.running(self.host, tid, stack.frames);
        let chains: Vec<Chain> = running.into_iter().map(|running| self.chain(running)).collect();
        if chains.is_empty() {
            return Vec::new();
        }
        let machine = self.machine(stack.frames, &chains);
        let (mut spans, mut apart) = (Vec::new(), Vec::new());
        let mut is_innermost = true;
        for mut chain in chains {
            if is_innermost {
                self.correct(tid, stack.frames, &machine, &mut chain);
                is_innermost = false;
            }
            place(&machine, chain, &mut spans, &mut apart);
        }
        if !apart.is_empty() {
            let end = stack.frames.len();
            spans.push(Span { frames: end..end, native: Native::Kept, language: apart });
        }
        let plumbing = self.plumbing(stack.frames, &spans);
        spans.extend(plumbing);
        spans
    }

    /// The frames of a state that no native thread runs, innermost first.
    pub fn of_state(&self, state: &State) -> Vec<LanguageFrame> {
        let memory = state.memory(self.host.space());
        let calls = Calls::of(&memory, state);
        let mut frames = self.frames(&memory, state, &calls);
        frames.extend(calls.broken.map(missing));
        frames
    }

    fn chain(&self, running: Running) -> Chain {
        let memory = running.state.memory(self.host.space());
        let calls = Calls::of(&memory, &running.state);
        let frames = self.frames(&memory, &running.state, &calls);
        Chain { running, calls, frames }
    }

    fn frames(&self, memory: &Memory<'_>, state: &State, calls: &Calls) -> Vec<LanguageFrame> {
        self.lua.remember(*state);
        let globals = self.lua.globals(memory, state);
        let callers = calls.all.iter().skip(1).map(Some).chain([None]);
        // Calls of one function from one place say the same, and recursion has many.
        let mut known: FxHashMap<Site, LanguageFrame> = FxHashMap::default();
        let mut frame = |(call, caller): (&Call, Option<&Call>)| {
            let site = site(call, caller);
            let told =
                known.entry(site).or_insert_with(|| language(memory, &globals, call, caller));
            LanguageFrame { object: Some(call.at), ..told.clone() }
        };
        calls.all.iter().zip(callers).map(&mut frame).collect()
    }

    fn machine<'m>(&'m self, frames: &'m [Frame], chains: &[Chain]) -> Machine<'m> {
        let windows: Vec<_> = chains.iter().map(|chain| chain.running.window.clone()).collect();
        let begun = |chain: &Chain| chain.calls.all.iter().filter(|call| begins(call)).count();
        let groups = chains.iter().map(begun).sum();
        // Of the calls before the innermost function of Lua, the outermost.
        let first = chains.iter().flat_map(|chain| &chain.calls.all);
        let called = first.take_while(|call| call.proto.is_none()).last();
        let code = called.and_then(|call| match call.function? {
            Function::C { code } => Some(code),
            Function::Lua { .. } => None,
        });
        Machine::of(self.lua, self.host, frames, &windows, groups, code)
    }

    /// Where the innermost function of Lua itself runs, registers have its place: not every instruction is stored.
    fn correct(&self, tid: Tid, frames: &[Frame], machine: &Machine<'_>, chain: &mut Chain) {
        let (Some(call), Some(shown)) = (chain.calls.all.first(), chain.frames.first_mut()) else {
            return;
        };
        let Some(proto) = &call.proto else { return };
        let memory = chain.running.state.memory(self.host.space());
        if !matches!(memory.layout.series, Series::V51 | Series::V54) {
            return;
        }
        let innermost = frames.first().filter(|frame| matches!(frame.pc, CodeAddr::Pc(_)));
        let runs = machine.activation(0..1).is_some() && innermost.is_some();
        let registers = runs.then(|| self.host.registers(tid)).flatten();
        let mut indices: Vec<u64> = (0..MAX_REGISTERS)
            .filter_map(|number| proto.index(registers?.get(RegisterId(number))?))
            .collect();
        indices.sort_unstable();
        indices.dedup();
        match indices.as_slice() {
            [index] => shown.line = proto.line(&memory, *index).or(shown.line),
            _ => shown.doubt = Some(LAGS.into()),
        }
    }

    /// Spans that hide how Lua calls, on a stack where frames of Lua are shown in their places.
    fn plumbing(&self, frames: &[Frame], spans: &[Span]) -> Vec<Span> {
        let mut taken: FxHashSet<usize> = FxHashSet::default();
        let mut hidden: FxHashSet<usize> = FxHashSet::default();
        for span in spans.iter().filter(|span| !span.frames.is_empty()) {
            taken.extend(span.frames.clone());
        }
        for span in spans.iter().filter(|span| !span.frames.is_empty()) {
            hidden.extend(self.nameless(frames, span.frames.end, &taken));
        }
        if taken.is_empty() {
            return Vec::new();
        }
        let is_named = |frame: &Frame| {
            self.is_own(frame) && self.host.function_at(frame.pc).is_some_and(|it| is_plumbing(&it))
        };
        let free = frames.iter().enumerate().filter(|(place, _)| !taken.contains(place));
        let hides = free.filter(|(place, frame)| hidden.contains(place) || is_named(frame));
        hides.map(|(place, _)| Span::replacing(place, Vec::new())).collect()
    }

    fn is_own(&self, frame: &Frame) -> bool {
        self.lua.module.contains(frame.pc.lookup())
    }

    /// Frames without names that lead from one frame of Lua to the next, or to a function that the program calls.
    fn nameless(&self, frames: &[Frame], from: usize, taken: &FxHashSet<usize>) -> Vec<usize> {
        let mut passed = Vec::new();
        for (place, frame) in frames.iter().enumerate().skip(from).take(MAX_NAMELESS) {
            if taken.contains(&place) {
                return passed;
            }
            if !self.is_own(frame) {
                break;
            }
            match self.host.function_at(frame.pc) {
                None => passed.push(place),
                Some(name) if is_outermost(&name) => return passed,
                Some(name) if is_plumbing(&name) => {}
                Some(_) => break,
            }
        }
        Vec::new()
    }
}

/// Whether an activation of the machine was begun for a call.
fn begins(call: &Call) -> bool {
    call.is_fresh && call.proto.is_some()
}

/// Puts the frames of a state to the native ones: functions of C to their own, functions of Lua to the activations that
/// run them.
fn place(
    machine: &Machine<'_>,
    chain: Chain,
    spans: &mut Vec<Span>,
    apart: &mut Vec<LanguageFrame>,
) {
    let window = chain.running.window;
    let mut from = window.start;
    let mut pending: Vec<LanguageFrame> = Vec::new();
    let known = spans.len();
    for (call, frame) in chain.calls.all.iter().zip(chain.frames) {
        pending.push(frame);
        let (found, native) = match call.function {
            Some(Function::C { code }) if call.proto.is_none() => {
                (machine.c_function(from..window.end, code), Native::Kept)
            }
            _ if begins(call) => (machine.activation(from..window.end), Native::Replaced),
            _ => (None, Native::Replaced),
        };
        if let Some(place) = found {
            from = place.saturating_add(1);
            spans.push(Span {
                frames: place..from,
                native,
                language: std::mem::take(&mut pending),
            });
        }
    }
    pending.extend(chain.calls.broken.map(missing));
    // What a coroutine resumed before it was suspended has no native frames: it called what has.
    match spans.get_mut(known..).and_then(<[Span]>::last_mut) {
        Some(last) => last.language.extend(pending),
        None => apart.extend(pending.into_iter().map(without_place)),
    }
}

/// What the frame of a call depends on, but for where the call lies: its function, its instruction, how it was called, and
/// the same of its caller.
type Site = (Value, Option<u64>, [bool; 3], Option<(Value, Option<u64>)>);

fn site(call: &Call, caller: Option<&Call>) -> Site {
    let flags = [call.is_tail, call.is_finalizer, caller.is_some_and(|caller| caller.is_hooked)];
    (call.value, call.index, flags, caller.map(|caller| (caller.value, caller.index)))
}

/// A frame as all languages have it.
fn language(
    memory: &Memory<'_>,
    globals: &Globals,
    call: &Call,
    caller: Option<&Call>,
) -> LanguageFrame {
    let proto = call.proto.as_ref();
    let line = proto.zip(call.index).and_then(|(proto, index)| proto.line(memory, index));
    let unreadable = call.function.is_none()
        || matches!(call.function, Some(Function::Lua { .. })) && proto.is_none();
    let doubt = unreadable.then_some("its function is damaged, or was not dumped");
    LanguageFrame {
        kind: FrameKind::Lua,
        function: Some(names::name(memory, globals, call, caller)),
        file: proto.map(super::proto::Proto::file),
        line,
        language: Some("lua"),
        bytecode: call.index.and_then(|index| u32::try_from(index).ok()),
        tier: call.is_tail.then_some(TAIL),
        doubt: doubt.map(Arc::from),
        ..LanguageFrame::default()
    }
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

impl Lua {
    /// The range of the function that holds this code, by the unwind information of its module.
    pub(super) fn function(&self, host: &dyn Host, at: Addr) -> Option<kcore_mem::AddrRange> {
        let module = host.module_at(at)?;
        let start = module.span().start;
        let known = self.extents.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(extents) = known.get(&start) {
            return extents.as_ref().and_then(|it| it.around(module, at));
        }
        drop(known);
        let extents = crate::extents::Extents::of(module);
        let range = extents.as_ref().and_then(|it| it.around(module, at));
        let mut known = self.extents.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.insert(start, extents);
        range
    }
}
