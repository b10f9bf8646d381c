//! The frames that V8's code keeps, seen from their frame pointer.
//!
//! `src/execution/frame-constants.h`, x86-64: below the saved frame pointer lie the context or a mark of
//! the frame's type, the function, the count of arguments, and of bytecode its array and the offset in
//! it; above the return address the receiver and the arguments.

use kcore_mem::Addr;

use super::{Function, Heap, Tagged, heap::Object};

const CONTEXT_OR_TYPE: i64 = -8;
const FUNCTION: i64 = -16;
const ARGUMENT_COUNT: i64 = -24;
const BYTECODE: i64 = -32;
const BYTECODE_OFFSET: i64 = -40;
const RECEIVER: i64 = 16;

/// Marks of frames are small and even.
const MAX_MARK: u64 = 256;
/// Arguments are told no further.
const MAX_ARGUMENTS: u64 = 1 << 16;

/// A frame by its frame pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameSlots(pub Addr);

/// What a frame is, by what lies in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A frame of V8's own of this type.
    Typed(u64),
    /// A JavaScript function's.
    Function(Function),
    /// It looks like a JavaScript function's, which cannot be read.
    Unreadable,
    /// Nothing that V8 makes.
    Unknown,
}

/// What the target of a call into C++ was called with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExitCall {
    /// The function.
    pub function: Option<Function>,
    /// `this`.
    pub receiver: Option<Tagged>,
    /// The first argument, if it was given one.
    pub first_argument: Option<Tagged>,
    /// Whether it was called by `new`.
    pub is_construct: bool,
}

impl FrameSlots {
    /// The word at an offset from the frame pointer.
    pub fn word(self, heap: &Heap<'_>, offset: i64) -> Option<u64> {
        heap.word(self.0.wrapping_offset(offset), 0)
    }

    /// The tagged value at an offset from the frame pointer.
    pub fn tagged(self, heap: &Heap<'_>, offset: i64) -> Option<Tagged> {
        self.word(heap, offset).map(Tagged::of)
    }

    /// What the frame is.
    pub fn shape(self, heap: &Heap<'_>) -> Shape {
        let Some(mark) = self.word(heap, CONTEXT_OR_TYPE) else { return Shape::Unknown };
        if mark & 1 == 0 {
            return if mark < MAX_MARK && mark != 0 {
                Shape::Typed(mark >> 1)
            } else {
                Shape::Unknown
            };
        }
        let Some(held @ Tagged::Strong(_)) = self.tagged(heap, FUNCTION) else {
            return Shape::Unknown;
        };
        match Function::load(heap, held) {
            Some(function) => Shape::Function(function),
            None if mark & 3 == 1 => Shape::Unreadable,
            None => Shape::Unknown,
        }
    }

    /// Where the function of a frame lies, if it looks like that of one.
    pub fn function(self, heap: &Heap<'_>) -> Option<Addr> {
        self.tagged(heap, FUNCTION).and_then(Tagged::object)
    }

    /// Why the function of a frame cannot be read.
    pub fn doubt(self, heap: &Heap<'_>) -> &'static str {
        match self.function(heap).map(|at| heap.space.read_word(at)) {
            Some(Err(fault)) => fault.reason(),
            _ => "its function is damaged",
        }
    }

    /// The bytecode that it runs.
    pub fn bytecode(self, heap: &Heap<'_>) -> Option<Object> {
        let bytecode = heap.object(self.tagged(heap, BYTECODE)?)?;
        (bytecode.kind == heap.layout.types.bytecode_array).then_some(bytecode)
    }

    /// The offset in bytecode that the interpreter saved.
    pub fn bytecode_offset(self, heap: &Heap<'_>) -> Option<i32> {
        self.tagged(heap, BYTECODE_OFFSET)?.smi()
    }

    /// `this`.
    pub fn receiver(self, heap: &Heap<'_>) -> Option<Tagged> {
        self.tagged(heap, RECEIVER)
    }

    /// The context.
    pub fn context(self, heap: &Heap<'_>) -> Option<Object> {
        let context = heap.object(self.tagged(heap, CONTEXT_OR_TYPE)?)?;
        heap.is_context(context).then_some(context)
    }

    /// The arguments that it was called with, without the receiver.
    pub fn arguments(self, heap: &Heap<'_>) -> Vec<Tagged> {
        let count = self.word(heap, ARGUMENT_COUNT).unwrap_or(0).min(MAX_ARGUMENTS);
        let count = count.saturating_sub(u64::from(heap.layout.counts_receiver()));
        let first = self.0.wrapping_offset(RECEIVER).saturating_add(8);
        (0..count).map_while(|index| heap.tagged(first, index.saturating_mul(8))).collect()
    }

    /// The arguments of a call that left JavaScript for a builtin in C++, without the receiver: their
    /// count is a Smi and counts the words that the builtin is called with beside them. That of a
    /// function of the embedder is not known.
    pub fn exit_arguments(self, heap: &Heap<'_>, kind: u64) -> Vec<Tagged> {
        const COUNT: i64 = 32;
        if kind != heap.layout.frames.builtin_exit {
            return Vec::new();
        }
        let receiver = heap.layout.builtin_exit_receiver();
        // New target, function, count, padding where there is any; and the receiver.
        let others = if receiver == 40 { 4 } else { 5 };
        let count = self.tagged(heap, COUNT).and_then(Tagged::smi).unwrap_or(0);
        let count = u64::try_from(count).unwrap_or(0).min(MAX_ARGUMENTS).saturating_sub(others);
        let first = self.0.wrapping_offset(receiver).saturating_add(8);
        (0..count).map_while(|index| heap.tagged(first, index.saturating_mul(8))).collect()
    }

    /// The call of a frame that left JavaScript for a builtin in C++, or for the embedder: `None` for
    /// other frames. `BuiltinExitFrameConstants`, `ApiCallbackExitFrameConstants`.
    pub fn exit_call(self, heap: &Heap<'_>, kind: u64) -> Option<ExitCall> {
        let frames = &heap.layout.frames;
        let offsets = if kind == frames.builtin_exit {
            let receiver = heap.layout.builtin_exit_receiver();
            ExitOffsets { function: 24, receiver, new_target: Some(16) }
        } else if kind != 0 && kind == frames.api_callback_exit {
            let (function, receiver) = heap.layout.api_exit();
            ExitOffsets { function, receiver, new_target: None }
        } else {
            return None;
        };
        let function = self.tagged(heap, offsets.function);
        let new_target = offsets.new_target.and_then(|offset| self.tagged(heap, offset));
        Some(ExitCall {
            function: function.and_then(|function| Function::load(heap, function)),
            receiver: self.tagged(heap, offsets.receiver),
            first_argument: self.tagged(heap, offsets.receiver.saturating_add(8)),
            is_construct: new_target
                .and_then(|value| heap.object(value))
                .is_some_and(|value| heap.is_receiver(value)),
        })
    }
}

/// Where a frame that left JavaScript holds its call, from the frame pointer.
struct ExitOffsets {
    function: i64,
    receiver: i64,
    new_target: Option<i64>,
}
