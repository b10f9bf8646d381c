//! Text under construction that knows its column, with attributes that take no columns.

use kcore_dcmd::Result;

use crate::style::Style;

/// Bytes that are buffered before whole lines are passed on.
const CHUNK: usize = 64 << 10;

/// Receives whole lines while later ones are generated.
pub(crate) type Taker<'o> = &'o mut dyn FnMut(&str) -> Result<()>;

/// Text under construction. Its column is counted when somebody asks for it, which is rare.
pub(crate) struct Canvas<'o> {
    text: String,
    /// Receives finished lines, so that a long answer is never in memory whole.
    taker: Option<Taker<'o>>,
    /// The length at which to look for whole lines again.
    full_at: usize,
    /// The error of the taker; after it, nothing more is generated.
    refused: Result<()>,
    /// The column at `counted`.
    column: usize,
    /// Bytes of the text that are counted.
    counted: usize,
    styled: bool,
}

impl<'o> Canvas<'o> {
    pub(crate) fn new(styled: bool) -> Self {
        Self {
            text: String::new(),
            taker: None,
            full_at: 0,
            refused: Ok(()),
            column: 0,
            counted: 0,
            styled,
        }
    }

    /// A canvas that passes its lines to `taker`. `buffer` is reused memory.
    pub(crate) fn taken_by(styled: bool, mut buffer: String, taker: Taker<'o>) -> Self {
        buffer.clear();
        Self { text: buffer, taker: Some(taker), full_at: CHUNK, ..Self::new(styled) }
    }

    /// Passes on the rest. Gives the taker's result, and the buffer for reuse.
    pub(crate) fn finish(mut self) -> (Result<()>, String) {
        if let Some(taker) = self.taker.take()
            && self.refused.is_ok()
        {
            self.refused = taker(&self.text);
        }
        (self.refused, self.text)
    }

    /// The text so far, attributes included.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Appends text that is safe for a terminal.
    pub(crate) fn push(&mut self, text: &str) {
        if self.refused.is_err() {
            return;
        }
        self.text.push_str(text);
        if self.text.len() >= self.full_at && self.taker.is_some() {
            self.hand_on();
        }
    }

    /// Passes on all complete lines.
    fn hand_on(&mut self) {
        let whole = self.text.rfind('\n').map_or(0, |at| at + 1);
        if let (Some(taker), Some(lines)) = (&mut self.taker, self.text.get(..whole))
            && !lines.is_empty()
        {
            self.refused = taker(lines);
            self.text.drain(..whole);
            (self.column, self.counted) = (0, 0);
        }
        self.full_at = CHUNK.max(self.text.len().saturating_mul(2));
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
    use kcore_dcmd::DcmdError;

    use super::*;

    #[test]
    fn whole_lines_are_handed_on_while_more_are_made() {
        let (mut longest, mut taken) = (0, String::new());
        let mut take = |text: &str| {
            longest = longest.max(text.len());
            taken.push_str(text);
            Ok(())
        };
        let line = format!("{}\n", "x".repeat(99));
        let mut canvas = Canvas::taken_by(false, String::new(), &mut take);
        (0..10_000).for_each(|_| canvas.push(&line));
        canvas.push("ab");
        canvas.tab(8);
        let (said, last) = canvas.finish();
        assert_eq!((said, last.ends_with("ab      ")), (Ok(()), true));
        assert_eq!(taken, format!("{}ab      ", line.repeat(10_000)));
        assert!(longest < 2 * CHUNK, "{longest}");
    }

    #[test]
    fn what_nobody_takes_is_not_made() {
        let mut calls = 0;
        let mut take = |_: &str| {
            calls += 1;
            Err(DcmdError::Closed)
        };
        let mut canvas = Canvas::taken_by(false, String::new(), &mut take);
        (0..1_000_000).for_each(|_| canvas.push("line\n"));
        assert!(canvas.text().len() < 2 * CHUNK);
        assert_eq!(canvas.finish().0, Err(DcmdError::Closed));
        assert_eq!(calls, 1);
    }

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
