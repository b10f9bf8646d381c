//! Records: what a dcmd emits.

use crate::{Dot, Fields, Piped};

/// One result of a dcmd: typed facts, and the layout in which people are used to read them.
///
/// Text, JSON and whatever comes later are made from the one call of [`Record::fields`]; the
/// [`View`] only arranges its cells.
pub trait Record {
    /// The word that JSON gives as `"type"`.
    fn kind(&self) -> &'static str;

    /// How text arranges the cells.
    fn view(&self) -> View;

    /// Names the facts. Every key of a kind is always there; what is absent is a null cell.
    fn fields<'a>(&'a self, out: &mut Fields<'a>);

    /// What the next stage of a pipe gets; without it the record cannot feed one.
    fn dot(&self) -> Option<Dot> {
        None
    }

    /// The same with the variables that it binds for the stages behind the next.
    fn piped(&self) -> Option<Piped> {
        self.dot().map(Piped::from)
    }

    /// Text that feeds a pipe by MDB's rule: each line is an expression, whose value is an element.
    fn expressions(&self) -> Option<&str> {
        None
    }

    /// That nothing was found, in a sentence: such a record hands on no value, and a pipe notes the
    /// sentence instead of refusing the record.
    fn absence(&self) -> Option<String> {
        None
    }
}

/// How text arranges the cells of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// A row under a header that is printed once.
    Table(&'static [Column]),
    /// A template, which may span lines. A newline is added at its end.
    ///
    /// - `{key}` is the cell in its natural form: an address or [`Cell::Hex`](crate::Cell::Hex)
    ///   in the radix without prefix, a number in decimal, a list joined by `, `.
    /// - `{key:SPEC}` formats it, SPEC being a sequence of: `#` prefix as MDB's `%#r` (above 9);
    ///   `0` zero-filled to the target's address width; `x`, `d`, `o` radix; a number pads on the
    ///   right to that width (left-aligned), `>` before it pads on the left; `t` followed by
    ///   a number pads with blanks to the next multiple (unless on one); `!` marks it bold;
    ///   `m` lets newlines and tabs of the text stand, for text that is kcore's own.
    /// - `{key?TEXT}` is TEXT, itself a template, when the cell is present (not null, not an empty
    ///   list, not false), `{key^TEXT}` when it is absent. They nest.
    /// - `{key*TEXT}` is TEXT once for each element of a list; `{.}` in it is the element.
    /// - `{{` and `}}` are braces, but within TEXT a closing brace always closes.
    Line(&'static str),
    /// The same without a newline at its end: what the command shows next goes on behind it, and the end
    /// of the command ends the line.
    Part(&'static str),
    /// Nothing is shown to people: they see it otherwise.
    Hidden,
}

/// One column of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// The field that it shows.
    pub key: &'static str,
    /// Its header.
    pub title: &'static str,
    /// Its width in columns; the last column of a row is never padded.
    pub width: usize,
    /// On which side the text stands.
    pub align: Align,
    /// SPEC of [`View::Line`] for the cell, without a width.
    pub spec: &'static str,
}

impl Column {
    /// A left-aligned column.
    pub const fn left(key: &'static str, title: &'static str, width: usize) -> Self {
        Self { key, title, width, align: Align::Left, spec: "" }
    }

    /// A right-aligned column.
    pub const fn right(key: &'static str, title: &'static str, width: usize) -> Self {
        Self { key, title, width, align: Align::Right, spec: "" }
    }

    /// The same column with a format.
    pub const fn spec(mut self, spec: &'static str) -> Self {
        self.spec = spec;
        self
    }
}

/// On which side of a column the text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left edge.
    Left,
    /// At the right edge.
    Right,
}

/// A line of prose for people that is a record for machines: `{"type":"message","text":…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(pub String);

impl Record for Message {
    fn kind(&self) -> &'static str {
        "message"
    }

    fn view(&self) -> View {
        View::Line("{text}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("text", &self.0);
    }
}
