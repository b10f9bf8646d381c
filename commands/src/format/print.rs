//! Runs a format list: reads items at dot, writes them to a page, emits them as values.

use kcore::Addr;
use kcore_dcmd::{Cx, Result};

use super::characters;
use super::letters::{Action, Letter, Size};
use super::list::Item;
use super::page::Page;
use super::shown::FormattedNumber;
use super::source::Source;
use super::value::{Datum, LinesRecord, ValueRecord};
use crate::instruction::{self, Decoder};
use crate::names::Names;

/// Runs format lists one after the other, on one page.
pub struct Printer<'a> {
    names: Names<'a>,
    source: Source<'a>,
    /// Whether labels are shown: not when a pipe takes the values.
    labels: bool,
    /// Whether labels are addresses: the variable `_`.
    raw_labels: bool,
    page: Page,
    /// The last value, which waits for the lines that it shows.
    pending: Option<ValueRecord>,
    decoder: Option<Decoder<'a>>,
    /// What the next item is read at.
    dot: u64,
    /// Bytes of one item of the previous letter.
    previous: u64,
}

impl<'a> Printer<'a> {
    /// A printer of what `source` holds.
    pub fn new<'b: 'a>(cx: &Cx<'b>, source: Source<'a>) -> Self {
        Self {
            names: Names::new(cx),
            labels: !cx.input().pipe_out && !source.is_value(),
            raw_labels: cx.shell().variable("_").is_ok_and(|value| value != 0),
            source,
            page: Page::new(cx.shell().page_width()),
            pending: None,
            decoder: None,
            dot: 0,
            previous: 0,
        }
    }

    /// Runs the list at `dot`; answers where dot is then.
    ///
    /// # Errors
    /// If memory cannot be read, and the errors of the sink.
    pub fn list(&mut self, cx: &mut Cx<'_>, items: &[Item], dot: u64) -> Result<u64> {
        self.dot = dot;
        items.iter().try_for_each(|item| self.item(cx, item))?;
        // A list without values, repeated, would fill memory before anything is shown.
        if self.page.is_full() {
            self.finish(cx)?;
        }
        cx.check_interrupt()?;
        Ok(self.dot)
    }

    /// The label before the first item.
    pub fn first_label(&mut self, items: &[Item], dot: u64) {
        if !self.labels {
            return;
        }
        let letter = |at: usize| match items.get(at) {
            Some(Item::Letter(letter, _)) => letter.letter,
            _ => ' ',
        };
        let label = self.label_text(dot);
        match (letter(0), letter(1)) {
            ('a', 'i') => {
                self.page.label(&label);
                self.page.newline();
            }
            ('i', 'a') => self.page.label(&label),
            _ => {
                let named = self.names.at(Addr::new(dot)).filter(|_| !self.raw_labels);
                if named.is_some_and(|named| named.offset == 0) {
                    self.page.raw(&label);
                    self.page.newline();
                }
                self.page.label(&label);
            }
        }
    }

    /// Shows what is left.
    ///
    /// # Errors
    /// When nobody reads it.
    pub fn finish(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        self.page.end_line();
        let shown = self.page.take_done();
        match (self.pending.take(), shown) {
            (Some(value), shown) => cx.emit(&ValueRecord { shown, ..value }),
            (None, Some(lines)) => cx.emit(&LinesRecord(lines)),
            (None, None) => Ok(()),
        }
    }

    /// Shows what was found before a failure; a label alone is nothing.
    ///
    /// # Errors
    /// When nobody reads it.
    pub fn give_up(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        if self.pending.is_some() {
            return self.finish(cx);
        }
        self.page.clear();
        Ok(())
    }

    fn item(&mut self, cx: &mut Cx<'_>, item: &Item) -> Result<()> {
        match item {
            Item::Quoted(text) => {
                self.page.field(text, 0);
                self.emit(cx, '"', 0, Datum::Nothing, text.clone())
            }
            Item::Letter(letter, count) => self.letter(cx, letter, *count),
        }
    }

    fn letter(&mut self, cx: &mut Cx<'_>, letter: &'static Letter, count: u64) -> Result<()> {
        let columns = usize::try_from(count).unwrap_or(usize::MAX);
        match letter.action {
            Action::Forward => self.dot = self.dot.wrapping_add(count),
            Action::Backward => self.dot = self.dot.wrapping_sub(count),
            Action::Back => {
                self.dot = self.dot.wrapping_sub(count.wrapping_mul(self.previous));
            }
            Action::Newline => (0..count).for_each(|_| self.page.newline()),
            Action::Blank => self.page.blanks(columns),
            Action::Tab => self.page.tab(columns),
            Action::String(_) => return self.strings(cx, letter, count),
            _ => return (0..count).try_for_each(|_| self.one(cx, letter)),
        }
        Ok(())
    }

    /// Strings one behind the other, the NUL between them as text.
    fn strings(&mut self, cx: &mut Cx<'_>, letter: &'static Letter, count: u64) -> Result<()> {
        for index in 0..count {
            if index > 0 {
                self.page.raw("\\0");
            }
            self.one(cx, letter)?;
        }
        Ok(())
    }

    /// One item of a letter that shows a value.
    fn one(&mut self, cx: &mut Cx<'_>, letter: &'static Letter) -> Result<()> {
        match letter.action {
            Action::Label => self.label(cx),
            Action::Character(_) | Action::String(_) => self.text(cx, letter),
            Action::Instruction | Action::RawInstruction => self.instruction(cx, letter),
            _ => self.number(cx, letter),
        }
    }

    fn label(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        let text = self.label_text(self.dot);
        self.page.label(&text);
        self.emit(cx, 'a', 0, Datum::Hex(self.dot), text)
    }

    fn text(&mut self, cx: &mut Cx<'_>, letter: &Letter) -> Result<()> {
        let (style, bytes, size) = match letter.action {
            Action::String(style) => {
                let bytes = self.source.string(self.dot)?;
                let size = bytes.len().saturating_add(1);
                (style, bytes, size)
            }
            Action::Character(style) => {
                let byte = self.source.integer(self.dot, 1)?;
                (style, vec![u8::try_from(byte).unwrap_or_default()], 1)
            }
            _ => return Ok(()),
        };
        let text = characters::text(style, &bytes);
        self.page.field(&text, 0);
        self.emit(cx, letter.letter, size, Datum::Text(text.clone()), text)
    }

    fn instruction(&mut self, cx: &mut Cx<'_>, letter: &Letter) -> Result<()> {
        if self.decoder.is_none() {
            self.decoder = Some(Decoder::new(self.names.core())?);
        }
        let Some(decoder) = &self.decoder else { return Ok(()) };
        let decoded = self.source.with_space(self.dot, |space, at| decoder.at(space, at))?;
        let text = instruction::text(&self.names, &decoded);
        if letter.action == Action::RawInstruction {
            // The word as memory has it; at the end of a mapping the instruction alone is there.
            let word = self.source.integer(self.dot, 4);
            let word = word.unwrap_or_else(|_| self.names.core().target().uint(&decoded.bytes));
            self.page.raw(&format!("{:#x} {word:08x}: {text}", self.dot));
        } else {
            self.page.field(&text, 0);
        }
        self.page.newline();
        self.emit(cx, letter.letter, decoded.len(), Datum::Nothing, text)
    }

    fn number(&mut self, cx: &mut Cx<'_>, letter: &Letter) -> Result<()> {
        let size = match letter.size {
            Size::Bytes(bytes) => bytes,
            _ => self.names.core().target().word_size(),
        };
        let value = self.source.integer(self.dot, size)?;
        cx.shell_mut().set_variable("0", value)?;
        let FormattedNumber { datum, text, width } =
            FormattedNumber::new(&self.names, letter.action, value, size);
        match letter.action {
            Action::Jazzed => {
                for line in text.lines() {
                    self.page.field(line, 0);
                    self.page.newline();
                }
            }
            _ => self.page.field(&text, width),
        }
        self.emit(cx, letter.letter, size, datum, text)
    }

    /// Emits the value before this one with the lines that are complete, and moves dot.
    fn emit(
        &mut self,
        cx: &mut Cx<'_>,
        format: char,
        size: usize,
        datum: Datum,
        text: String,
    ) -> Result<()> {
        let at = Addr::new(self.dot);
        let in_memory = !self.source.is_value();
        let value = ValueRecord {
            address: in_memory.then_some(at),
            format,
            size: size as u64,
            datum,
            text,
            label: in_memory.then(|| self.names.spelled(at)).flatten(),
            shown: None,
        };
        self.previous = size as u64;
        if in_memory {
            self.dot = self.dot.wrapping_add(self.previous);
        }
        match self.pending.replace(value) {
            Some(before) => cx.emit(&ValueRecord { shown: self.page.take_done(), ..before }),
            None => cx.check_interrupt(),
        }
    }

    fn label_text(&self, dot: u64) -> String {
        let at = Addr::new(dot);
        match self.raw_labels {
            true => format!("{at:#x}:"),
            false => format!("{}:", self.names.spelled_or_address(at)),
        }
    }
}
