//! The record of a task.

use kcore::tokio::TokioTask;
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::subject::dot;
use crate::short_text::short;

/// A task in a table.
pub struct TokioRecord<'t>(pub &'t TokioTask);

/// Widths of columns.
const WAITS: usize = 40;
const PLACE: usize = 16;

const COLUMNS: &[Column] = &[
    Column::right("id", "TASK", 6),
    Column::left("state", "STATE", 9),
    Column::right("thread", "THREAD", 7),
    Column::right("owner", "LIST", 4),
    Column::left("scheduler", "SCHEDULER", 14),
    Column::left("shown_waits", "WAITS", WAITS),
    Column::left("place", "AT", PLACE),
    Column::left("future", "FUTURE", 0),
];

impl TokioRecord<'_> {
    fn place(&self) -> Option<String> {
        let frame = self.0.innermost.as_ref()?;
        let file = frame.file.as_deref()?.rsplit('/').next()?;
        let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
        Some(format!("{file}{line}"))
    }
}

impl Record for TokioRecord<'_> {
    fn kind(&self) -> &'static str {
        "tokio_task"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let task = self.0;
        let innermost = task.innermost.as_ref();
        out.num("id", task.id)
            .addr("address", task.at)
            .text("state", task.state)
            .num("thread", task.thread.map(|tid| u64::from(tid.get())))
            .num("owner", task.owner)
            .opt_text("scheduler", task.scheduler)
            .opt_text("future", task.future.as_deref())
            .opt_text("waits_for", task.waits_for)
            .opt_text("waits_on", task.waits_on.as_deref())
            .num("holder", task.holder)
            .opt_text("function", innermost.and_then(|frame| frame.function.as_deref()))
            .opt_text("file", innermost.and_then(|frame| frame.file.as_deref()))
            .num("line", innermost.and_then(|frame| frame.line).map(u64::from))
            .display("place", Cell::or_null(self.place(), |place| Cell::text(short(&place, PLACE))))
            .display(
                "shown_waits",
                Cell::or_null(task.waits_on.as_deref(), |text| Cell::text(short(text, WAITS))),
            );
    }

    fn dot(&self) -> Option<Dot> {
        Some(dot(self.0))
    }
}
