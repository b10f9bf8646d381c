//! PHP's frames among the native ones of a stack.

use std::{ops::Range, sync::Arc};

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{End, Frame as NativeFrame, RegisterId, Tid};
use rustc_hash::FxHashSet;

use super::{
    Php,
    frame::{Chain, Frame},
    machine::Machine,
    plumbing::is_plumbing,
};
use crate::{FrameKind, Host, LanguageFrame, Native, NativeStack, Span};

/// Registers of a machine, at most.
const MAX_REGISTERS: u16 = 64;
/// What is said of a call whose innermost code the JIT made.
const JIT: &str = "JIT";
/// What is said of a line that may lag.
const LAGS: &str = "its line may be that of an instruction shortly before: PHP does not store each";

/// What decodes one stack.
pub struct Decoder<'a> {
    /// The runtime.
    pub php: &'a Php,
    /// The process.
    pub host: &'a dyn Host,
}

impl Decoder<'_> {
    /// The spans of a stack.
    pub fn spans(&self, stack: &NativeStack<'_>) -> Vec<Span> {
        let Some(chain) = self.chain(stack) else { return Vec::new() };
        let begun = chain.frames.iter().filter(|frame| begins(frame)).count();
        let machine = Machine::of(self.php, self.host, stack.frames, begun);
        let mut frames: Vec<LanguageFrame> = chain.frames.iter().map(language).collect();
        if let (Some(tid), Some(shown)) = (stack.thread, frames.first_mut()) {
            self.correct(tid, stack.frames, &machine, &chain, shown);
        }
        let mut spans = place(&machine, stack, &chain, frames);
        let plumbing = self.plumbing(stack.frames, &spans);
        spans.extend(plumbing);
        spans
    }

    /// The calls on a stack: of a thread, or of a fiber that is suspended.
    fn chain(&self, stack: &NativeStack<'_>) -> Option<Chain> {
        let Some(tid) = stack.thread else {
            return self.php.chain_of_stack(self.host, stack.frames.first()?.sp?);
        };
        let globals = self.php.storage.of(self.host, tid)?;
        let runs = match self.php.storage {
            super::Storage::PerThread { .. } => true,
            super::Storage::Fixed(_) => {
                let is_only = || self.host.threads() == [tid];
                self.host.main_thread().map_or_else(is_only, |main| main == tid)
                    || self.php.has_machine(self.host, stack.frames)
            }
        };
        runs.then(|| self.php.chain_of(self.host, &globals)).flatten()
    }

    /// Where the innermost call of PHP itself runs, registers have its place: not every instruction is stored.
    fn correct(
        &self,
        tid: Tid,
        frames: &[NativeFrame],
        machine: &Machine<'_>,
        chain: &Chain,
        shown: &mut LanguageFrame,
    ) {
        let Some(code) = chain.frames.first().and_then(|frame| frame.code.as_ref()) else { return };
        let is_innermost = frames.first().is_some_and(|frame| matches!(frame.pc, CodeAddr::Pc(_)));
        if !is_innermost || !machine.is_activation(0) {
            return;
        }
        if frames.first().is_some_and(|it| !self.php.module.contains(it.pc.lookup())) {
            // Code that the JIT made keeps no such place.
            shown.line = None;
            shown.tier = Some(JIT);
            return;
        }
        let registers = self.host.registers(tid);
        let values = (0..MAX_REGISTERS).filter_map(|number| registers?.get(RegisterId(number)));
        let mut places: Vec<Addr> =
            values.map(Addr::new).filter(|at| code.has_instruction(*at)).collect();
        places.sort_unstable();
        places.dedup();
        let memory = self.php.memory(self.host);
        match places.as_slice() {
            [at] => shown.line = memory.line_of(*at).or(shown.line),
            _ => shown.doubt = Some(LAGS.into()),
        }
    }

    /// Spans that hide how PHP calls, on a stack where its frames are shown in their places.
    fn plumbing(&self, frames: &[NativeFrame], spans: &[Span]) -> Vec<Span> {
        let mut taken: FxHashSet<usize> = FxHashSet::default();
        for span in spans.iter().filter(|span| !span.frames.is_empty()) {
            taken.extend(span.frames.clone());
        }
        if taken.is_empty() {
            return Vec::new();
        }
        let free = frames.iter().enumerate().filter(|(place, _)| !taken.contains(place));
        let hidden = free.filter(|(_, frame)| self.calls(frame));
        hidden.map(|(place, _)| Span::replacing(place, Vec::new())).collect()
    }

    /// Whether a native frame does nothing but call.
    fn calls(&self, frame: &NativeFrame) -> bool {
        match self.php.module.contains(frame.pc.lookup()) {
            true => self.host.function_at(frame.pc).is_some_and(|name| is_plumbing(&name)),
            false => self.php.is_machine_code(self.host, frame.pc.lookup()),
        }
    }
}

/// Whether an activation of the machine was begun for a call.
const fn begins(frame: &Frame) -> bool {
    frame.is_top && frame.code.is_some()
}

/// Puts calls to the native frames: functions of C to their own, code of PHP to the activations that run it.
fn place(
    machine: &Machine<'_>,
    stack: &NativeStack<'_>,
    chain: &Chain,
    frames: Vec<LanguageFrame>,
) -> Vec<Span> {
    let count = stack.frames.len();
    let mut spans: Vec<Span> = Vec::new();
    let mut pending: Vec<LanguageFrame> = Vec::new();
    let mut from = 0;
    // Behind the bottom of a fiber's stack, calls lie on the stack of whoever resumed it.
    let end = chain.bottoms.first().map_or(chain.frames.len(), |(_, place)| *place);
    let own = chain.frames.get(..end).unwrap_or_default();
    let mut activations = activations(machine, stack, own, chain.broken.is_some()).into_iter();
    let mut frames = frames.into_iter();
    for (call, frame) in own.iter().zip(frames.by_ref()) {
        pending.push(frame);
        let (span, native) = match call.handler {
            Some(code) => (machine.c_function(from..count, code).map(one), Native::Kept),
            None if begins(call) => match activations.next() {
                Some(Some(place)) => (Some(one(place)), Native::Replaced),
                // It was about to begin.
                Some(None) => (Some(from..from), Native::Kept),
                None => (None, Native::Kept),
            },
            None => (None, Native::Kept),
        };
        if let Some(span) = span {
            from = span.end;
            spans.push(Span { frames: span, native, language: std::mem::take(&mut pending) });
        }
    }
    let mut rest: Vec<LanguageFrame> = pending.into_iter().map(without_place).collect();
    rest.extend(frames);
    rest.extend(chain.broken.map(missing));
    if !rest.is_empty() {
        spans.push(Span { frames: count..count, native: Native::Kept, language: rest });
    }
    spans
}

const fn one(place: usize) -> Range<usize> {
    place..place.saturating_add(1)
}

/// The native frame of each call that an activation was begun for: the innermost activation may just begin and have no
/// frame yet, or just end and have no call. Where either list is cut, the innermost ones belong together.
fn activations(
    machine: &Machine<'_>,
    stack: &NativeStack<'_>,
    calls: &[Frame],
    is_cut: bool,
) -> Vec<Option<usize>> {
    let places = machine.all();
    if is_cut || stack.end != End::Outermost {
        return places.into_iter().map(Some).collect();
    }
    let begun = calls.iter().filter(|call| begins(call)).count();
    let missing = begun.saturating_sub(places.len());
    let ending = places.len().saturating_sub(begun);
    let known = places.into_iter().skip(ending).map(Some);
    std::iter::repeat_n(None, missing).chain(known).collect()
}

/// A frame as all languages have it.
pub fn language(frame: &Frame) -> LanguageFrame {
    let code = frame.code.as_ref();
    LanguageFrame {
        kind: FrameKind::Php,
        function: frame.name.clone().or_else(|| Some("<unknown>".into())),
        file: code.and_then(|code| code.file.clone()),
        line: code.and_then(|code| code.line),
        language: Some("php"),
        object: Some(frame.at),
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
        kind: FrameKind::Php,
        function: Some("<unknown>".into()),
        language: Some("php"),
        doubt: Some(Arc::from(why)),
        ..LanguageFrame::default()
    }
}
