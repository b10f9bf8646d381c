//! Ruby's frames among the native ones of a stack.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Frame;
use rustc_hash::FxHashSet;

use super::{
    Ruby,
    frame::{Chain, RubyFrame},
    plumbing::is_plumbing,
    tags::Tag,
    vm::Context,
};
use crate::{FrameKind, Host, LanguageFrame, Native, NativeStack, Span, thread_stack::holder};

/// What decodes one stack.
pub struct Decoder<'a> {
    /// The runtime.
    pub ruby: &'a Ruby,
    /// The process.
    pub host: &'a dyn Host,
}

impl Decoder<'_> {
    /// The spans of a stack.
    pub fn spans(&self, stack: &NativeStack<'_>) -> Vec<Span> {
        let Some(context) = self.context(stack) else { return Vec::new() };
        let heap = self.ruby.heap(self.host);
        let Some(context) = heap.context(context) else { return self.unreadable(stack) };
        let mut spans = self.merged(stack, &context);
        let plumbing = self.plumbing(stack.frames, &spans);
        spans.extend(plumbing);
        spans
    }

    /// The context that runs on a stack: of a thread, or of a fiber that is suspended.
    fn context(&self, stack: &NativeStack<'_>) -> Option<Addr> {
        if let Some(tid) = stack.thread {
            return self.ruby.threads(self.host).of(tid).map(|thread| thread.context);
        }
        let innermost = stack.frames.first()?;
        self.ruby.module.contains(innermost.pc.lookup()).then_some(())?;
        self.ruby.fibers(self.host).at_stack_pointer(innermost.sp?).map(|fiber| fiber.context)
    }

    fn merged(&self, stack: &NativeStack<'_>, context: &Context) -> Vec<Span> {
        let heap = self.ruby.heap(self.host);
        let chain = self.ruby.chain(&heap, context);
        let tags = self.ruby.activations(self.host, &heap, context);
        let places = places(stack.frames, &tags, &chain);
        let (mut spans, mut begun, mut apart) = (Vec::<Span>::new(), Vec::new(), Vec::new());
        for (group, place) in chain.groups.iter().zip(places) {
            let frames = group.iter().map(language);
            let is_free = |place: &usize| spans.last().is_none_or(|span| span.frames.end <= *place);
            match place.filter(is_free) {
                Some(place) => spans.push(Span::replacing(place, frames.collect())),
                // Its activation only begins: it is further in than all others.
                None if spans.is_empty() => begun.extend(frames.map(without_place)),
                None => apart.extend(frames.map(without_place)),
            }
        }
        if spans.is_empty() {
            apart.splice(..0, std::mem::take(&mut begun));
        }
        if !begun.is_empty() {
            spans.insert(0, Span { frames: 0..0, native: Native::Kept, language: begun });
        }
        apart.extend(chain.rest.iter().map(language).map(without_place));
        apart.extend(chain.broken.map(missing));
        if !apart.is_empty() {
            let end = stack.frames.len();
            spans.push(Span { frames: end..end, native: Native::Kept, language: apart });
        }
        spans
    }

    fn unreadable(&self, stack: &NativeStack<'_>) -> Vec<Span> {
        let end = stack.frames.len();
        let language = vec![missing("its stack of control frames is damaged, or was not dumped")];
        vec![Span { frames: end..end, native: Native::Kept, language }]
    }

    /// Spans that hide how MRI calls, on a stack where frames of Ruby are shown in their places.
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

    /// Whether a native frame does nothing but call, or is machine code of frames that are shown.
    fn calls(&self, frame: &Frame) -> bool {
        if self.host.module_at(frame.pc.lookup()).is_none() {
            return self.ruby.is_machine_code(self.host, frame.pc);
        }
        self.ruby.module.contains(frame.pc.lookup())
            && self.host.function_at(frame.pc).is_some_and(|name| is_plumbing(&name))
    }
}

/// The native frame of each group, the outermost first: the innermost activation may just begin, and have none.
fn places(frames: &[Frame], tags: &[Tag], chain: &Chain) -> Vec<Option<usize>> {
    let missing = chain.groups.len().saturating_sub(tags.len());
    let inner = tags.len().saturating_sub(chain.groups.len());
    let known = tags.iter().skip(inner).map(|tag| holder(frames, tag.at));
    std::iter::repeat_n(None, missing).chain(known).collect()
}

/// A frame as all languages have it.
pub fn language(frame: &RubyFrame) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Ruby,
        function: frame.function.clone().or_else(|| Some("<unknown>".into())),
        file: frame.file.clone(),
        line: frame.line,
        language: Some("ruby"),
        object: Some(frame.at),
        doubt: frame.doubt.map(Arc::from),
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
        kind: FrameKind::Ruby,
        function: Some("<unknown>".into()),
        language: Some("ruby"),
        doubt: Some(Arc::from(why)),
        ..LanguageFrame::default()
    }
}
