//! One value of a pipeline, as its end shows it.

use kcore_dcmd::{Cell, Dot, Fields, Piped, Record, View};

/// A value that a walker or a filter of pipelines yields.
pub struct Element(pub Piped);

impl From<Dot> for Element {
    fn from(dot: Dot) -> Self {
        Self(Piped::from(dot))
    }
}

impl Record for Element {
    fn kind(&self) -> &'static str {
        "element"
    }

    /// Threads in decimal, in the form that you can type back; everything else in the radix.
    fn view(&self) -> View {
        match self.0.dot {
            Dot::Thread(_) => View::Line("0t{thread:d}"),
            _ => View::Line("{value:#}"),
        }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let dot = self.0.dot;
        let kind = match dot {
            Dot::Number(_) => "number",
            Dot::Addr(_) => "address",
            Dot::Thread(_) => "thread",
            Dot::Task(_) => "task",
            Dot::Frame { .. } | Dot::TaskFrame { .. } => "frame",
        };
        let (thread, frame) = match dot {
            Dot::Thread(tid) => (Some(tid), None),
            Dot::Frame { tid, index, .. } => (Some(tid), Some(index)),
            Dot::TaskFrame { index, .. } => (None, Some(index)),
            Dot::Number(_) | Dot::Addr(_) | Dot::Task(_) => (None, None),
        };
        out.text("kind", kind)
            .hex("value", dot.number())
            .num("thread", thread.map(|tid| u64::from(tid.get())))
            .put("frame", Cell::or_null(frame, |index| Cell::Num(index as u64)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(self.0.dot)
    }

    fn piped(&self) -> Option<Piped> {
        Some(self.0.clone())
    }
}
