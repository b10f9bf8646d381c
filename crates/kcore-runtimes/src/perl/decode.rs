//! Perl's frames among the native ones of a stack.

use std::{ops::RangeInclusive, sync::Arc};

use kcore_mem::Addr;
use kcore_unwind::{Frame, Tid};

use super::{
    Perl,
    context::{Call, Callee, Chain},
    interpreter::Interpreter,
    machine::{activations, are_enough},
    memory::Memory,
    plumbing::is_plumbing,
    position::{Mark, Position},
    scope::Scope,
};
use crate::{FrameKind, Host, LanguageFrame, Native, NativeStack, Span};

/// What `caller` calls every eval, and what is said of each.
const EVAL: &str = "(eval)";
const BLOCK: &str = "eval block";
const TEXT: &str = "eval text";
const FILE: &str = "required file";
/// What stands for the program outside of all subs.
const MAIN: &str = "main program";
/// What compiles the program before it is executed.
const PARSES: &str = "perl_parse";

/// What decodes one stack.
pub struct Decoder<'a> {
    /// The runtime.
    pub perl: &'a Perl,
    /// The process.
    pub host: &'a dyn Host,
}

impl Decoder<'_> {
    /// The spans of a stack.
    pub fn spans(&self, stack: &NativeStack<'_>) -> Vec<Span> {
        let Some(tid) = stack.thread else { return Vec::new() };
        let Some(interpreter) = self.interpreter(tid, stack.frames) else { return Vec::new() };
        let memory = self.perl.memory(self.host);
        let chain = Chain::of(&memory, &interpreter);
        let groups = self.frames(&memory, &interpreter, &chain);
        let activations = activations(self.perl, self.host, stack.frames, groups.len());
        let mut spans = self.place(stack, &activations, groups, chain.broken);
        if spans.iter().any(|span| !span.language.is_empty()) {
            spans.extend(self.perl.functions_of_c(self.host, &interpreter, stack.frames));
            let plumbing = self.plumbing(stack.frames, &activations, &spans);
            spans.extend(plumbing);
        }
        spans
    }

    /// The interpreter that a thread executes.
    pub fn interpreter(&self, tid: Tid, frames: &[Frame]) -> Option<Interpreter> {
        frames.iter().any(|frame| self.perl.is_own_code(frame.pc.lookup())).then_some(())?;
        self.perl.interpreter(self.host, tid, frames)
    }

    /// The frames of each group of calls, innermost first. The last group has the program, outside of all subs.
    fn frames(
        &self,
        memory: &Memory<'_>,
        interpreter: &Interpreter,
        chain: &Chain,
    ) -> Vec<Vec<LanguageFrame>> {
        let operation = interpreter.operation.and_then(|at| memory.pointer(at, 0));
        let mut statement = memory.pointer(interpreter.position, 0);
        let mut mark = operation.map(Mark::At);
        let has_globs = self.perl.has_globs();
        let main = interpreter.main.and_then(|at| memory.pointer(at, 0));
        let scopes = Scope::of_calls(memory, chain, statement, main);
        self.perl.remember(&scopes, statement.and_then(|at| memory.operation_kind(at)));
        let mut groups = Vec::new();
        for group in &chain.groups {
            let mut frames = Vec::new();
            for call in &group.calls {
                let position =
                    statement.map(|at| memory.position(at, mark, has_globs)).unwrap_or_default();
                frames.push(language(memory, call, position));
                statement = Some(call.caller);
                mark = call.returns_to.map(Mark::Before);
            }
            groups.push(frames);
        }
        if let (None, Some(last)) = (chain.broken, groups.last_mut()) {
            let position =
                statement.map(|at| memory.position(at, mark, has_globs)).unwrap_or_default();
            last.push(frame(MAIN.into(), position, main, None));
        }
        groups
    }

    /// Puts the calls of each group to the activation that executes them.
    fn place(
        &self,
        stack: &NativeStack<'_>,
        activations: &[RangeInclusive<usize>],
        groups: Vec<Vec<LanguageFrame>>,
        broken: Option<&'static str>,
    ) -> Vec<Span> {
        let (count, executed) = (groups.len(), activations.len());
        let is_sure = broken.is_some()
            || stack.end != kcore_unwind::End::Outermost
            || are_enough(count, executed);
        let mut rest = Vec::new();
        let mut spans = Vec::new();
        for (index, frames) in groups.into_iter().enumerate() {
            match activations.get(index).filter(|_| is_sure) {
                Some(activation) => spans.push(Span::replacing(*activation.start(), frames)),
                // Nothing executes the program yet, or any more.
                None if is_sure && index == executed && frames.len() == 1 && broken.is_none() => {
                    spans.extend(self.compiled(stack.frames, frames));
                }
                None => rest.extend(frames.into_iter().map(without_place)),
            }
        }
        rest.extend(broken.map(missing));
        if !rest.is_empty() {
            let end = stack.frames.len();
            spans.push(Span { frames: end..end, native: Native::Kept, language: rest });
        }
        spans
    }

    /// The program while it is compiled.
    fn compiled(&self, frames: &[Frame], language: Vec<LanguageFrame>) -> Option<Span> {
        let parses = |frame: &Frame| {
            self.perl.is_own_code(frame.pc.lookup())
                && self.host.function_at(frame.pc).is_some_and(|name| &*name == PARSES)
        };
        let place = frames.iter().position(parses)?;
        let frames = place..place.saturating_add(1);
        Some(Span { frames, native: Native::Kept, language })
    }

    /// Spans that hide how Perl calls, on a stack where its frames are shown in their places.
    fn plumbing(
        &self,
        frames: &[Frame],
        activations: &[RangeInclusive<usize>],
        spans: &[Span],
    ) -> Vec<Span> {
        let is_taken = |place: usize| spans.iter().any(|span| span.frames.contains(&place));
        let is_hidden = |place: usize, frame: &Frame| {
            activations.iter().any(|activation| activation.contains(&place))
                || self.perl.is_own_code(frame.pc.lookup())
                    && self.host.function_at(frame.pc).is_some_and(|name| is_plumbing(&name))
        };
        let free = frames.iter().enumerate().filter(|(place, _)| !is_taken(*place));
        let hidden = free.filter(|(place, frame)| is_hidden(*place, frame));
        hidden.map(|(place, _)| Span::replacing(place, Vec::new())).collect()
    }
}

/// A call as all languages have it.
fn language(memory: &Memory<'_>, call: &Call, position: Position) -> LanguageFrame {
    let (name, tier) = match call.callee {
        Callee::Sub { code, .. } => (memory.code_name(code), None),
        Callee::Block => (Some(EVAL.to_owned()), Some(BLOCK)),
        Callee::Text(_) => (Some(EVAL.to_owned()), Some(TEXT)),
        Callee::File(_) => (Some(EVAL.to_owned()), Some(FILE)),
    };
    let doubt = name.is_none().then(|| "its name is damaged, or was not dumped".into());
    let name = name.unwrap_or_else(|| "<unknown>".to_owned());
    LanguageFrame { tier, doubt, ..frame(name.into(), position, Some(call.at), None) }
}

fn frame(
    function: Arc<str>,
    position: Position,
    object: Option<Addr>,
    doubt: Option<Arc<str>>,
) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Perl,
        function: Some(function),
        file: position.file,
        line: position.line,
        language: Some("perl"),
        object,
        doubt,
        ..LanguageFrame::default()
    }
}

fn without_place(frame: LanguageFrame) -> LanguageFrame {
    let doubt = "its place among the native frames is not known";
    LanguageFrame { doubt: Some(Arc::from(doubt)), ..frame }
}

/// What stands in place of calls that cannot be read.
fn missing(why: &'static str) -> LanguageFrame {
    frame("<unknown>".into(), Position::default(), None, Some(why.into()))
}
