//! The record of a task.

use kcore::{
    Core,
    python::trio::{Limit, TrioTask, TrioWait},
    tokio::Deadline,
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::subject::dot;
use crate::{short_text::short, until::until_text};

/// A task in a table.
pub struct TrioRecord<'t> {
    /// The task.
    task: &'t TrioTask,
    /// When the scopes around it end what it does, for people.
    until: Option<String>,
}

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

impl<'t> TrioRecord<'t> {
    /// A row of a table.
    pub fn new(core: &Core, task: &'t TrioTask) -> Self {
        let until = match task.limit {
            Limit::At(deadline) => Some(until_text(core, deadline)),
            Limit::Cancelled => Some("cancelled".to_owned()),
            Limit::None => None,
        };
        Self { task, until }
    }

    fn place(&self) -> Option<String> {
        let frame = self.task.innermost.as_ref()?;
        let file = frame.file.as_deref()?.rsplit('/').next()?;
        let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
        Some(format!("{file}{line}"))
    }

    fn fd(&self) -> Option<u64> {
        match self.task.wait {
            Some(TrioWait::Fd(fd, _)) => u64::try_from(fd).ok(),
            _ => None,
        }
    }

    fn owner(&self) -> Option<kcore::Addr> {
        match &self.task.wait {
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
        let task = self.task;
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
            .num("fd", self.fd())
            .addr("owner", self.owner())
            .num("until", until)
            .put("cancelled", Cell::Bool(task.limit == Limit::Cancelled))
            .opt_text("function", innermost.and_then(|frame| frame.function.as_deref()))
            .opt_text("file", innermost.and_then(|frame| frame.file.as_deref()))
            .num("line", innermost.and_then(|frame| frame.line).map(u64::from))
            .display("place", cell(self.place().map(|place| short(&place, PLACE).to_string())))
            .display("shown_waits", cell(waits_on.map(|text| short(&text, WAITS).to_string())))
            .display("shown_until", Cell::or_null(self.until.as_deref(), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        Some(dot(self.task))
    }
}
