//! The record of a greenlet.

use std::sync::Arc;

use kcore::{
    Core, LanguageFrame,
    python::greenlet::{Greenlet, GreenletState, Greenlets},
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::{subject::dot, wait};

/// A greenlet in a table.
pub struct GreenletRecord {
    greenlet: Greenlet,
    class: Option<Arc<str>>,
    /// The function that it runs, or was made for.
    function: Option<Arc<str>>,
    /// Its innermost frame of Python.
    innermost: Option<LanguageFrame>,
    waits_for: Option<&'static str>,
    dot: Dot,
}

impl GreenletRecord {
    /// A row of a table.
    pub fn new(core: &Core, found: &Greenlets, greenlet: Greenlet) -> Self {
        let frames = found.frames(core, &greenlet);
        let is_suspended = greenlet.state == GreenletState::Suspended;
        let outermost = frames.last().and_then(|frame| frame.function.clone());
        Self {
            greenlet,
            class: found.class_name(core, greenlet.class),
            function: outermost.or_else(|| found.function(core, &greenlet)),
            innermost: frames.into_iter().next(),
            waits_for: is_suspended.then(|| wait::kind(core, &greenlet)).flatten(),
            dot: dot(core, &greenlet),
        }
    }

    fn place(&self) -> Option<String> {
        let frame = self.innermost.as_ref()?;
        let file = frame.file.as_deref()?.rsplit('/').next()?;
        let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
        Some(format!("{file}{line}"))
    }
}

const COLUMNS: &[Column] = &[
    Column::right("address", "GREENLET", 16),
    Column::left("state", "STATE", 9),
    Column::right("thread", "THREAD", 7),
    Column::right("parent", "PARENT", 16),
    Column::left("class", "CLASS", 14),
    Column::left("waits_for", "WAITS", 9),
    Column::left("place", "AT", 20),
    Column::left("function", "FUNCTION", 0),
];

impl Record for GreenletRecord {
    fn kind(&self) -> &'static str {
        "greenlet"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let greenlet = &self.greenlet;
        let innermost = self.innermost.as_ref();
        out.addr("address", greenlet.at)
            .text("state", greenlet.state.as_str())
            .put("main", Cell::Bool(greenlet.is_main))
            .num("thread", greenlet.thread.map(|tid| u64::from(tid.get())))
            .addr("parent", greenlet.parent)
            .opt_text("class", self.class.as_deref())
            .opt_text("function", self.function.as_deref())
            .opt_text("waits_for", self.waits_for)
            .opt_text("file", innermost.and_then(|frame| frame.file.as_deref()))
            .num("line", innermost.and_then(|frame| frame.line).map(u64::from))
            .display("place", Cell::or_null(self.place(), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        Some(self.dot)
    }
}
