//! The lines that format letters fill: columns, margin, wrapping.

/// Columns before what stands on a line of its own.
const MARGIN: usize = 16;

/// Text under construction.
#[derive(Debug)]
pub struct Page {
    /// Columns of a line.
    width: usize,
    /// Lines that are complete, each with its end.
    done: String,
    line: String,
    column: usize,
}

impl Page {
    /// An empty page whose lines have `width` columns.
    pub const fn new(width: usize) -> Self {
        Self { width, done: String::new(), line: String::new(), column: 0 }
    }

    /// A field, padded to `width`; on a new line where it would cross the edge.
    pub fn field(&mut self, text: &str, width: usize) {
        let field = format!("{text:width$}");
        let end = self.column.saturating_add(field.chars().count());
        if end > self.width && self.column > MARGIN {
            self.newline();
        }
        self.indent();
        self.push(&field);
    }

    /// A label, which begins at the edge of the line and fills the margin; at least a blank stands behind it.
    pub fn label(&mut self, text: &str) {
        self.push(text);
        let stop = self.column.saturating_add(1).next_multiple_of(MARGIN);
        self.blanks(stop.saturating_sub(self.column));
    }

    /// Text without a margin.
    pub fn raw(&mut self, text: &str) {
        self.push(text);
    }

    /// Ends the line.
    pub fn newline(&mut self) {
        self.done.push_str(&self.line);
        self.done.push('\n');
        self.line.clear();
        self.column = 0;
    }

    /// Drops all text that was not taken.
    pub fn clear(&mut self) {
        self.done.clear();
        self.line.clear();
        self.column = 0;
    }

    /// Whether so much text waits that it is time to show it.
    pub const fn is_full(&self) -> bool {
        const FULL: usize = 1 << 16;
        self.done.len() > FULL || self.line.len() > FULL
    }

    /// Ends the line if there is anything on it.
    pub fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.newline();
        }
    }

    /// Blanks.
    pub fn blanks(&mut self, count: usize) {
        self.line.extend(std::iter::repeat_n(' ', count));
        self.column = self.column.saturating_add(count);
    }

    /// Blanks up to the next multiple of `stop`.
    pub fn tab(&mut self, stop: usize) {
        self.indent();
        let next = self.column.saturating_add(1).next_multiple_of(stop.max(1));
        self.blanks(next.saturating_sub(self.column));
    }

    /// The complete lines, without the last line end; `None` when there are none.
    pub fn take_done(&mut self) -> Option<String> {
        let mut done = std::mem::take(&mut self.done);
        done.pop().map(|_| done)
    }

    fn indent(&mut self) {
        if self.column == 0 {
            self.blanks(MARGIN);
        }
    }

    fn push(&mut self, text: &str) {
        self.line.push_str(text);
        let last = text.rsplit('\n').next().unwrap_or_default().chars().count();
        self.column = if text.contains('\n') { last } else { self.column.saturating_add(last) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_wrap_to_the_margin() {
        let mut page = Page::new(80);
        page.label("counter:");
        for value in ["1", "2", "3", "4", "5"] {
            page.field(value, 16);
        }
        page.end_line();
        let lines = page.take_done().unwrap();
        let mut lines = lines.lines();
        let row = |text: &str| format!("{text:16}");
        assert_eq!(lines.next().unwrap(), ["counter:", "1", "2", "3", "4"].map(row).concat());
        assert_eq!(lines.next().unwrap(), ["", "5"].map(row).concat());
        assert_eq!((lines.next(), page.take_done()), (None, None));
    }

    #[test]
    fn long_labels_fill_up_to_the_next_stop() {
        let mut page = Page::new(80);
        page.label("a_label_of_twenty_ch");
        page.field("x", 0);
        page.newline();
        assert_eq!(page.take_done().unwrap(), format!("{:32}x", "a_label_of_twenty_ch"));
    }

    #[test]
    fn a_long_field_does_not_leave_an_empty_line() {
        let mut page = Page::new(80);
        page.field(&"x".repeat(100), 0);
        page.end_line();
        assert_eq!(page.take_done().unwrap().lines().count(), 1);
    }

    #[test]
    fn tabs_go_on_at_least_one_column() {
        let mut page = Page::new(80);
        page.raw("12345678");
        page.tab(8);
        page.raw("x");
        page.tab(1);
        page.newline();
        assert_eq!(page.take_done().unwrap(), "12345678        x ");
    }
}
