//! Python's frames among the native ones of a stack.

use std::sync::Arc;

use kcore_mem::AddrRange;
use kcore_unwind::Frame;
use rustc_hash::FxHashSet;

use super::{
    Python,
    activations::LOOP,
    frame::{Chain, PyFrame},
    plumbing::is_plumbing,
};
use crate::{FrameKind, Host, LanguageFrame, Native, NativeStack, Span};

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
        let chains = self.python.chains_on(self.host, tid, stack.frames);
        self.spans_of(stack, &chains)
    }

    /// The spans of a stack whose frames of Python are known.
    pub fn spans_of(&self, stack: &NativeStack<'_>, chains: &[Chain]) -> Vec<Span> {
        let places = self.python.places(self.host, stack.frames, chains);
        let mut spans: Vec<Span> = chains
            .iter()
            .zip(&places)
            .flat_map(|(chain, places)| self.merged(stack, chain, places))
            .collect();
        let plumbing = self.plumbing(stack.frames, &spans);
        spans.extend(plumbing);
        spans
    }

    fn merged(
        &self,
        stack: &NativeStack<'_>,
        chain: &Chain,
        places: &[Option<usize>],
    ) -> Vec<Span> {
        let places = places.iter().copied().chain(std::iter::repeat(None));
        let mut spans: Vec<Span> = Vec::new();
        let mut last = 0_usize;
        let mut apart: Vec<LanguageFrame> = Vec::new();
        let mut open: Vec<LanguageFrame> = Vec::new();
        for (group, place) in chain.groups.iter().zip(places) {
            let language = group.frames.iter().map(language).collect::<Vec<_>>();
            match place.filter(|place| *place >= last) {
                Some(place) => {
                    spans.push(self.in_place(stack.frames, place, last, language));
                    last = place.saturating_add(1);
                }
                None if chain.broken.is_some() && group.anchor.is_none() => open.extend(language),
                None => apart.extend(language.into_iter().map(without_place)),
            }
        }
        open.extend(chain.broken.map(missing));
        // Where nothing leads further the next activation is the one of which nothing more is known.
        match self.next_loop(stack.frames, last).filter(|_| apart.is_empty() && !open.is_empty()) {
            Some(place) => spans.push(self.in_place(stack.frames, place, last, open)),
            None => apart.extend(open),
        }
        if !apart.is_empty() {
            let end = stack.frames.len();
            spans.push(Span { frames: end..end, native: Native::Kept, language: apart });
        }
        spans
    }

    /// The span of frames that the activation at `place` runs, behind the one that ends at `last`.
    fn in_place(
        &self,
        frames: &[Frame],
        place: usize,
        last: usize,
        language: Vec<LanguageFrame>,
    ) -> Span {
        let first = self.handler(frames, place, last);
        Span { frames: first..place.saturating_add(1), native: Native::Replaced, language }
    }

    /// The first activation of the loop at `first` or outside of it.
    fn next_loop(&self, frames: &[Frame], first: usize) -> Option<usize> {
        let mut places = frames.iter().enumerate().skip(first);
        places.find(|(_, frame)| self.python.is_loop(self.host, frame)).map(|(place, _)| place)
    }

    /// Where the span of an activation begins: a loop of functions that call each other last runs its
    /// handlers in one frame of their own, which has no name, or one that says so.
    fn handler(&self, frames: &[Frame], place: usize, last: usize) -> usize {
        let before = place.checked_sub(1).filter(|before| *before >= last);
        let Some(before) = before.filter(|_| self.python.layout.minor >= 14) else { return place };
        let Some(frame) = frames.get(before) else { return place };
        let module = |at: usize| -> Option<AddrRange> {
            let frame = frames.get(at)?;
            self.host.module_at(frame.pc.lookup()).map(|module| module.span())
        };
        let is_same = module(before).is_some() && module(before) == module(place);
        let name = self.host.function_at(frame.pc);
        let is_handler =
            name.is_none_or(|name| name.starts_with("_TAIL_CALL_") || name.starts_with(LOOP));
        if is_same && is_handler { before } else { place }
    }

    /// Spans that hide how CPython calls, on a stack where frames of Python are shown in their places.
    fn plumbing(&self, frames: &[Frame], spans: &[Span]) -> Vec<Span> {
        let mut taken: FxHashSet<usize> = FxHashSet::default();
        for span in spans.iter().filter(|span| span.native == Native::Replaced) {
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
    fn calls(&self, frame: &Frame) -> bool {
        self.python.module.contains(frame.pc.lookup())
            && self.host.function_at(frame.pc).is_some_and(|name| is_plumbing(&name))
    }
}

/// A frame, as others know it.
pub fn language(frame: &PyFrame) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Python,
        function: Some(frame.code.name.clone()),
        file: Some(frame.code.file.clone()),
        line: frame.line,
        language: Some("python"),
        object: Some(frame.at),
        doubt: frame.is_late.then(|| "its thread may have run on before it was read".into()),
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
        function: Some("<unknown>".into()),
        language: Some("python"),
        doubt: Some(Arc::from(why)),
        ..LanguageFrame::default()
    }
}
