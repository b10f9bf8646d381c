//! One value that a format letter shows.

use std::borrow::Cow;

use kcore::Addr;
use kcore_dcmd::{Cell, Dot, Fields, Record, View};

/// What a letter found.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// Not a single value.
    Nothing,
    /// A number that is read in hexadecimal: an address, bits.
    Hex(u64),
    /// A count.
    Unsigned(u64),
    /// A signed count.
    Signed(i64),
    /// Characters.
    Text(String),
}

/// One value. All values of a line but one are hidden from people, and that one shows the line.
#[derive(Clone, Debug)]
pub struct ValueRecord {
    /// Where its bytes are; `None` for a value that was typed.
    pub address: Option<Addr>,
    /// Its letter; a quote for quoted text.
    pub format: char,
    /// How many bytes it takes.
    pub size: u64,
    /// The value.
    pub datum: Datum,
    /// The value as the letter writes it.
    pub text: String,
    /// Its address as symbol and offset.
    pub label: Option<String>,
    /// The lines that are shown with it.
    pub shown: Option<String>,
}

impl Record for ValueRecord {
    fn kind(&self) -> &'static str {
        "value"
    }

    fn view(&self) -> View {
        if self.shown.is_some() { View::Line("{shown:m}") } else { View::Hidden }
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let value = match &self.datum {
            Datum::Nothing => Cell::Null,
            Datum::Hex(value) => Cell::Hex(*value),
            Datum::Unsigned(value) => Cell::Num(*value),
            Datum::Signed(value) => Cell::Int(*value),
            Datum::Text(text) => Cell::text(text),
        };
        out.addr("address", self.address)
            .text("format", self.format.to_string())
            .num("size", self.size)
            .put("value", value)
            .text("text", self.text.as_str())
            .opt_text("label", self.label.as_deref())
            .display("shown", Cell::or_null(self.shown.as_deref(), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        match self.datum {
            Datum::Hex(value) | Datum::Unsigned(value) => Some(Dot::Number(value)),
            Datum::Signed(value) => Some(Dot::Number(value.cast_unsigned())),
            Datum::Nothing | Datum::Text(_) => None,
        }
    }
}

/// Lines without any value: a list of blanks and line ends.
pub struct LinesRecord(pub String);

impl Record for LinesRecord {
    fn kind(&self) -> &'static str {
        "message"
    }

    fn view(&self) -> View {
        View::Line("{text:m}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("text", Cow::Borrowed(self.0.as_str()));
    }
}
