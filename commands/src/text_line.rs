//! A line of text that may feed a pipe as an expression.

use kcore_dcmd::{Fields, Record, View};

/// A line of `::echo` or `::cat`. In a pipe it is an expression, whose value is the element.
pub struct TextLine(pub String);

impl Record for TextLine {
    fn kind(&self) -> &'static str {
        "message"
    }

    fn view(&self) -> View {
        View::Line("{text:m}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("text", self.0.as_str());
    }

    fn expressions(&self) -> Option<&str> {
        Some(&self.0)
    }
}
