//! The frames of a stack as dcmds of JavaScript show them.

use kcore::v8::value::{Limits, Value, ValueKind};
use kcore::v8::{FrameDetails, V8};
use kcore::{Core, FrameKind, NamedFrame, NativeStack, Stack};

use super::type_line;

/// A frame, or several that V8 made for itself.
pub enum StackEntry {
    /// A frame of JavaScript.
    Js(Box<JsFrame>),
    /// Any other that has a name.
    Native(NamedFrame),
    /// A frame that V8 made for itself: its native name and its kind.
    Internal(NamedFrame, Option<String>),
    /// This many such frames.
    Elided(u64),
}

/// A frame of JavaScript.
pub struct JsFrame {
    /// The frame, named by V8.
    pub named: NamedFrame,
    /// The same by its native name.
    pub native: Option<NamedFrame>,
    /// What V8 knows beyond that; `None` for a function without a frame of its own.
    pub details: Option<FrameDetails>,
    /// The line where its function begins.
    pub defined: Option<u32>,
    /// `this` and the arguments.
    pub operands: Vec<Operand>,
}

/// `this` or an argument.
pub struct Operand {
    /// `this`, `arg1`.
    pub name: String,
    /// The tagged word.
    pub word: u64,
    /// A short description.
    pub type_line: String,
    /// Its value, if that is short.
    pub value: Option<Value>,
}

/// How much of an operand is shown: what fits on a line.
const ON_A_LINE: Limits = Limits { depth: 0, entries: 0, units: 64 };

/// The frames of a stack, innermost first. `all` lists those that V8 made for itself one by one.
pub fn of_stack(core: &Core, v8s: &[&V8], stack: &Stack, all: bool) -> Vec<StackEntry> {
    let native = core.stacks().native_frames(stack).filter(|frame| !frame.is_tail_call());
    let native: Vec<NamedFrame> = native.collect();
    // An inlined call has a frame before that of the function that the machine called.
    let outer = |physical: usize| native.iter().rfind(|frame| frame.physical == physical);
    let hidden = |shown: &mut Vec<StackEntry>, range: std::ops::Range<usize>| {
        if !all && !range.is_empty() {
            shown.push(StackEntry::Elided(range.len() as u64));
        }
        let frames = range.filter(|_| all).filter_map(outer);
        shown.extend(frames.map(|frame| {
            let kind = v8s.iter().find_map(|v8| v8.frame_kind(core, frame.frame.as_ref()?));
            StackEntry::Internal(frame.clone(), kind)
        }));
    };
    let (mut shown, mut next) = (Vec::new(), 0_usize);
    for named in core.stacks().named_frames(stack) {
        hidden(&mut shown, next..named.physical);
        next = next.max(named.physical.saturating_add(1));
        shown.push(match named.location.kind {
            FrameKind::Js => {
                let native = outer(named.physical).cloned();
                StackEntry::Js(Box::new(js_frame(core, v8s, named, native)))
            }
            _ => StackEntry::Native(named),
        });
    }
    hidden(&mut shown, next..stack.frames.len());
    shown
}

fn js_frame(core: &Core, v8s: &[&V8], named: NamedFrame, native: Option<NamedFrame>) -> JsFrame {
    let known = v8s.iter().find_map(|v8| {
        let details = v8.frame_details(core, named.frame.as_ref()?, ON_A_LINE)?;
        Some((*v8, details))
    });
    // An inlined function has no frame, so no data of its own lies there.
    let known = known.filter(|_| !named.location.inline);
    let defined = known
        .as_ref()
        .and_then(|(v8, details)| v8.defined(core, details.function).map(|place| place.line));
    let operands = known.as_ref().map(|(v8, details)| operands(core, v8, details));
    JsFrame {
        named,
        native,
        details: known.map(|(_, details)| details),
        defined,
        operands: operands.unwrap_or_default(),
    }
}

fn operands(core: &Core, v8: &V8, details: &FrameDetails) -> Vec<Operand> {
    let this = details.receiver.iter().map(|value| ("this".to_owned(), value));
    let arguments = details.arguments.iter().zip(1..);
    let arguments = arguments.map(|(value, number)| (format!("arg{number}"), value));
    let operand = |(name, value): (String, &Value)| {
        let word = value.word?;
        let type_line = type_line::of(core, v8, word);
        let is_short = matches!(
            value.kind,
            ValueKind::Number(_) | ValueKind::String(_) | ValueKind::BigInt(_)
        );
        let is_smi = word & 1 == 0;
        let value = (is_short && !is_smi).then(|| value.clone());
        Some(Operand { name, word, type_line, value })
    };
    this.chain(arguments).filter_map(operand).collect()
}

/// Whether a stack has a frame of JavaScript.
pub fn has_javascript(shown: &[StackEntry]) -> bool {
    shown.iter().any(|frame| match frame {
        StackEntry::Js(_) => true,
        StackEntry::Native(named) => named.location.kind == FrameKind::Wasm,
        _ => false,
    })
}

/// A stack as runtimes see it.
pub fn native_stack(stack: &Stack) -> NativeStack<'_> {
    NativeStack { thread: stack.tid, task: None, frames: &stack.frames, end: stack.end }
}
