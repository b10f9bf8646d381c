//! One value of a pipeline, as its end shows it.

use kcore_dcmd::{Cell, Dot, Fields, Record, View};

/// A value that a walker or a filter of pipelines yields.
pub struct Element(pub Dot);

impl Record for Element {
    fn kind(&self) -> &'static str {
        "element"
    }

    /// Threads in decimal, in the form that can be typed back; all else in the radix.
    fn view(&self) -> View {
        match self.0 {
            Dot::Thread(_) => View::Line("0t{thread:d}"),
            _ => View::Line("{value:#}"),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let kind = match self.0 {
            Dot::Number(_) => "number",
            Dot::Addr(_) => "address",
            Dot::Thread(_) => "thread",
            Dot::Frame { .. } => "frame",
        };
        let (thread, frame) = match self.0 {
            Dot::Thread(tid) => (Some(tid), None),
            Dot::Frame { tid, index, .. } => (Some(tid), Some(index)),
            Dot::Number(_) | Dot::Addr(_) => (None, None),
        };
        out.text("kind", kind)
            .hex("value", self.0.number())
            .num("thread", thread.map(|tid| u64::from(tid.get())))
            .put("frame", Cell::or_null(frame, |index| Cell::Num(index as u64)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(self.0)
    }
}
