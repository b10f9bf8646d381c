//! Exceptions: those on their way to a handler, those that are handled, and the stacks that they carry.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    heap::{DICT, EXCEPTION, Heap, Object, TYPE},
    interpreter::ThreadState,
    value::{Items, Limits, Value, ValueKind},
};
use crate::{Ending, Fate, Host};

/// Exceptions that one thread handles, and frames of one traceback, at most.
const MAX_HANDLED: usize = 256;
const MAX_TRACE: usize = 10_000;
/// `PyTracebackObject`, `Include/cpython/traceback.h`.
const TB_NEXT: u64 = 16;
const TB_FRAME: u64 = 24;
const TB_LASTI: u64 = 32;
const TB_LINE: u64 = 36;
/// `f_code` of a frame to 3.10, and since 3.11 `f_frame`: `Include/internal/pycore_frame.h`.
const F_CODE: u64 = 32;
const F_FRAME: u64 = 24;
/// What `sys` keeps of an exception that nobody caught: `last_exc` since 3.12.
const LAST: [&str; 2] = ["last_exc", "last_value"];
/// What is told of the arguments of an exception.
const LIMITS: Limits = Limits { depth: 2, entries: 16, characters: 4096 };

/// The exceptions of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions {
    /// The one on its way to a handler.
    pub raised: Option<Raised>,
    /// Those whose handlers run, innermost first.
    pub handled: Vec<Addr>,
}

/// An exception on its way to a handler. To 3.11 it is a class with a value and a traceback, which become an object
/// only where a handler wants one: `PyErr_NormalizeException`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised {
    /// Its class.
    pub(super) class: Addr,
    /// The exception, or what is to become its argument.
    pub(super) value: Option<Addr>,
    /// The innermost frame that it passed.
    trace: Option<Addr>,
}

/// A line of a traceback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// The function.
    pub function: Arc<str>,
    /// Its file.
    pub file: Arc<str>,
    /// The line.
    pub line: Option<u32>,
}

impl Python {
    /// The exceptions of a thread.
    pub fn exceptions(&self, host: &dyn Host, thread: &ThreadState) -> Exceptions {
        let heap = self.heap(host);
        let offsets = &heap.layout.thread;
        let raised = raised(&heap, thread.at);
        let [value, previous] = heap.layout.objects.handled;
        let mut handled = Vec::new();
        let mut next = heap.pointer(thread.at, offsets.handled);
        for _ in 0..MAX_HANDLED {
            let Some(item) = next else { break };
            handled.extend(heap.field_of(item, value, EXCEPTION).map(|object| object.at));
            next = heap.pointer(item, previous).filter(|next| *next != item);
        }
        Exceptions { raised, handled }
    }

    /// The value of an exception on its way, as that of an object would be.
    pub fn raised_value(&self, host: &dyn Host, raised: Raised, limits: Limits) -> Option<Value> {
        let heap = self.heap(host);
        let is_exception = |at: &Addr| heap.object(*at).is_some_and(|it| it.is(EXCEPTION));
        if let Some(at) = raised.value.filter(is_exception) {
            return self.value(host, at, limits);
        }
        let argument = raised.value.map(|at| self.value_or_why(host, at, limits));
        let items: Vec<Value> = match argument {
            Some(Value { kind: ValueKind::Items { of: Items::Tuple, items, .. }, .. }) => items,
            Some(Value { kind: ValueKind::Word("None"), .. }) => Vec::new(),
            argument => argument.into_iter().collect(),
        };
        let length = items.len() as u64;
        let kind = ValueKind::Items { of: Items::Tuple, items, length };
        let kind = ValueKind::Object {
            arguments: Some(Box::new(Value { at: None, class: None, kind })),
            attributes: Vec::new(),
            has_more: false,
        };
        Some(Value { at: None, class: self.class_name(host, raised.class), kind })
    }

    /// The stack that an exception carries, innermost first.
    pub fn trace(&self, host: &dyn Host, exception: Addr) -> Vec<TraceLine> {
        let heap = self.heap(host);
        self.trace_lines(&heap, heap.pointer(exception, heap.layout.objects.traceback))
    }

    fn trace_lines(&self, heap: &Heap<'_>, first: Option<Addr>) -> Vec<TraceLine> {
        let mut lines = Vec::new();
        let mut next = first;
        while let Some(at) = next.filter(|_| lines.len() < MAX_TRACE) {
            let Some(line) = self.trace_line(heap, at) else { break };
            lines.push(line);
            next = heap.pointer(at, TB_NEXT).filter(|next| *next != at);
        }
        lines.reverse();
        lines
    }

    pub(super) fn trace_line(&self, heap: &Heap<'_>, traceback: Addr) -> Option<TraceLine> {
        let frame = heap.pointer(traceback, TB_FRAME)?;
        let code = match heap.layout.minor {
            ..=10 => heap.pointer(frame, F_CODE)?,
            _ => {
                let frame = heap.pointer(frame, F_FRAME)?;
                Addr::new(heap.word(frame, heap.layout.frame.code)? & !3)
            }
        };
        let code = self.code(heap, code)?;
        // Since 3.11 lines are worked out when they are asked for: -1 until then.
        let line = heap.int(traceback, TB_LINE).and_then(|line| u32::try_from(line).ok());
        let offset = heap.int(traceback, TB_LASTI).map(i64::from);
        let line = line
            .filter(|line| *line > 0)
            .or_else(|| code.line(heap.layout.minor, offset.filter(|offset| *offset >= 0)?));
        Some(TraceLine { function: code.name.clone(), file: code.file.clone(), line })
    }

    /// The exception of a thread that died: the one that it raised and that is on its way, or the one that
    /// `sys` keeps, which nobody caught; or that which it handled.
    pub(super) fn endings(&self, host: &dyn Host, thread: &ThreadState) -> Vec<Ending> {
        let heap = self.heap(host);
        let Exceptions { raised, handled } = self.exceptions(host, thread);
        let in_flight = raised.map(|raised| (Fate::InFlight, raised));
        let last = || {
            let sys = self.sys(&heap, thread)?;
            let last = last_exception(&heap, sys)?;
            self.is_in_excepthook(host, thread, sys, last).then_some((Fate::Uncaught, last))
        };
        let handled = || {
            let innermost = heap.object(*handled.first()?)?;
            Some((Fate::Handled, of_object(&heap, innermost)))
        };
        let known = in_flight.or_else(last).or_else(handled);
        known.and_then(|(fate, raised)| self.ending(host, fate, raised)).into_iter().collect()
    }

    /// The dict of `sys` of the interpreter of a thread.
    fn sys(&self, heap: &Heap<'_>, thread: &ThreadState) -> Option<Object> {
        let interpreter = self.state.get()?.interpreters.get(thread.interpreter)?;
        heap.field_of(interpreter.at, heap.layout.interpreter.sysdict, DICT)
    }

    fn ending(&self, host: &dyn Host, fate: Fate, raised: Raised) -> Option<Ending> {
        let value = self.raised_value(host, raised, LIMITS)?;
        let trace = self.trace_lines(&self.heap(host), raised.trace).into_iter().map(|line| {
            let number = line.line.map(|line| format!(":{line}")).unwrap_or_default();
            Arc::from(format!("{} ({}{number})", line.function, line.file))
        });
        Some(Ending::Exception {
            fate,
            type_name: value.class.clone().unwrap_or_else(|| "<unknown>".into()),
            message: message(&value).map(Arc::from),
            signal: None,
            trace: trace.collect(),
            object: value.at,
        })
    }
}

/// The exception that is on its way in a thread state, `curexc_type` and what follows it to 3.11.
fn raised(heap: &Heap<'_>, thread: Addr) -> Option<Raised> {
    let offset = heap.layout.thread.raised;
    if heap.layout.minor >= 12 {
        return Some(of_object(heap, heap.field_of(thread, offset, EXCEPTION)?));
    }
    let class = heap.field_of(thread, offset.checked_sub(8)?, TYPE)?.at;
    let value = heap.pointer(thread, offset);
    Some(Raised { class, value, trace: heap.pointer(thread, offset.checked_add(8)?) })
}

/// The exception that `sys` was told of last.
fn last_exception(heap: &Heap<'_>, sys: Object) -> Option<Raised> {
    let last = LAST.iter().find_map(|name| heap.lookup(sys, name))?;
    last.is(EXCEPTION).then(|| of_object(heap, last))
}

fn of_object(heap: &Heap<'_>, exception: Object) -> Raised {
    let trace = heap.pointer(exception.at, heap.layout.objects.traceback);
    Raised { class: exception.class, value: Some(exception.at), trace }
}

/// What `str()` has for an exception whose class does not say it otherwise: its argument, or all of them.
fn message(value: &Value) -> Option<String> {
    let ValueKind::Object { arguments: Some(arguments), .. } = &value.kind else { return None };
    let ValueKind::Items { items, .. } = &arguments.kind else { return None };
    match items.as_slice() {
        [] => None,
        [only] => plain(only),
        all => {
            let told = all.iter().map(|item| match &item.kind {
                ValueKind::Str(text) => Some(format!("'{}'", text.text)),
                _ => plain(item),
            });
            told.collect::<Option<Vec<_>>>().map(|told| format!("({})", told.join(", ")))
        }
    }
}

fn plain(value: &Value) -> Option<String> {
    match &value.kind {
        ValueKind::Str(text) => Some(text.text.clone()),
        ValueKind::Int(digits) => Some(digits.to_string()),
        ValueKind::Word(word) => Some((*word).to_owned()),
        ValueKind::Float(number) => Some(format!("{number:?}")),
        _ => None,
    }
}
