//! Functions of a process as records, for tables that are written.

use std::time::Duration;

use kcore_dcmd::{Cell, Column, Fields, Record, View};

use super::table::{Row, Table};

const COLUMNS: &[Column] = &[
    Column::right("self", "SELF%", 6),
    Column::right("total", "TOTAL%", 7),
    Column::left("function", "FUNCTION", 48),
    Column::left("place", "PLACE", 0),
];

/// A part of the time, above its functions.
pub(super) struct TopPart<'t> {
    pub(super) table: &'t Table,
    /// What the screen says in its first line.
    pub(super) words: &'t str,
}

impl Record for TopPart<'_> {
    fn kind(&self) -> &'static str {
        "top"
    }

    fn view(&self) -> View {
        View::Line("{words}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("elapsed_ns", nanos(self.table.elapsed))
            .num("covered_ns", nanos(self.table.covered))
            .num("held_ns", nanos(self.table.held))
            .num("samples", self.table.samples)
            .num("lost", self.table.lost)
            .display("words", Cell::text(self.words));
    }
}

/// A function of it.
pub(super) struct TopFunction<'r> {
    pub(super) table: &'r Table,
    pub(super) row: &'r Row,
}

impl Record for TopFunction<'_> {
    fn kind(&self) -> &'static str {
        "top_function"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let function = &self.row.function;
        let percent = |time| Cell::text(format!("{:.1}", self.table.percent(time)));
        out.num("self_ns", nanos(self.row.own))
            .num("total_ns", nanos(self.row.total))
            .text("function", &*function.name)
            .opt_text("module", function.module.as_deref())
            .opt_text("file", function.file.as_deref())
            .opt_text("language", function.script)
            .display("self", percent(self.row.own))
            .display("total", percent(self.row.total))
            .display("place", Cell::or_null(self.row.place(), Cell::text));
    }
}

fn nanos(time: Duration) -> Option<u64> {
    u64::try_from(time.as_nanos()).ok()
}
