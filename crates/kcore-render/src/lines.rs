//! The lines of a long cell, passed to a canvas while later ones are generated.

use crate::canvas::Canvas;

/// Bytes that are buffered before they are passed on.
const CHUNK: usize = 16 << 10;

/// Lines under construction; without a canvas, all of them are kept.
#[derive(Default)]
pub(crate) struct Lines<'c, 'o> {
    /// Text that was not passed on yet: at least the current line.
    kept: String,
    canvas: Option<&'c mut Canvas<'o>>,
}

impl<'c, 'o> Lines<'c, 'o> {
    /// Lines that are passed to `canvas`.
    pub(crate) fn to(canvas: &'c mut Canvas<'o>) -> Self {
        Self { kept: String::new(), canvas: Some(canvas) }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.kept.push_str(text);
    }

    pub(crate) fn blanks(&mut self, count: usize) {
        self.kept.extend(std::iter::repeat_n(' ', count));
    }

    /// Ends a line. Only here are finished lines passed on.
    pub(crate) fn end_line(&mut self) {
        if self.kept.len() >= CHUNK
            && let Some(canvas) = &mut self.canvas
        {
            canvas.push(&self.kept);
            self.kept.clear();
        }
        self.kept.push('\n');
    }

    /// Ends a line, and begins the next one at `margin`.
    pub(crate) fn new_line(&mut self, margin: usize) {
        self.end_line();
        self.blanks(margin);
    }

    /// Bytes that were not passed on yet.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether the current line ends with this text.
    pub(crate) fn ends_with(&self, end: &str) -> bool {
        self.kept.ends_with(end)
    }

    /// Passes on the rest; without a canvas, gives the whole text.
    pub(crate) fn finish(self) -> String {
        let Some(canvas) = self.canvas else { return self.kept };
        canvas.push(&self.kept);
        String::new()
    }
}
