//! Text under construction that knows its column, with attributes that take no columns.

use crate::style::Style;

/// Text under construction. Its column is counted when somebody asks for it, which is rare.
#[derive(Debug, Default)]
pub(crate) struct Canvas {
    text: String,
    /// The column at `counted`.
    column: usize,
    /// Bytes of the text that are counted.
    counted: usize,
    styled: bool,
}

impl Canvas {
    pub(crate) fn new(styled: bool) -> Self {
        Self { styled, ..Self::default() }
    }

    /// The text so far, attributes included.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.column = 0;
        self.counted = 0;
    }

    /// Appends text that is safe for a terminal.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends text with an attribute, where attributes are wanted.
    pub(crate) fn push_styled(&mut self, text: &str, style: Style) {
        if !self.styled || text.is_empty() {
            return self.push(text);
        }
        self.push_attribute(style.on());
        self.push(text);
        self.push_attribute(Style::OFF);
    }

    pub(crate) fn blanks(&mut self, count: usize) {
        self.text.extend(std::iter::repeat_n(' ', count));
    }

    /// Pads with blanks to the next multiple of `stop`, unless already on one.
    pub(crate) fn tab(&mut self, stop: usize) {
        if stop > 0 {
            self.count();
            self.blanks(self.column.next_multiple_of(stop) - self.column);
        }
    }

    /// What a terminal obeys and does not show takes no column.
    fn push_attribute(&mut self, attribute: &str) {
        self.count();
        self.text.push_str(attribute);
        self.counted = self.text.len();
    }

    fn count(&mut self) {
        let rest = &self.text[self.counted..];
        self.column = match rest.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + rest.chars().count(),
        };
        self.counted = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_count_from_the_last_newline_and_ignore_attributes() {
        let mut canvas = Canvas::new(true);
        canvas.push("xxxxxxxxxx\nab");
        canvas.push_styled("c", Style::Bold);
        canvas.tab(8);
        canvas.tab(8);
        canvas.push("d");
        assert_eq!(canvas.text(), "xxxxxxxxxx\nab\x1b[1mc\x1b[0m     d");
    }

    #[test]
    fn plain_output_has_no_attributes() {
        let mut canvas = Canvas::new(false);
        canvas.push_styled("title", Style::Underline);
        assert_eq!(canvas.text(), "title");
    }
}
