//! Who awaits whom: what V8 shows as `at async f`.
//!
//! As `CaptureAsyncStackTrace` in `src/execution/isolate.cc`: the promise of an async function that runs
//! has a reaction, whose handler knows the async function that awaits it.

mod pending;

use std::{collections::HashSet, sync::Arc};

use kcore_mem::Addr;

use super::{
    Function, Heap, Tagged, V8, call_site::CallSite, frame::FrameSlots, heap::Object,
    script::LineColumn,
};
use crate::{FrameKind, Host, LanguageFrame, NativeStack};

pub use pending::Waiting;

/// Async functions that wait for each other, at most.
const MAX_AWAITS: usize = 1000;
/// Words of a frame in which its generator is searched.
const MAX_WORDS: i64 = 256;

// `JSGeneratorObject`, `src/objects/js-generator.tq`.
const FUNCTION: u64 = 24;
const RECEIVER: u64 = 40;
const DEBUG_POSITION: u64 = 48;
/// The promise of an async function, or the requests of an async generator.
const PROMISE_OR_QUEUE: u64 = 80;
/// `AsyncGeneratorRequest`: its promise.
const REQUEST_PROMISE: u64 = 32;

// `JSPromise`, `src/objects/js-promise.tq`.
const REACTIONS: u64 = 24;
const PROMISE_FLAGS: u64 = 32;

/// The element of an await's context that holds the generator: the context's extension.
const EXTENSION: u64 = 2;
/// The identity hash of an object without properties beside it.
const HASH: u64 = 8;
/// Source text behind an `await` in which its promise is looked for, in units.
const MAX_EXPRESSION: u64 = 256;
const COMBINATORS: [&str; 3] = ["Promise.all", "Promise.allSettled", "Promise.any"];
/// Elements of the context of a closure of V8's own in which a capability is searched.
const MAX_SLOTS: u64 = 8;

impl V8 {
    /// The functions that wait for the outermost JavaScript function of a stack, the nearest first.
    pub fn awaiting(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<LanguageFrame> {
        let Some(heap) = self.decodable(host) else { return Vec::new() };
        let pointers = stack.frames.iter().filter_map(|frame| frame.frame_pointer);
        let mut generators = pointers.filter_map(|fp| generator_of(&heap, FrameSlots(fp)));
        // The outermost one is what a microtask runs; inner ones have their callers on the stack.
        let outermost = std::iter::from_fn(|| generators.next()).last();
        outermost.map(|generator| Awaits::new(heap, generator).frames()).unwrap_or_default()
    }
}

/// The async function or async generator that a frame runs: its registers hold it.
fn generator_of(heap: &Heap<'_>, slots: FrameSlots) -> Option<Object> {
    let function = match slots.shape(heap) {
        super::frame::Shape::Function(function) => function,
        _ => return None,
    };
    function.shared.is_async(heap).then_some(())?;
    let words = (3..MAX_WORDS).map(|word| word.saturating_mul(-8));
    let objects = words.map_while(|offset| slots.word(heap, offset));
    let mut generators = objects.filter_map(|word| heap.object(Tagged::of(word)));
    generators.find(|object| {
        is_generator(heap, *object)
            && heap.tagged(object.at, FUNCTION) == Some(Tagged::Strong(function.object.at))
    })
}

fn is_generator(heap: &Heap<'_>, object: Object) -> bool {
    let types = &heap.layout.types;
    [types.async_function, types.async_generator].contains(&object.kind)
}

/// A chain of awaits.
struct Awaits<'a> {
    heap: Heap<'a>,
    promise: Option<Object>,
    seen: HashSet<Addr>,
    frames: Vec<LanguageFrame>,
    /// Which of the promises that `Promise.all` or its kin waits for the last one is.
    combinator: Option<u64>,
}

impl<'a> Awaits<'a> {
    fn new(heap: Heap<'a>, generator: Object) -> Self {
        let promise = promise_of(&heap, generator);
        Self::of_promise(heap, promise)
    }

    fn of_promise(heap: Heap<'a>, promise: Option<Object>) -> Self {
        Self { heap, promise, seen: HashSet::new(), frames: Vec::new(), combinator: None }
    }

    fn frames(mut self) -> Vec<LanguageFrame> {
        while let Some(promise) = self.promise.filter(|_| self.frames.len() < MAX_AWAITS) {
            if !self.seen.insert(promise.at) {
                break;
            }
            self.promise = self.next(promise);
        }
        self.frames
    }

    /// The promise that waits for this one; whoever awaits it is remembered.
    fn next(&mut self, promise: Object) -> Option<Object> {
        let (heap, types) = (self.heap, self.heap.layout.types);
        (heap.smi(promise.at, PROMISE_FLAGS)? & 3 == 0).then_some(())?;
        let reaction = heap.field_of(promise.at, REACTIONS, types.promise_reaction)?;
        let next = reaction_next(&heap, reaction)?;
        // Of many that wait none is the caller.
        heap.smi(reaction.at, next)?;
        // Behind it lie the handlers of rejection and of fulfilment, and what they settle.
        let handler = heap.field(reaction.at, next.checked_add(16)?);
        let handler = handler.filter(|it| heap.is_function(*it));
        if let Some(generator) = handler.and_then(|handler| self.awaiter(handler)) {
            self.frames
                .extend(self.combinator.take().map(|index| self.combinator(index, generator)));
            self.frames.extend(self.frame(generator));
            return promise_of(&heap, generator);
        }
        let derived = heap.field(reaction.at, next.checked_add(24)?);
        let derived = derived.and_then(|derived| self.promise_in(derived));
        derived.or_else(|| self.combined(handler?))
    }

    /// The frame of `Promise.all` or of its kin, which `generator` waits for: its source says which.
    fn combinator(&self, index: u64, generator: Object) -> LanguageFrame {
        let name = self.combinator_name(generator).unwrap_or("Promise combinator");
        LanguageFrame {
            kind: FrameKind::Async,
            function: Some(format!("{name} (index {index})").into()),
            language: Some("javascript"),
            ..LanguageFrame::default()
        }
    }

    fn combinator_name(&self, generator: Object) -> Option<&'static str> {
        let heap = &self.heap;
        let function = Function::load(heap, heap.tagged(generator.at, FUNCTION)?)?;
        let source = function.shared.script(heap)?.source(heap)?;
        let units = heap.units(source, self.offset(generator, function)?, MAX_EXPRESSION)?;
        let text = String::from_utf16_lossy(&units);
        let (name, _) = text.get(text.find("Promise.")?..)?.split_once('(')?;
        COMBINATORS.into_iter().find(|known| *known == name)
    }

    /// The async function that goes on when a closure of V8's own is called.
    fn awaiter(&self, handler: Object) -> Option<Object> {
        let function = self.own_closure(handler)?;
        let context = function.context(&self.heap)?;
        let generator = self.heap.object(self.heap.element(context, EXTENSION)?)?;
        is_generator(&self.heap, generator).then_some(generator)
    }

    fn own_closure(&self, handler: Object) -> Option<Function> {
        let function = Function::load(&self.heap, Tagged::Strong(handler.at))?;
        function.shared.script(&self.heap).is_none().then_some(function)
    }

    /// The promise that `Promise.all` and its kin made: the context of their closures holds it. Which one
    /// of theirs was settled they keep in place of the closure's hash, counted from 1.
    fn combined(&mut self, handler: Object) -> Option<Object> {
        let heap = self.heap;
        let context = self.own_closure(handler)?.context(&heap)?;
        let mut slots = (EXTENSION..MAX_SLOTS)
            .map_while(|slot| heap.element(context, slot))
            .filter_map(|slot| heap.object(slot));
        let found = slots.find_map(|slot| Some((slot, self.promise_in(slot)?)));
        let (slot, promise) = found?;
        let is_capability = slot.kind == heap.layout.types.promise_capability;
        let number = heap.smi(handler.at, HASH).filter(|_| is_capability);
        self.combinator = number.and_then(|number| u64::try_from(number).ok()?.checked_sub(1));
        Some(promise)
    }

    /// A promise, or that of a capability.
    fn promise_in(&self, object: Object) -> Option<Object> {
        let types = &self.heap.layout.types;
        if object.kind == types.promise_capability {
            return self.heap.field_of(object.at, 8, types.promise);
        }
        (object.kind == types.promise).then_some(object)
    }

    fn frame(&self, generator: Object) -> Option<LanguageFrame> {
        let heap = &self.heap;
        let function = Function::load(heap, heap.tagged(generator.at, FUNCTION)?)?;
        let receiver = heap.tagged(generator.at, RECEIVER);
        let site = CallSite::new(heap, function, receiver);
        let place = self
            .offset(generator, function)
            .and_then(|offset| function.shared.script(heap)?.place(heap, offset));
        let script = function.shared.script(heap);
        let frame = LanguageFrame {
            kind: FrameKind::Async,
            function: Some(site.shown().into()),
            file: script.and_then(|script| script.shown_name(heap)).map(Arc::from),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            language: Some("javascript"),
            object: Some(generator.at),
            ..LanguageFrame::default()
        };
        Some(heap.original(frame, function.shared, Some(function)))
    }

    /// Where a generator waits, in its script.
    fn offset(&self, generator: Object, function: Function) -> Option<u64> {
        let held = self.heap.smi(generator.at, DEBUG_POSITION)?;
        let offset = self.heap.bytecode_offset(held)?;
        let bytecode = function.shared.bytecode(&self.heap)?;
        self.heap.bytecode_position(bytecode, offset)?.script_offset()
    }
}

impl Heap<'_> {
    /// Where a generator that is suspended goes on, in its script; an async function is one.
    pub fn suspended_at(&self, generator: Object) -> Option<LineColumn> {
        let function = Function::load(self, self.tagged(generator.at, FUNCTION)?)?;
        let held = self.smi(generator.at, DEBUG_POSITION)?;
        let offset = self.bytecode_offset(held)?;
        let bytecode = function.shared.bytecode(self)?;
        let offset = self.bytecode_position(bytecode, offset)?.script_offset()?;
        function.shared.script(self)?.place(self, offset)
    }
}

/// The promise that an async function settles, or an async generator next.
fn promise_of(heap: &Heap<'_>, generator: Object) -> Option<Object> {
    let holder = heap.field(generator.at, PROMISE_OR_QUEUE)?;
    if holder.kind == heap.layout.types.promise {
        return Some(holder);
    }
    heap.field_of(holder.at, REQUEST_PROMISE, heap.layout.types.promise)
}

/// Where a PromiseReaction holds the next one. What the embedder keeps for it lies before that since V8
/// 13, and in Node.js 22 as well, whose V8 is older: `src/objects/promise.tq`.
fn reaction_next(heap: &Heap<'_>, reaction: Object) -> Option<u64> {
    let types = &heap.layout.types;
    let is_next = match heap.tagged(reaction.at, 8)? {
        Tagged::Smi(_) => true,
        first => heap.object(first).is_some_and(|object| object.kind == types.promise_reaction),
    };
    let is_behind = heap.layout.column.is_since(13, 6) || !is_next;
    Some(if is_behind { 16 } else { 8 })
}
