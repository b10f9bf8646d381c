//! The record of a task.

use kcore::{
    python::trio::{Limit, TrioTask, TrioWait},
    tokio::Deadline,
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::subject::dot;
use crate::short_text::short;

/// A task in a table.
pub struct TrioRecord<'t>(pub &'t TrioTask);

/// Widths of columns.
const WAITS: usize = 36;
const PLACE: usize = 16;

const COLUMNS: &[Column] = &[
    Column::right("address", "TASK", 12),
    Column::left("state", "STATE", 8),
    Column::right("thread", "THREAD", 7),
    Column::right("parent", "PARENT", 12),
    Column::left("shown_waits", "WAITS", WAITS),
    Column::right("shown_until", "UNTIL", 10),
    Column::left("place", "AT", PLACE),
    Column::left("name", "NAME", 0),
];

impl TrioRecord<'_> {
    fn place(&self) -> Option<String> {
        let frame = self.0.innermost.as_ref()?;
        let file = frame.file.as_deref()?.rsplit('/').next()?;
        let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
        Some(format!("{file}{line}"))
    }

    fn until(&self) -> Option<String> {
        match self.0.limit {
            Limit::At(deadline) => Some(deadline.to_string()),
            Limit::Cancelled => Some("cancelled".to_owned()),
            Limit::None => None,
        }
    }

    fn owner(&self) -> Option<kcore::Addr> {
        match &self.0.wait {
            Some(TrioWait::Object { owner, .. }) => *owner,
            _ => None,
        }
    }
}

impl Record for TrioRecord<'_> {
    fn kind(&self) -> &'static str {
        "trio_task"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let task = self.0;
        let innermost = task.innermost.as_ref();
        let waits_on = task.wait.as_ref().map(ToString::to_string);
        let until = task.limit.deadline().and_then(Deadline::nanos);
        let cell = |text: Option<String>| Cell::or_null(text, Cell::text);
        out.addr("address", task.at)
            .opt_text("name", task.name.as_deref())
            .text("state", task.state.as_str())
            .num("thread", task.thread.map(|tid| u64::from(tid.get())))
            .addr("nursery", task.nursery)
            .addr("parent", task.parent)
            .opt_text("waits_for", task.wait.as_ref().map(TrioWait::kind))
            .put("waits_on", cell(waits_on.clone()))
            .addr("owner", self.owner())
            .num("until", until)
            .put("cancelled", Cell::Bool(task.limit == Limit::Cancelled))
            .opt_text("function", innermost.and_then(|frame| frame.function.as_deref()))
            .opt_text("file", innermost.and_then(|frame| frame.file.as_deref()))
            .num("line", innermost.and_then(|frame| frame.line).map(u64::from))
            .display("place", cell(self.place().map(|place| short(&place, PLACE).to_string())))
            .display("shown_waits", cell(waits_on.map(|text| short(&text, WAITS).to_string())))
            .display("shown_until", cell(self.until()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(dot(self.0))
    }
}
