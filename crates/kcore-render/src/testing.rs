//! Records for the tests of the sinks.

use kcore::Addr;
use kcore_dcmd::{Column, Dot, Fields, Record, View};

const COLUMNS: &[Column] = &[Column::right("value", "VALUE", 5), Column::left("name", "NAME", 9)];

/// A row of a table, which cannot feed a pipe.
pub(crate) struct Row(pub(crate) u64);

impl Record for Row {
    fn kind(&self) -> &'static str {
        "row"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("value", self.0).text("name", "row").opt_text::<&str>("gone", None);
    }
}

/// Says that nothing was found.
pub(crate) struct Absent;

impl Record for Absent {
    fn kind(&self) -> &'static str {
        "absent"
    }

    fn view(&self) -> View {
        View::Line("there is nothing.")
    }

    fn fields<'a>(&'a self, _out: &mut Fields<'a>) {}

    fn absence(&self) -> Option<String> {
        Some("there is nothing".to_owned())
    }
}

/// An element of a list, with an address.
pub(crate) struct Frame(pub(crate) u64);

impl Record for Frame {
    fn kind(&self) -> &'static str {
        "frame"
    }

    fn view(&self) -> View {
        View::Line("frame {pc}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("pc", Addr::new(self.0)).display("shown", kcore_dcmd::Cell::Num(1));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(Addr::new(self.0)))
    }
}

/// The record around a list: its own dot is no element.
pub(crate) struct Stack;

impl Record for Stack {
    fn kind(&self) -> &'static str {
        "stack"
    }

    fn view(&self) -> View {
        View::Hidden
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("tid", 7);
    }
}

/// What follows the list.
pub(crate) struct StackEnd;

impl Record for StackEnd {
    fn kind(&self) -> &'static str {
        "stack"
    }

    fn view(&self) -> View {
        View::Hidden
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("end", "outermost");
    }
}
