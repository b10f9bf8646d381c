//! The frames of JavaScript among the frames of a stack.

use std::sync::Arc;

use kcore_mem::CodeAddr;
use kcore_unwind::{Frame, Trust};

use super::{
    Function, Heap, Location, Tagged, V8,
    call_site::CallSite,
    frame::{FrameSlots, Shape},
    function::Shared,
    inlined::{Inlined, InlinedCall},
    wasm,
};
use crate::{FrameKind, Host, LanguageFrame, NativeStack, Span};

/// What decodes one stack.
pub struct Decoder<'a> {
    /// The runtime.
    pub v8: &'a V8,
    /// The process.
    pub host: &'a dyn Host,
    /// Its heap.
    pub heap: Heap<'a>,
}

/// A frame of V8's code, and what lies in it.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Its index among the native frames.
    pub index: usize,
    /// Where it runs.
    pub pc: CodeAddr,
    /// What it keeps.
    pub slots: FrameSlots,
    /// What it is.
    pub shape: Shape,
}

impl Decoder<'_> {
    /// The spans of a stack.
    pub fn spans(&self, stack: &NativeStack<'_>) -> Vec<Span> {
        let seen = self.frames(stack.frames);
        let spans = seen.iter().enumerate().filter_map(|(order, frame)| {
            let outer = seen.get(order.saturating_add(1)).map(|outer| outer.shape);
            let language = self.language(frame, outer)?;
            Some(Span::replacing(frame.index, language))
        });
        spans.collect()
    }

    /// The frames of V8's code: those out of which the walker was led by a runtime, and the last one,
    /// where there is no module's code.
    pub fn frames(&self, frames: &[Frame]) -> Vec<Seen> {
        let indices = 0..frames.len();
        let seen = indices.filter_map(|index| {
            let frame = frames.get(index)?;
            let outer = frames.get(index.saturating_add(1));
            let led = outer.is_none_or(|outer| outer.trust == Trust::Runtime);
            let alone = outer.is_some() || self.v8.is_made_code(self.host, frame.pc.lookup());
            let ours = led && alone && self.v8.is_code(self.host, frame.pc.lookup());
            let slots = FrameSlots(frame.frame_pointer.filter(|_| ours)?);
            let shape = self.shape(slots, outer);
            let shape = if self.may_be(shape, frame.pc) { shape } else { Shape::Unknown };
            let shape = self.own(shape, slots);
            Some(Seen { index, pc: frame.pc, slots, shape })
        });
        seen.collect()
    }

    /// Whether code at `pc` may have such a frame: WebAssembly is never part of a module. What code of C left on
    /// the stack may look like the mark of any frame.
    fn may_be(&self, shape: Shape, pc: CodeAddr) -> bool {
        let frames = &self.heap.layout.frames;
        let wasm = [frames.wasm, frames.wasm_debug_break];
        let is_wasm = matches!(shape, Shape::Typed(kind) if wasm.contains(&kind));
        !is_wasm || self.v8.is_made_code(self.host, pc.lookup())
    }

    /// What a frame is to this V8: nothing, if it is a function of another one.
    fn own(&self, shape: Shape, slots: FrameSlots) -> Shape {
        let function = match shape {
            Shape::Function(function) => Some(function.object.at),
            Shape::Unreadable => slots.function(&self.heap),
            Shape::Typed(_) | Shape::Unknown => return shape,
        };
        let is_own = function.is_some_and(|at| self.v8.owns_object(self.host, at));
        if is_own || self.v8.is_alone() { shape } else { Shape::Unknown }
    }

    /// What a frame is. One that shares its frame pointer with its caller has no frame of its own.
    fn shape(&self, slots: FrameSlots, outer: Option<&Frame>) -> Shape {
        match outer.and_then(|outer| outer.frame_pointer) {
            Some(fp) if fp == slots.0 => Shape::Typed(self.heap.layout.frames.stub),
            _ => slots.shape(&self.heap),
        }
    }

    /// The frames of JavaScript that a frame is, innermost first; `None` when nothing is known of it.
    fn language(&self, seen: &Seen, outer: Option<Shape>) -> Option<Vec<LanguageFrame>> {
        match seen.shape {
            Shape::Function(function) => Some(self.function(seen, function, outer)),
            Shape::Typed(kind) => Some(self.typed(seen, kind)),
            Shape::Unreadable => {
                let doubt = seen.slots.doubt(&self.heap);
                let doubt = Some(Arc::from(format!("{doubt}, so its function is not known")));
                Some(vec![LanguageFrame { doubt, ..javascript() }])
            }
            Shape::Unknown => None,
        }
    }

    fn typed(&self, seen: &Seen, kind: u64) -> Vec<LanguageFrame> {
        let frames = &self.heap.layout.frames;
        if [frames.wasm, frames.wasm_debug_break].contains(&kind) {
            return vec![wasm::frame(&self.heap, seen.pc, seen.slots)];
        }
        if [frames.js_continuation, frames.js_continuation_catch, frames.builtin].contains(&kind) {
            return self.continuation(seen).into_iter().collect();
        }
        self.exit(seen, kind).into_iter().collect()
    }

    /// A builtin that goes on where optimized code was left: its function lies where that of others
    /// does, beyond the mark.
    fn continuation(&self, seen: &Seen) -> Option<LanguageFrame> {
        let function = Function::load(&self.heap, seen.slots.tagged(&self.heap, -16)?)?;
        let receiver = seen.slots.receiver(&self.heap);
        self.without_place(seen, function, receiver, false)
    }

    fn without_place(
        &self,
        seen: &Seen,
        function: Function,
        receiver: Option<Tagged>,
        is_construct: bool,
    ) -> Option<LanguageFrame> {
        let is_shown = function.shared.is_visible(&self.heap);
        (is_shown && self.v8.owns_object(self.host, function.object.at)).then_some(())?;
        let site = CallSite { is_construct, ..CallSite::new(&self.heap, function, receiver) };
        let (function, object) = (Some(site.shown().into()), Some(seen.slots.0));
        Some(LanguageFrame { function, object, ..javascript() })
    }

    /// A builtin in C++, or a function of the embedder.
    fn exit(&self, seen: &Seen, kind: u64) -> Option<LanguageFrame> {
        let call = seen.slots.exit_call(&self.heap, kind)?;
        self.without_place(seen, call.function?, call.receiver, call.is_construct)
    }

    fn function(
        &self,
        seen: &Seen,
        function: Function,
        outer: Option<Shape>,
    ) -> Vec<LanguageFrame> {
        if !function.shared.is_visible(&self.heap) {
            return Vec::new();
        }
        let sizes = || self.v8.bytecode_sizes(self.host);
        let location = Location::find(&self.heap, self.host, seen.pc, seen.slots, function, &sizes);
        let inlined = location.inlined.iter().map(|inlined| {
            let frame = LanguageFrame {
                function: Some(self.inlined_name(inlined).into()),
                inline: true,
                object: Some(seen.slots.0),
                ..self.inlined_place(inlined)
            };
            self.heap.original(frame, inlined.shared, None)
        });
        let mut frames: Vec<LanguageFrame> = inlined.collect();
        let site = CallSite {
            is_construct: outer.is_some_and(|outer| self.is_construct(outer)),
            ..CallSite::new(&self.heap, function, seen.slots.receiver(&self.heap))
        };
        let own = LanguageFrame {
            function: Some(site.shown().into()),
            object: Some(seen.slots.0),
            ..self.placed(function.shared, location.script_offset)
        };
        frames.push(self.heap.original(own, function.shared, Some(function)));
        frames
    }

    fn is_construct(&self, shape: Shape) -> bool {
        let frames = &self.heap.layout.frames;
        let kinds = [frames.construct, frames.fast_construct];
        matches!(shape, Shape::Typed(kind) if kind != 0 && kinds.contains(&kind))
    }

    /// The name of an inlined function. What it was called on is known where V8 tells it to leave the
    /// code.
    fn inlined_name(&self, inlined: &Inlined) -> String {
        if let InlinedCall::Told { function, receiver, is_construct } = inlined.call {
            let (heap, shared) = (&self.heap, inlined.shared);
            return CallSite { heap, shared, function, receiver, is_construct }.shown();
        }
        let name = inlined.shared.debug_name(&self.heap);
        let name = name.unwrap_or_else(|| "<anonymous>".to_owned());
        match inlined.call {
            InlinedCall::Plain | InlinedCall::Told { .. } => name,
            InlinedCall::Construct => format!("new {name}"),
            InlinedCall::ArrayBuiltin => format!("Array.{name}"),
        }
    }

    fn inlined_place(&self, inlined: &Inlined) -> LanguageFrame {
        match inlined.call {
            InlinedCall::ArrayBuiltin => javascript(),
            InlinedCall::Told { .. } if inlined.shared.script(&self.heap).is_none() => javascript(),
            _ => self.placed(inlined.shared, inlined.script_offset),
        }
    }

    /// A frame at an offset in the script of its function; without one, at the function's first line.
    fn placed(&self, shared: Shared, offset: Option<u64>) -> LanguageFrame {
        let heap = &self.heap;
        let Some(script) = shared.script(heap) else { return javascript() };
        let place = match offset {
            Some(offset) => script.place(heap, offset),
            None => shared.first_place(heap),
        };
        let doubt = offset.is_none().then(|| Arc::from("its instruction is not known"));
        LanguageFrame {
            file: script.shown_name(heap).map(Arc::from),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column).filter(|_| offset.is_some()),
            doubt,
            ..javascript()
        }
    }
}

fn javascript() -> LanguageFrame {
    LanguageFrame { kind: FrameKind::Js, language: Some("javascript"), ..LanguageFrame::default() }
}
