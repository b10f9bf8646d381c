//! Frames and tracebacks as objects: `PyFrameObject` (`Include/cpython/frameobject.h` to 3.10,
//! `Include/internal/pycore_frame.h`), `PyTracebackObject` (`Include/cpython/traceback.h`).

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Python,
    heap::{EXCEPTION, Heap, Object},
    value::{Value, ValueKind},
};
use crate::Host;

/// `f_frame` of a frame object since 3.11.
const F_FRAME: u64 = 24;

/// Where the frame lies that a frame object is of: to 3.10 it is that itself.
pub fn frame_place(heap: &Heap<'_>, object: Object) -> Option<Addr> {
    match heap.layout.minor {
        ..=10 => Some(object.at),
        _ => heap.pointer(object.at, F_FRAME),
    }
}

impl Python {
    /// Of which function a frame or a traceback is, and where in it; nothing of other objects.
    pub(super) fn place_told(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Vec<(Arc<str>, Value)> {
        let place = match self.native(host, object.class).as_ref().map(|native| &*native.name) {
            Some("frame") => {
                let frame = frame_place(heap, object);
                let frame = frame.and_then(|frame| self.frame(heap, frame).ok());
                frame.map(|frame| (frame.code.name.clone(), frame.code.file.clone(), frame.line))
            }
            Some("traceback") => {
                let line = self.trace_line(heap, object.at);
                line.map(|line| (line.function, line.file, line.line))
            }
            _ => None,
        };
        let Some((function, file, line)) = place else { return Vec::new() };
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        vec![
            (Arc::from("function"), Value::made(&function)),
            (Arc::from("place"), Value::made(&format!("{file}{line}"))),
        ]
    }

    /// An attribute that is no object of its own, but a number or a flag: the line of a frame or a traceback, whether
    /// the context of an exception is not to be told.
    pub fn fact(&self, host: &dyn Host, at: Addr, name: &str) -> Option<Value> {
        let heap = self.heap(host);
        let object = heap.object(at)?;
        if object.is(EXCEPTION) && name == "__suppress_context__" {
            let word = if heap.suppresses_context(object) { "True" } else { "False" };
            return Some(Value::of_kind(ValueKind::Word(word)));
        }
        let native = self.native(host, object.class)?;
        let line = match (&*native.name, name) {
            ("frame", "f_lineno") => self.frame(&heap, frame_place(&heap, object)?).ok()?.line?,
            ("traceback", "tb_lineno") => self.trace_line(&heap, at)?.line?,
            _ => return None,
        };
        Some(Value::of_int(line))
    }

    /// What a frame object refers to: its code, the variables of its module, and its own.
    pub(super) fn frame_fields(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        object: Object,
    ) -> Vec<(Arc<str>, Addr)> {
        let is_frame = self.native(host, object.class).is_some_and(|it| &*it.name == "frame");
        let Some(frame) = frame_place(heap, object).filter(|_| is_frame) else { return Vec::new() };
        let offsets = &heap.layout.frame;
        let word = |name: &str, offset| {
            let at = self.referred(heap.word(frame, offset)?)?;
            Some((Arc::from(name), heap.object(at)?.at))
        };
        let own = [("f_code", offsets.code), ("f_globals", offsets.globals)];
        let own = own.into_iter().filter_map(|(name, offset)| word(name, offset));
        let locals = self.locals(host, frame).unwrap_or_default().into_iter();
        locals.map(|local| (local.name, local.at)).chain(own).collect()
    }
}
