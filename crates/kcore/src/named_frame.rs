//! The frames of a stack by name, those of all languages in one row.

use std::{borrow::Cow, fmt, ops::Deref, sync::Arc};

use kcore_mem::{Addr, CodeAddr};
use kcore_runtimes::{LanguageFrame, Native, NativeStack, Span, TaskStart};
use kcore_unwind::{Frame, Trust};
use rustc_hash::FxHashSet;

use crate::{Core, Location, Stack, StackView, Task};

/// A frame with its names: a physical frame, an inlined call within the next physical one, a function that ended by
/// a tail call, or what a runtime runs in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFrame {
    /// Index among named frames, innermost 0.
    pub index: usize,
    /// Index of the physical frame, innermost 0; also 0 where there is none. Of a function that ended by a tail
    /// call, that of the frame which it led to.
    pub physical: usize,
    /// The physical frame; `None` of a task whose runtime keeps its frames in objects of its own. Of a function
    /// that ended by a tail call, what is known of it: see [`Trust::TailCall`].
    pub frame: Option<Frame>,
    /// What runs there.
    pub location: SharedLocation,
    /// Of functions that ended by tail calls before the physical frame began, which one, the last one 0.
    pub(crate) tail: Option<usize>,
}

/// A location among those of its address, which all frames at that address share.
#[derive(Clone)]
pub struct SharedLocation {
    all: Arc<[Location]>,
    at: usize,
}

impl SharedLocation {
    /// How many functions hold it: of the one that the machine called 0, of one inlined there 1.
    pub(crate) fn depth(&self) -> usize {
        self.all.len().saturating_sub(1).saturating_sub(self.at)
    }
}

impl fmt::Display for SharedLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Deref for SharedLocation {
    type Target = Location;

    fn deref(&self) -> &Location {
        // A static, since frames are never made without a location and yet must not panic.
        static NOWHERE: Location = Location::nowhere();
        self.all.get(self.at).unwrap_or(&NOWHERE)
    }
}

impl PartialEq for SharedLocation {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SharedLocation {}

impl fmt::Debug for SharedLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Frames beyond those of a stack that was cut, which a runtime may need to tell the last ones.
const BEYOND: usize = 8;

impl NamedFrame {
    /// Whether this stands for a function that ended by a tail call. Such a frame has no registers and no memory of its
    /// own.
    pub const fn is_tail_call(&self) -> bool {
        self.tail.is_some()
    }

    /// Whether another frame is of the same activation of a function: that, or a call that is inlined into it.
    pub fn is_of(&self, other: &Self) -> bool {
        (self.physical, self.tail) == (other.physical, other.tail)
    }

    /// How the frame was found. An inlined call is as certain as the frame that holds it.
    pub fn trust(&self) -> Trust {
        self.frame.map_or(Trust::Runtime, |frame| frame.trust)
    }

    /// Whether it is a guess, or was found from one.
    pub fn is_guess(&self) -> bool {
        self.frame.is_some_and(|frame| frame.guess)
    }

    /// Where it runs, or will return to, if that is in native code.
    pub fn pc(&self) -> Option<CodeAddr> {
        self.frame.map(|frame| frame.pc)
    }

    /// Its frame pointer, if it is known.
    pub fn frame_pointer(&self) -> Option<Addr> {
        self.frame?.frame_pointer
    }
}

impl fmt::Display for NamedFrame {
    /// Where it runs, for programs that have no other use for its parts: see [`Location`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.location.function, self.pc()) {
            (None, Some(pc)) => write!(f, "{:#x} in {}", pc.addr().get(), *self.location),
            _ => self.location.fmt(f),
        }
    }
}

impl<'c> StackView<'c> {
    /// The named frames of a stack, innermost first: inlined calls as frames of their own, and those of
    /// languages in the place of the native frames that run them.
    pub fn named_frames(self, stack: &'c Stack) -> impl Iterator<Item = NamedFrame> + 'c {
        let spans = self.core.decoded(stack).clone();
        self.core.named(stack, spans)
    }

    /// The native frames alone, whatever runs in them.
    pub fn native_frames(self, stack: &'c Stack) -> impl Iterator<Item = NamedFrame> + 'c {
        self.core.named(stack, Arc::default())
    }

    /// What runtimes do not know of frames of a stack, and source maps that they do not use, each once.
    pub fn doubts(self, stack: &Stack) -> Vec<Arc<str>> {
        let language = self.core.decoded(stack).iter().flat_map(|span| &span.language);
        let of = |frame: &'_ LanguageFrame| [frame.doubt.clone(), frame.map_refused.clone()];
        let doubts = language.flat_map(of).flatten();
        let mut seen = FxHashSet::default();
        doubts.filter(|doubt| seen.insert(doubt.clone())).collect()
    }
}

impl Core {
    /// What runtimes say of a stack. They are asked once.
    pub(crate) fn decoded<'a>(&self, stack: &'a Stack) -> &'a Arc<[Span]> {
        stack.decoded.get_or_init(|| self.decode(stack).into())
    }

    fn decode(&self, stack: &Stack) -> Vec<Span> {
        let start = stack.task.as_ref().map(|task| (&task.start, task));
        let language = match start {
            Some((TaskStart::Language(language), _)) => Some(language.clone()),
            Some((TaskStart::Kept, task)) => Some(self.kept_frames(task)),
            _ => None,
        };
        if let Some(language) = language {
            return vec![Span { frames: 0..0, native: Native::Replaced, language }];
        }
        let is_moved = |task: &Arc<Task>| matches!(task.start, TaskStart::Moved { .. });
        let is_moved = stack.task.as_ref().is_some_and(is_moved);
        if self.runtimes().is_silent() && !is_moved {
            return Vec::new();
        }
        let count = stack.frames.len();
        let beyond = self.frames_beyond(stack, BEYOND);
        let frames: Cow<'_, [Frame]> = match beyond.is_empty() {
            true => Cow::Borrowed(&stack.frames),
            false => stack.frames.iter().chain(&beyond).copied().collect(),
        };
        let native = NativeStack {
            thread: stack.tid,
            task: stack.task.as_deref(),
            frames: &frames,
            end: stack.end,
        };
        // Who moved a stack knows what ran on it.
        let runtimes = if is_moved { self.tasks().runtimes() } else { self.runtimes() };
        let mut spans = runtimes.decode(self, &native);
        // What stands behind the last frame belongs to a stack that was not cut.
        spans.retain(|span| span.frames.start < count || beyond.is_empty());
        for span in &mut spans {
            span.frames.end = span.frames.end.min(count);
        }
        spans
    }

    /// The frames of a task whose runtime keeps them.
    pub(crate) fn kept_frames(&self, task: &Task) -> Vec<LanguageFrame> {
        let frames = self.runtimes().task_frames(self, task);
        if frames.is_empty() { self.tasks().runtimes().task_frames(self, task) } else { frames }
    }

    /// The named frames of a stack of which runtimes said this.
    pub(crate) fn named<'a>(
        &'a self,
        stack: &'a Stack,
        spans: Arc<[Span]>,
    ) -> impl Iterator<Item = NamedFrame> + 'a {
        self.prefetch_locations(&stack.frames);
        let parts = Parts { next: 0, count: stack.frames.len(), spans, told: 0 };
        let named = parts.flat_map(move |part| self.of_part(stack, part));
        named.enumerate().map(|(index, named)| NamedFrame { index, ..named })
    }

    /// The frames of one part, not yet numbered.
    fn of_part(&self, stack: &Stack, part: Part) -> impl Iterator<Item = NamedFrame> + use<> {
        let tails = match part {
            Part::Native(index) => self.tails_of(stack, index),
            Part::Language(..) => Vec::new(),
        };
        let (physical, all) = match part {
            Part::Native(index) => (index, self.native_locations(stack, index)),
            Part::Language(index, frames) => {
                let native = || self.native_locations(stack, index).first().cloned();
                let shown = frames.into_iter().map(|frame| match frame.function {
                    Some(_) => Location::of_language(frame),
                    None => Location::of_unknown(frame, native()),
                });
                (index, shown.collect())
            }
        };
        let frame = stack.frames.get(physical).copied();
        frames_at(all, move |location| NamedFrame {
            index: 0,
            physical,
            frame,
            location,
            tail: None,
        })
        .chain(tails)
    }

    /// The functions that ended by tail calls before the physical frame at `index` began.
    fn tails_of(&self, stack: &Stack, index: usize) -> Vec<NamedFrame> {
        let callee = stack.frames.get(index);
        let caller = index.checked_add(1).and_then(|above| stack.frames.get(above));
        let chain = callee.zip(caller).and_then(|(callee, caller)| self.tail_chain(callee, caller));
        let (Some(callee), Some(chain)) = (callee, chain) else { return Vec::new() };
        let named = chain.callers.iter().enumerate().flat_map(|(number, caller)| {
            let (frame, tail) = (Some(caller.frame(callee)), Some(number));
            let all = chain.with_gap(number, self.symbols().locations(caller.pc));
            frames_at(all, move |location| NamedFrame {
                index: 0,
                physical: index,
                frame,
                location,
                tail,
            })
        });
        named.collect()
    }

    fn native_locations(&self, stack: &Stack, index: usize) -> Arc<[Location]> {
        match stack.frames.get(index) {
            Some(frame) if frame.signal_trampoline => self.trampoline(frame.pc.addr()),
            Some(frame) => self.symbols().locations(frame.pc),
            None => Arc::default(),
        }
    }

    /// The code at `at`, to which a handler of signals returns. It begins there, so that the name of a function
    /// before it which has no size is not its own.
    fn trampoline(&self, at: Addr) -> Arc<[Location]> {
        let found = self.symbols().locations(CodeAddr::Pc(at));
        let symbol = self.symbols().at(at);
        match symbol.is_some_and(|symbol| !symbol.sized && symbol.offset > 0) {
            true => found
                .iter()
                .map(|found| Location { function: None, offset: None, ..found.clone() })
                .collect(),
            false => found,
        }
    }
}

/// A frame for each of the locations of an address.
fn frames_at(
    all: Arc<[Location]>,
    frame_of: impl Fn(SharedLocation) -> NamedFrame,
) -> impl Iterator<Item = NamedFrame> {
    (0..all.len()).map(move |at| frame_of(SharedLocation { all: all.clone(), at }))
}

impl Location {
    fn of_language(frame: LanguageFrame) -> Self {
        Self {
            function: frame.function,
            module: frame.module,
            inline: frame.inline,
            file: frame.file,
            line: frame.line,
            column: frame.column,
            language: frame.language,
            kind: frame.kind,
            bytecode: frame.bytecode,
            tier: frame.tier,
            object: frame.object,
            doubt: frame.doubt,
            generated: frame.generated,
            map_refused: frame.map_refused,
            ..Self::default()
        }
    }

    /// A frame whose function its runtime does not know: what the native frame is called is the most that
    /// is known.
    fn of_unknown(frame: LanguageFrame, native: Option<Self>) -> Self {
        let known = Self::of_language(frame);
        let Some(native) = native else { return known };
        Self {
            function: native.function,
            module: known.module.or(native.module),
            offset: native.offset,
            in_exe: native.in_exe,
            ..known
        }
    }
}

/// A run of named frames.
enum Part {
    /// A physical frame, by its index.
    Native(usize),
    /// Language frames, and the index of the physical frame that runs them.
    Language(usize, Vec<LanguageFrame>),
}

/// Physical frames, and the spans that replace or join them.
struct Parts {
    next: usize,
    count: usize,
    spans: Arc<[Span]>,
    /// How many of them had their turn.
    told: usize,
}

impl Iterator for Parts {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let at = self.next;
        let ends_here = |span: &&Span| match span.native {
            Native::Replaced => span.frames.start <= at,
            // Those that it joins come first.
            Native::Kept => span.frames.end <= at,
        };
        if let Some(span) = self.spans.get(self.told).filter(ends_here) {
            self.next = self.next.max(span.frames.end);
            self.told = self.told.saturating_add(1);
            let last = self.count.saturating_sub(1);
            return Some(Part::Language(span.frames.start.min(last), span.language.clone()));
        }
        self.next = at.checked_add(1)?;
        (at < self.count).then_some(Part::Native(at))
    }
}
