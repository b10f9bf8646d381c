//! Python's frames among the native ones of a stack.
//!
//! One native activation of the evaluation loop, `_PyEval_EvalFrameDefault`, runs a group of frames. Since 3.10
//! something of each group lies in the stack frame of its activation, which so is found without a name; for
//! 3.8 and 3.9, where an activation runs one frame, activations are counted.

use std::sync::Arc;

use kcore_unwind::Frame;

use super::{
    Python,
    frame::{Chain, Group, PyFrame},
    interpreter::ThreadState,
};
use crate::{FrameKind, Host, LanguageFrame, Native, NativeStack, Span};

/// The evaluation loop; the compiler may have split it or changed its name: `.cold`, `.lto_priv.0`.
const LOOP: &str = "_PyEval_EvalFrameDefault";

/// What decodes one stack.
pub struct Decoder<'a> {
    /// The runtime.
    pub python: &'a Python,
    /// The process.
    pub host: &'a dyn Host,
}

impl Decoder<'_> {
    /// The spans of a stack.
    pub fn spans(&self, stack: &NativeStack<'_>) -> Vec<Span> {
        let Some(tid) = stack.thread else { return Vec::new() };
        let heap = self.python.heap(self.host);
        let state = self.python.state(self.host);
        let threads = state.threads.iter().filter(|thread| thread.tid == Some(tid));
        let spans = threads.flat_map(|thread: &ThreadState| {
            let chain = self.python.chain(&heap, thread);
            self.merged(stack, &chain)
        });
        spans.collect()
    }

    fn merged(&self, stack: &NativeStack<'_>, chain: &Chain) -> Vec<Span> {
        let has_anchors = chain.groups.iter().any(|group| group.anchor.is_some());
        let mut places = match has_anchors {
            true => chain.groups.iter().map(|group| anchored(stack.frames, group)).collect(),
            false => self.counted(stack.frames, chain.groups.len()),
        };
        places.resize(chain.groups.len(), None);
        let mut spans: Vec<Span> = Vec::new();
        let mut last = 0_usize;
        let mut apart: Vec<LanguageFrame> = Vec::new();
        for (group, place) in chain.groups.iter().zip(places) {
            let language = group.frames.iter().map(language).collect::<Vec<_>>();
            match place.filter(|place| *place >= last) {
                Some(place) => {
                    let first = self.handler(stack.frames, place, last);
                    spans.push(Span {
                        frames: first..place.saturating_add(1),
                        native: Native::Replaced,
                        language,
                    });
                    last = place.saturating_add(1);
                }
                None => apart.extend(language.into_iter().map(without_place)),
            }
        }
        apart.extend(chain.broken.map(missing));
        if !apart.is_empty() {
            let end = stack.frames.len();
            spans.push(Span { frames: end..end, native: Native::Kept, language: apart });
        }
        spans
    }

    /// The activations of the loop by name, as many as there are groups: where there are more native ones or
    /// fewer, none of their places is certain but the innermost.
    fn counted(&self, frames: &[Frame], wanted: usize) -> Vec<Option<usize>> {
        let is_loop = |frame: &Frame| {
            let name = self.host.function_at(frame.pc);
            name.is_some_and(|name| name.strip_prefix(LOOP).is_some_and(is_clone))
        };
        let places = frames.iter().enumerate().filter(|(_, frame)| is_loop(frame));
        places.map(|(place, _)| Some(place)).take(wanted).collect()
    }

    /// Where the span of an activation begins: a loop of functions that call each other last runs its
    /// handlers in one frame of their own, which has no name, or one that says so.
    fn handler(&self, frames: &[Frame], place: usize, last: usize) -> usize {
        let before = place.checked_sub(1).filter(|before| *before >= last);
        let Some(before) = before.filter(|_| self.python.layout.minor >= 14) else { return place };
        let Some(frame) = frames.get(before) else { return place };
        let module =
            |at: usize| frames.get(at).and_then(|frame| self.host.module_at(frame.pc.lookup()));
        let same = match (module(before), module(place)) {
            (Some(one), Some(other)) => one.span() == other.span(),
            _ => false,
        };
        let name = self.host.function_at(frame.pc);
        let is_handler =
            name.is_none_or(|name| name.starts_with("_TAIL_CALL_") || name.starts_with(LOOP));
        if same && is_handler { before } else { place }
    }
}

/// Whether what follows the loop's name is what a compiler appends.
fn is_clone(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('.')
}

/// The native frame that holds the anchor of a group.
fn anchored(frames: &[Frame], group: &Group) -> Option<usize> {
    let anchor = group.anchor?;
    // Frames lie one behind the other, innermost lowest.
    let after = frames.partition_point(|frame| frame.sp.is_some_and(|sp| sp <= anchor));
    let place = after.checked_sub(1)?;
    let end = frames.get(after).and_then(|frame| frame.sp).or(frames.get(place)?.cfa)?;
    (anchor < end).then_some(place)
}

fn language(frame: &PyFrame) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Python,
        function: Some(frame.code.name.clone()),
        file: Some(frame.code.file.clone()),
        line: frame.line,
        language: Some("python"),
        object: Some(frame.at),
        ..LanguageFrame::default()
    }
}

fn without_place(frame: LanguageFrame) -> LanguageFrame {
    let doubt = "its place among the native frames is not known";
    LanguageFrame { doubt: Some(Arc::from(doubt)), ..frame }
}

/// What stands in place of frames that cannot be read.
fn missing(why: &'static str) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Python,
        language: Some("python"),
        doubt: Some(Arc::from(why)),
        ..LanguageFrame::default()
    }
}
