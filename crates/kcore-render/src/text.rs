//! Text for people.

use std::borrow::Cow;
use std::io::Write;

use kcore_dcmd::{Column, DcmdError, Fields, Record, Result, Sink, View};

use crate::canvas::Canvas;
use crate::number::Numbers;
use crate::out::Out;
use crate::pager::Pager;
use crate::progress::Progress;
use crate::style::Style;
use crate::{sanitize, table, template, wrap};

/// How text looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextOptions {
    /// Attributes of terminals: underlined headers, bold marks, addresses in colour.
    pub styled: bool,
    /// Whether somebody watches: each record is shown when it is there, not when a buffer is full.
    pub live: bool,
    /// Radix and width of numbers.
    pub numbers: Numbers,
}

/// Writes records as text: results to one writer, failures and notes to another.
pub struct TextSink<W: Write, E: Write> {
    out: Out<W>,
    errors: E,
    options: TextOptions,
    /// Reused memory for the text of a record.
    buffer: String,
    header: Option<&'static [Column]>,
    /// Whether what was shown last waits for the end of its line.
    is_open: bool,
    pager: Option<Pager>,
    styled_errors: bool,
    /// Columns at which lines are broken between words.
    columns: Option<usize>,
    progress: Progress,
}

impl<W: Write, E: Write> TextSink<W, E> {
    /// Results go to `out`, failures and notes to `errors`.
    pub fn new(out: W, errors: E, options: TextOptions) -> Self {
        Self {
            out: Out::new(out),
            errors,
            options,
            buffer: String::new(),
            header: None,
            is_open: false,
            pager: None,
            styled_errors: false,
            columns: None,
            progress: Progress::default(),
        }
    }

    /// The same, whose results come one screen at a time, in the lines that begin with
    /// [`Sink::begin_line`].
    #[must_use]
    pub fn with_pager(self, pager: Pager) -> Self {
        Self { pager: Some(pager), ..self }
    }

    /// The same, whose failures stand out.
    #[must_use]
    pub fn with_styled_errors(self, styled_errors: bool) -> Self {
        Self { styled_errors, ..self }
    }

    /// The same, which shows on the second writer how far slow commands have come, if that is a
    /// terminal.
    #[must_use]
    pub fn with_progress(self, on_terminal: bool) -> Self {
        Self { progress: Progress::new(on_terminal), ..self }
    }

    fn show(&mut self, record: &dyn Record) -> Result<()> {
        let view = record.view();
        if view == View::Hidden {
            return Ok(());
        }
        let mut fields = Fields::new();
        record.fields(&mut fields);
        let is_part = matches!(view, View::Part(_));
        let ends_line = self.is_open && !is_part;
        let (numbers, header) = (self.options.numbers, self.header);
        self.draw(|canvas| {
            canvas.push(if ends_line { "\n" } else { "" });
            arrange(canvas, view, header, &fields, numbers);
            canvas.push(if is_part { "" } else { "\n" });
        })?;
        if let View::Table(columns) = view {
            self.header = Some(columns);
        }
        Ok(())
    }

    /// Shows what `draw` generates, line by line while it is generated.
    fn draw(&mut self, draw: impl FnOnce(&mut Canvas<'_>)) -> Result<()> {
        self.progress.erase(&mut self.errors);
        let (out, pager, columns) = (&mut self.out, &mut self.pager, self.columns);
        let is_open = &mut self.is_open;
        let mut show = |text: &str| {
            *is_open = if text.is_empty() { *is_open } else { !text.ends_with('\n') };
            show_text(out, pager.as_mut(), columns, text)
        };
        let buffer = std::mem::take(&mut self.buffer);
        let mut canvas = Canvas::taken_by(self.options.styled, buffer, &mut show);
        draw(&mut canvas);
        let (shown, buffer) = canvas.finish();
        self.buffer = buffer;
        shown?;
        if self.options.live { self.out.flush() } else { Ok(()) }
    }

    /// Ends the line that a part has left open.
    fn end_line(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        self.draw(|canvas| canvas.push("\n"))
    }

    /// A line for the second writer, behind the results so far. That nobody reads it stops nothing.
    fn aside(&mut self, line: &str) -> Result<()> {
        self.end_line()?;
        self.progress.erase(&mut self.errors);
        let flushed = self.out.flush();
        let _ = writeln!(self.errors, "{line}");
        if let Some(pager) = &mut self.pager {
            pager.count(line);
        }
        flushed
    }
}

/// Arranges the cells of a record; a table has its header before its first row.
fn arrange(
    canvas: &mut Canvas<'_>,
    view: View,
    header: Option<&'static [Column]>,
    fields: &Fields<'_>,
    numbers: Numbers,
) {
    match view {
        View::Hidden => {}
        View::Line(line) | View::Part(line) => template::render(canvas, line, fields, numbers),
        View::Table(columns) => {
            if header != Some(columns) {
                table::header(canvas, columns);
            }
            table::row(canvas, columns, fields, numbers);
        }
    }
}

fn show_text<W: Write>(
    out: &mut Out<W>,
    pager: Option<&mut Pager>,
    columns: Option<usize>,
    text: &str,
) -> Result<()> {
    let text = match columns {
        Some(columns) => Cow::Owned(wrap::at_words(text, columns)),
        None => Cow::Borrowed(text),
    };
    match pager {
        Some(pager) => show_pages(out, pager, &text),
        None => out.text(&text),
    }
}

/// Shows text line by line, and asks where a screen is full.
fn show_pages<W: Write>(out: &mut Out<W>, pager: &mut Pager, text: &str) -> Result<()> {
    for line in text.split_inclusive('\n') {
        while !pager.skips(line) && pager.is_full(line) {
            pager.ask(line, &mut |text| out.text(text).and_then(|()| out.flush()))?;
        }
        if !pager.skips(line) {
            out.text(line)?;
            pager.count(line);
        }
    }
    Ok(())
}

impl<W: Write, E: Write> Sink for TextSink<W, E> {
    fn is_for_people(&self) -> bool {
        true
    }

    fn put(&mut self, record: &dyn Record) -> Result<()> {
        self.show(record)
    }

    fn begin(&mut self, record: &dyn Record, _list: &'static str) -> Result<()> {
        self.show(record)
    }

    fn end(&mut self, record: &dyn Record) -> Result<()> {
        self.show(record)
    }

    fn error(&mut self, _command: &str, error: &DcmdError) -> Result<()> {
        if self.options.live && *error == DcmdError::Interrupted {
            // The terminal has shown ^C where it stood.
            let _ = writeln!(self.errors);
        }
        let line = format!("kcore: {}", sanitize::line(&error.to_string()));
        let styled = self.styled_errors;
        self.aside(&if styled { Style::Error.paint(&line) } else { line })
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.aside(&format!("kcore: note: {}", sanitize::line(text)))
    }

    fn hint(&mut self, text: &str) -> Result<()> {
        self.aside(&sanitize::lines(text))
    }

    fn set_radix(&mut self, radix: u32) {
        self.options.numbers.radix = radix;
    }

    fn set_wrap(&mut self, columns: Option<usize>) {
        self.columns = columns;
    }

    fn begin_line(&mut self, paged: bool) {
        if let Some(pager) = &mut self.pager {
            pager.begin_line(paged);
        }
    }

    fn progress(&mut self, done: u64, total: u64) {
        self.progress.show(&mut self.errors, done, total);
    }

    fn finish(&mut self) -> Result<()> {
        self.header = None;
        self.end_line()?;
        if let Some(text) = self.pager.as_mut().and_then(Pager::end_command) {
            self.out.text(&format!("no line has {text}\n"))?;
        }
        self.progress.end(&mut self.errors);
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Frame, Row};

    const PLAIN: TextOptions =
        TextOptions { styled: false, live: false, numbers: Numbers { radix: 16, word_size: 8 } };

    fn shown(run: impl FnOnce(&mut dyn Sink)) -> (String, String) {
        let (mut out, mut errors) = (Vec::new(), Vec::new());
        {
            let mut sink = TextSink::new(&mut out, &mut errors, PLAIN);
            run(&mut sink);
            sink.finish().unwrap();
        }
        (String::from_utf8(out).unwrap(), String::from_utf8(errors).unwrap())
    }

    #[test]
    fn a_header_stands_once_per_command() {
        let (out, _) = shown(|sink| {
            sink.put(&Row(1)).unwrap();
            sink.put(&Row(2)).unwrap();
            sink.finish().unwrap();
            sink.put(&Row(3)).unwrap();
        });
        assert_eq!(out, "VALUE NAME\n    1 row\n    2 row\nVALUE NAME\n    3 row\n");
    }

    #[test]
    fn lines_between_rows_do_not_repeat_the_header() {
        let (out, _) = shown(|sink| {
            sink.put(&Row(1)).unwrap();
            sink.put(&Frame(0x10)).unwrap();
            sink.put(&Row(2)).unwrap();
        });
        assert_eq!(out, "VALUE NAME\n    1 row\nframe 10\n    2 row\n");
    }

    #[test]
    fn parts_share_a_line_that_the_end_of_the_command_ends() {
        struct Part(&'static str);
        impl Record for Part {
            fn kind(&self) -> &'static str {
                "message"
            }
            fn view(&self) -> View {
                View::Part("{text:m}")
            }
            fn fields<'a>(&'a self, out: &mut Fields<'a>) {
                out.text("text", self.0);
            }
        }
        let (out, _) = shown(|sink| {
            sink.put(&Part("a ")).unwrap();
            sink.put(&Part("b")).unwrap();
            sink.finish().unwrap();
            sink.put(&Part("c\n")).unwrap();
            sink.finish().unwrap();
            sink.put(&Part("d")).unwrap();
            sink.put(&Frame(0x10)).unwrap();
        });
        assert_eq!(out, "a b\nc\nd\nframe 10\n");
    }

    #[test]
    fn numbers_follow_the_radix_of_the_session() {
        let (out, _) = shown(|sink| {
            sink.set_radix(10);
            sink.put(&Frame(0x10)).unwrap();
        });
        assert_eq!(out, "frame 16\n");
    }

    #[test]
    fn failures_and_notes_go_to_the_second_writer_in_one_safe_line() {
        let (out, errors) = shown(|sink| {
            sink.error("::x", &DcmdError::failed("no\nsuch \x1b thing")).unwrap();
            sink.note("doubtful").unwrap();
            sink.hint("Usage: ::x").unwrap();
        });
        assert_eq!(out, "");
        assert_eq!(errors, "kcore: no\\nsuch \\x1b thing\nkcore: note: doubtful\nUsage: ::x\n");
    }

    #[test]
    fn failures_are_coloured_where_that_is_wanted() {
        let mut errors = Vec::new();
        let failure = DcmdError::failed("no");
        let sink = TextSink::new(Vec::new(), &mut errors, PLAIN);
        sink.with_styled_errors(true).error("::x", &failure).unwrap();
        assert_eq!(String::from_utf8(errors).unwrap(), "\x1b[31mkcore: no\x1b[0m\n");
    }

    #[test]
    fn pages_end_where_a_record_goes_on() {
        /// Two rows of results at a time; the user wants to see one screen more.
        struct Small;
        impl crate::Screen for Small {
            fn size(&self) -> Option<crate::Size> {
                Some(crate::Size { columns: 80, rows: 3 })
            }
            fn key(&self) -> Option<u8> {
                Some(b' ')
            }
            fn has_key(&self) -> bool {
                false
            }
        }
        let mut out = Vec::new();
        {
            let pager = Pager::new(std::sync::Arc::new(Small));
            let mut sink = TextSink::new(&mut out, Vec::new(), PLAIN).with_pager(pager);
            sink.begin_line(true);
            sink.put(&Row(1)).unwrap();
            sink.put(&Row(2)).unwrap();
            sink.finish().unwrap();
        }
        let blank = format!("\r{}\r", " ".repeat(41));
        let question = ">> More [<space>, <cr>, /, q, n, c, a] ? ";
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(shown, format!("VALUE NAME\n    1 row\n{question}{blank}    2 row\n"));
    }
}
