//! What ended a process: the exception that nobody caught, or why V8 or Node.js gave up.
//!
//! Under `--abort-on-uncaught-exception` V8 aborts in `Isolate::CreateMessageOrAbort`
//! (`src/execution/isolate.cc`), once it has made a message whose argument is the exception. Without it,
//! Node.js asks JavaScript whether anybody handles the exception (`src/node_errors.cc`,
//! `lib/internal/process/execution.js`), and what does may end the process.

use std::{collections::HashSet, sync::Arc};

use kcore_mem::{Addr, AddrRange};

use super::{
    Function, Heap, Tagged, V8,
    decode::{Decoder, Seen},
    fatal,
    frame::Shape,
    heap::Object,
    trace::trace_line,
};
use crate::{DyingStack, Ending, Fate, Host};

/// Functions that end the process because of an exception that is not caught, innermost ones first. The
/// last is one of V8's own ends, and the only one that stripped programs name.
const THROWS: [&str; 2] = ["v8::internal::Isolate::CreateMessageOrAbort", "v8::base::OS::Abort"];
/// The function of Node.js to which it gives an exception that nothing handles.
const TRIGGER: &str = "triggerUncaughtException";
/// The script of the function that Node.js calls with an exception that is not caught: of two
/// parameters, the exception and whether a promise was rejected with it.
const HANDLER_SCRIPT: &str = "node:internal/process/execution";
const HANDLER_PARAMETERS: u64 = 2;
/// The function `process.abort`, and that of the C library which it calls.
const ABORT: &str = "abort";

/// `JSMessageObject`: its argument, `src/objects/js-objects.tq`.
const MESSAGE_ARGUMENT: u64 = 32;
/// Handles are made one after the other: the message's is this near to others, in words.
const MAX_HANDLES: u64 = 64;
/// Bytes of the stack that are searched.
const MAX_STACK: u64 = 64 << 10;
/// Beyond the frame pointer of a frame that left JavaScript: what the call was given.
const ABOVE_FRAME: u64 = 128;
/// Text of values is read to this many units.
const MAX_TEXT: u64 = 1 << 12;
/// Frames of JavaScript that are told where V8 gave up: as many as V8 tells by default.
const MAX_TRACE: usize = 10;

impl V8 {
    /// What ended the process.
    pub fn endings(&self, host: &dyn Host, heap: Heap<'_>, dying: &DyingStack<'_>) -> Vec<Ending> {
        let decoder = Decoder { v8: self, host, heap };
        let seen = decoder.frames(dying.stack.frames);
        // It is another V8's thread that died.
        if !self.is_alone() && !seen.iter().any(is_known) {
            return Vec::new();
        }
        let end = End { heap: &decoder.heap, dying, seen };
        let check = fatal::message(host, dying);
        let exception = end.exception(check.is_some());
        let fatal = check.or_else(|| end.aborts()).map(|message| {
            let spans = decoder.spans(&dying.stack).into_iter();
            let frames = spans.flat_map(|span| span.language).take(MAX_TRACE);
            let trace = frames.map(|frame| trace_line(&frame).into()).collect();
            Ending::Fatal { message: message.into(), trace }
        });
        let exception = exception.map(|value| self::exception(&decoder.heap, value));
        exception.into_iter().chain(fatal).collect()
    }
}

/// The end of a thread.
struct End<'e, 'h> {
    heap: &'e Heap<'h>,
    dying: &'e DyingStack<'e>,
    /// The frames of V8's code.
    seen: Vec<Seen>,
}

impl End<'_, '_> {
    /// The exception that was not caught. Where V8 says why it gave up, a message on the stack is left of
    /// another one.
    fn exception(&self, gave_up: bool) -> Option<Tagged> {
        let thrown = || if gave_up { None } else { self.thrown() };
        self.triggered().or_else(thrown).or_else(|| self.handled())
    }

    /// What Node.js was given as an exception that nothing handles.
    fn triggered(&self) -> Option<Tagged> {
        self.seen.iter().find_map(|seen| self.argument_of(seen, TRIGGER)?)
    }

    /// The first argument of a call out of JavaScript to a function of this name.
    fn argument_of(&self, seen: &Seen, name: &str) -> Option<Option<Tagged>> {
        let Shape::Typed(kind) = seen.shape else { return None };
        let call = seen.slots.exit_call(self.heap, kind)?;
        (call.function?.shared.name(self.heap)? == name).then_some(call.first_argument)
    }

    /// The function that a frame called out of JavaScript.
    fn called(&self, seen: &Seen) -> Option<Function> {
        let Shape::Typed(kind) = seen.shape else { return None };
        seen.slots.exit_call(self.heap, kind)?.function
    }

    /// What was thrown when V8 aborted.
    fn thrown(&self) -> Option<Tagged> {
        self.dying.frame_of(&THROWS)?;
        let stack = self.native_stack()?;
        let words = self.words(stack);
        let value = |word: &u64| self.heap.word(Addr::new(*word), 0);
        let mut handles: Vec<u64> = words.clone();
        handles.retain(|word| word.is_multiple_of(8) && !stack.contains(Addr::new(*word)));
        handles.sort_unstable();
        handles.dedup();
        let known: HashSet<u64> =
            words.iter().copied().chain(handles.iter().filter_map(value)).collect();
        let slots = (0..MAX_HANDLES).flat_map(|at| {
            let slot = move |handle: &u64| handle.saturating_add(at.saturating_mul(8));
            handles.iter().map(slot)
        });
        let near = slots.filter_map(|slot| value(&slot));
        let mut candidates = words.iter().copied().chain(near);
        candidates.find_map(|word| self.message_argument(word, &known))
    }

    /// The argument of the message that a word is, if it is one of something that is `known`.
    fn message_argument(&self, word: u64, known: &HashSet<u64>) -> Option<Tagged> {
        let message = self.heap.object(Tagged::of(word))?;
        (message.kind == self.heap.layout.types.message).then_some(())?;
        let argument = self.heap.word(message.at, MESSAGE_ARGUMENT)?;
        known.contains(&argument).then(|| Tagged::of(argument))
    }

    /// From where the thread stopped to what it left JavaScript with.
    fn native_stack(&self) -> Option<AddrRange> {
        let start = self.dying.stack.frames.first()?.sp?;
        let end = self.seen.first()?.slots.0.checked_add(ABOVE_FRAME)?;
        let size = end.offset_from(start)?.min(MAX_STACK);
        Some(AddrRange::with_len(start, size))
    }

    fn words(&self, range: AddrRange) -> Vec<u64> {
        let offsets = (0..range.len()).step_by(8);
        offsets.filter_map(|offset| self.heap.word(range.start, offset)).collect()
    }

    /// What the handler of exceptions that are not caught was called with.
    fn handled(&self) -> Option<Tagged> {
        let outer = self.seen.iter().skip(1).map(|seen| seen.shape);
        self.seen.iter().zip(outer).find_map(|(seen, outer)| {
            let Shape::Function(function) = seen.shape else { return None };
            // C++ called it.
            matches!(outer, Shape::Typed(_)).then_some(())?;
            let script = function.shared.script(self.heap)?;
            (script.name(self.heap)? == HANDLER_SCRIPT).then_some(())?;
            let parameters = function.shared.parameter_count(self.heap)?;
            (parameters == HANDLER_PARAMETERS).then_some(())?;
            seen.slots.arguments(self.heap).first().copied()
        })
    }

    /// Whether the program gave up, if V8 and Node.js did not.
    fn aborts(&self) -> Option<String> {
        // The innermost call out of JavaScript is what ended it, in the library's function.
        self.dying.frame_of(&[ABORT])?;
        let mut calls = self.seen.iter().filter_map(|seen| self.called(seen));
        let name = calls.next()?.shared.name(self.heap)?;
        (name == ABORT).then(|| "process.abort()".to_owned())
    }
}

/// Whether a frame is one of a function of this V8.
const fn is_known(seen: &Seen) -> bool {
    matches!(seen.shape, Shape::Function(_))
}

/// What is told of an exception: of an error its message, of what is none the value itself.
fn exception(heap: &Heap<'_>, value: Tagged) -> Ending {
    let object = heap.object(value);
    if let Some(object) = object.filter(|object| heap.is_receiver(*object)) {
        return Ending::Exception {
            fate: Fate::Uncaught,
            type_name: heap.constructor_name(object).into(),
            message: heap.error_message(object).map(Arc::from),
            signal: None,
            object: Some(Addr::new(value.word())),
            trace: heap.error_trace(object).into_iter().map(Arc::from).collect(),
        };
    }
    let (type_name, text) = primitive(heap, value, object);
    Ending::Exception {
        fate: Fate::Uncaught,
        type_name: type_name.into(),
        message: text.map(Arc::from),
        signal: None,
        object: Some(Addr::new(value.word())),
        trace: Vec::new(),
    }
}

/// The type of a value that is no object, and the value as text.
fn primitive(
    heap: &Heap<'_>,
    value: Tagged,
    object: Option<Object>,
) -> (&'static str, Option<String>) {
    let Some(object) = object else {
        return ("number", value.smi().map(|number| number.to_string()));
    };
    if heap.is_string(object) {
        return ("string", heap.text(object, MAX_TEXT));
    }
    if let Some(number) = heap.heap_number(object) {
        return ("number", Some(number_text(number)));
    }
    if let Some(digits) = heap.bigint(object) {
        return ("bigint", Some(digits));
    }
    match heap.oddball(object) {
        Some(name) if matches!(&*name, "true" | "false") => ("boolean", Some(name)),
        Some(name) if name == "null" => ("object", Some(name)),
        Some(name) => ("undefined", Some(name)),
        None => ("symbol", heap.field(object.at, 16).and_then(|text| heap.text(text, MAX_TEXT))),
    }
}

/// A number as JavaScript prints it, but for the exponents of very big and very small ones.
fn number_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    number.to_string()
}
