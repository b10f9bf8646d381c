//! What `::print` shows: a value, or the layout of a type.

use kcore::{Content, Value};
use kcore_dcmd::{Cell, Dot, Fields, Record, ValueCell, ValueStyle, View};

/// A value with the path that leads to it.
pub struct Printed {
    /// The value.
    pub value: Value,
    /// The path; empty for the whole object.
    pub path: String,
    /// Whether the path ends with `[0]` of a pointer: its members follow `->` instead.
    pub is_target: bool,
    /// How it is shown.
    pub style: ValueStyle,
    /// What the next dcmd of a pipe gets.
    pub dot: Option<Dot>,
}

impl Printed {
    fn is_structure(&self) -> bool {
        matches!(self.value.content, Content::Fields(_))
    }

    /// The path as its members have it, and what joins them to it.
    fn prefix(&self) -> (&str, Option<&'static str>) {
        let pointer = self.path.rfind('[').and_then(|at| self.path.get(..at));
        match pointer.filter(|_| self.is_target && self.is_structure()) {
            Some(pointer) => (pointer, Some("->")),
            None => (&self.path, Some(".")),
        }
    }
}

impl Record for Printed {
    fn kind(&self) -> &'static str {
        if self.style.values { "print" } else { "layout" }
    }

    fn view(&self) -> View {
        View::Line("{shown}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let (prefix, joint) = self.prefix();
        let style = ValueStyle { joint, ..self.style };
        let path = (!self.path.is_empty()).then_some(self.path.as_str());
        let alone = ValueCell::new("", &self.value, style);
        let shown = ValueCell::new(prefix, &self.value, style);
        out.opt_text("member", path)
            .put("value", Cell::Value(Box::new(alone)))
            .display("shown", Cell::Value(Box::new(shown)));
    }

    fn dot(&self) -> Option<Dot> {
        self.dot
    }
}
