//! Errors: what they say, and the stack that they carry.
//!
//! `src/execution/messages.cc`, `src/objects/call-site-info.tq`. Until a program asks for `stack`, an error
//! has its frames: objects of their own, since V8 14.6 six elements each of one array.

use super::{
    BytecodeSizes, CodeKind, Function, Heap, Tagged, call_site::CallSite, function::Shared,
    heap::Object, layout, positions::Position, trace::trace_line,
};
use crate::{FrameKind, LanguageFrame};

/// Text of errors is read to this many units.
const MAX_TEXT: u64 = 1 << 16;
/// Properties of an error that are looked at, at most.
const MAX_PROPERTIES: u64 = 64;
/// Frames that are told, at most.
const MAX_FRAMES: u64 = 1000;
/// `Symbol`: its flags, of which the lowest says that it is private.
const SYMBOL_FLAGS: u64 = 12;
/// What the line of a frame begins with.
const FRAME: &str = "\n    at ";

// Flags of a frame.
const IS_WASM: i32 = 1;
const IS_CONSTRUCTOR: i32 = 1 << 3;
const IS_ASYNC: i32 = 1 << 5;
/// Whether the offset is that in the source already: bit 6 up to V8 11, then 7.
const IS_COMPUTED: i32 = 3 << 6;

/// Elements of a frame that has no object of its own.
const FLAT_FIELDS: u64 = 6;

impl Heap<'_> {
    /// The property `stack` of an error, as V8 has it, or would make it if it were asked.
    pub fn error_stack(&self, error: Object) -> Option<String> {
        let held = self.held_stack(error)?;
        if self.is_string(held) {
            return self.text(held, MAX_TEXT);
        }
        let lines = self.error_frames(held).into_iter();
        let lines: String = lines.flat_map(|line| [FRAME.to_owned(), line]).collect();
        Some(self.error_header(error) + &lines)
    }

    /// The frames of the stack that an error carries, as V8 prints them, innermost first.
    pub fn error_trace(&self, error: Object) -> Vec<String> {
        let Some(held) = self.held_stack(error) else { return Vec::new() };
        if !self.is_string(held) {
            return self.error_frames(held);
        }
        let text = self.text(held, MAX_TEXT).unwrap_or_default();
        text.split(FRAME).skip(1).map(|line| line.trim_end().to_owned()).collect()
    }

    /// What an error says of itself: the property `message` of it or of its prototypes.
    pub fn error_message(&self, error: Object) -> Option<String> {
        self.inherited_text(error, "message")
    }

    /// As `Error.prototype.toString` puts it.
    fn error_header(&self, error: Object) -> String {
        let name = self.inherited_text(error, "name").unwrap_or_else(|| "Error".to_owned());
        match self.error_message(error).filter(|message| !message.is_empty()) {
            Some(message) if name.is_empty() => message,
            Some(message) => format!("{name}: {message}"),
            None => name,
        }
    }

    fn inherited_text(&self, object: Object, name: &str) -> Option<String> {
        let found = self.prototype_chain(object).find_map(|holder| self.property(holder, name))?;
        let text = self.object(found.value).filter(|value| self.is_string(*value))?;
        self.text(text, MAX_TEXT)
    }

    /// What an error keeps as its stack: its text, or an array of frames. A private symbol without a
    /// name has it; others have its message, and what else V8 keeps.
    fn held_stack(&self, error: Object) -> Option<Object> {
        let own = self.properties(error, MAX_PROPERTIES);
        let private = own.iter().filter(|property| self.is_private(property.key));
        let held = private.filter_map(|property| self.object(property.value)).map(|held| {
            let types = &self.layout.types;
            let is_data = held.kind == types.error_stack_data && types.error_stack_data != 0;
            if is_data { self.field(held.at, 8) } else { Some(held) }
        });
        held.flatten().find(|held| self.has_frames(error, *held))
    }

    fn is_private(&self, key: Object) -> bool {
        let is_private = self.uint(key.at, SYMBOL_FLAGS, 4).is_some_and(|flags| flags & 1 == 1);
        key.kind == self.layout.types.symbol && is_private
    }

    fn has_frames(&self, error: Object, held: Object) -> bool {
        if self.is_string(held) {
            let text = self.text(held, MAX_TEXT).unwrap_or_default();
            return text.contains(FRAME) || text == self.error_header(error);
        }
        held.kind == self.layout.types.fixed_array && self.captured(held, 0).is_some()
    }

    fn error_frames(&self, frames: Object) -> Vec<String> {
        let captured = (0..MAX_FRAMES).map_while(|index| self.captured(frames, index));
        captured.filter_map(|captured| captured.line(self)).collect()
    }

    fn captured(&self, frames: Object, index: u64) -> Option<Captured> {
        if self.layout.has_flat_call_sites() {
            return Captured::flat(self, frames, index.checked_mul(FLAT_FIELDS)?);
        }
        Captured::load(self, self.object(self.element(frames, index)?)?)
    }
}

/// A frame as an error keeps it.
struct Captured {
    code: Tagged,
    receiver: Tagged,
    function: Tagged,
    offset: i32,
    flags: i32,
}

impl Captured {
    /// Of an object of its own.
    fn load(heap: &Heap<'_>, info: Object) -> Option<Self> {
        (info.kind == heap.layout.types.call_site_info).then_some(())?;
        // The code moved to the front once it was trusted.
        let [code, receiver, function] =
            if heap.layout.column.is_since(12, 4) { [8, 16, 24] } else { [24, 8, 16] };
        Some(Self {
            code: heap.tagged(info.at, code)?,
            receiver: heap.tagged(info.at, receiver)?,
            function: heap.tagged(info.at, function)?,
            offset: heap.smi(info.at, 32)?,
            flags: heap.smi(info.at, 40)?,
        })
    }

    /// Of elements of an array, from `first` on.
    fn flat(heap: &Heap<'_>, frames: Object, first: u64) -> Option<Self> {
        let element = |index: u64| heap.element(frames, first.checked_add(index)?);
        Some(Self {
            code: element(0)?,
            receiver: element(1)?,
            function: element(2)?,
            offset: element(3)?.smi()?,
            flags: element(5)?.smi()?,
        })
    }

    /// As V8 prints it.
    fn line(&self, heap: &Heap<'_>) -> Option<String> {
        if self.flags & IS_WASM != 0 {
            return Some("<wasm>".to_owned());
        }
        let function = Function::load(heap, self.function)?;
        let is_async = if self.flags & IS_ASYNC == 0 { "" } else { "async " };
        if !is_async.is_empty() && function.shared.script(heap).is_none() {
            // Promise.all and its kin, of whose promises one is awaited.
            let name = function.shared.name(heap)?;
            return Some(format!("async Promise.{name} (index {})", self.offset));
        }
        let line = trace_line(&self.frame(heap, function));
        Some(format!("{is_async}{line}"))
    }

    fn frame(&self, heap: &Heap<'_>, function: Function) -> LanguageFrame {
        let is_construct = self.flags & IS_CONSTRUCTOR != 0;
        let site = CallSite { is_construct, ..CallSite::new(heap, function, Some(self.receiver)) };
        let script = function.shared.script(heap);
        let offset = self.script_offset(heap, function.shared);
        let place = script.and_then(|script| script.place(heap, offset?));
        LanguageFrame {
            kind: FrameKind::Js,
            function: Some(site.shown().into()),
            file: script.and_then(|script| script.shown_name(heap)).map(Into::into),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            ..LanguageFrame::default()
        }
    }

    fn script_offset(&self, heap: &Heap<'_>, shared: Shared) -> Option<u64> {
        let offset = u64::try_from(self.offset).ok()?;
        if self.flags & IS_COMPUTED != 0 {
            return Some(offset);
        }
        let types = &heap.layout.types;
        let code = heap.object(self.code)?;
        // Since V8 14.6 what stands for it outside the trusted space.
        let held = [types.bytecode_array, types.code];
        let code = match held.contains(&code.kind) {
            true => code,
            false => heap.field(code.at, 8).filter(|inner| held.contains(&inner.kind))?,
        };
        if code.kind == types.bytecode_array {
            return heap.bytecode_position(code, offset)?.script_offset();
        }
        // The instruction behind the call, so that of the call ends one byte before.
        let offset = offset.checked_sub(1)?;
        machine_position(heap, code, shared, offset)?.script_offset()
    }
}

/// The position of an offset in machine code: in baseline code by its bytecode.
fn machine_position(
    heap: &Heap<'_>,
    code: Object,
    shared: Shared,
    offset: u64,
) -> Option<Position> {
    let table = heap.field(code.at, heap.layout.offsets.code_positions)?;
    heap.is_byte_array(table).then_some(())?;
    if CodeKind::load(heap, code)? != CodeKind::Baseline {
        return heap.position_at(table, offset);
    }
    let sizes = BytecodeSizes::parse(&layout::bytecode_sizes(heap.layout.column))?;
    let bytecode = shared.bytecode(heap)?;
    let offset = heap.baseline_offset(bytecode, table, &sizes, offset)?;
    heap.bytecode_position(bytecode, offset)
}
