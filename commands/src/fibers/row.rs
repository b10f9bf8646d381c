//! The record of a fiber.

use kcore::{
    Core,
    fiber::{Fiber, State, Wait},
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, SymbolCell, View};

use super::{subject::dot, wait};
use crate::names::Names;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// A fiber in a table.
pub struct Row<'a> {
    fiber: Fiber,
    entry: Option<SymbolCell<'a>>,
    waits_for: Option<&'static str>,
}

impl<'a> Row<'a> {
    /// A row of a table.
    pub fn new(core: &Core, names: &'a Names<'_>, fiber: Fiber) -> Self {
        let entry = fiber.entry.function.map(|at| names.cell(at));
        let waits_for = wait::kind(core, &fiber);
        Self { fiber, entry, waits_for }
    }

    /// What it waits for and until when, or the thread that runs it.
    fn on(&self) -> Option<String> {
        let fiber = &self.fiber;
        if let Some(thread) = fiber.state.thread() {
            return Some(format!("thread {thread}"));
        }
        let what = match (fiber.waits_on, self.waits_for) {
            (Some(Wait { joins: Some(other), .. }), _) => Some(format!("join {other:x}")),
            (Some(wait), Some(kind)) => Some(format!("{kind}, queue {:x}", wait.queue)),
            (Some(wait), None) => Some(format!("queue {:x}", wait.queue)),
            (None, kind) => kind.map(ToOwned::to_owned),
        };
        let until = self.until().map(|at| {
            let fraction = at.checked_rem(SECOND).unwrap_or_default();
            format!("until {}.{fraction:09}", at.checked_div(SECOND).unwrap_or_default())
        });
        let parts: Vec<String> = [what, until].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Until when it sleeps, or waits at most.
    fn until(&self) -> Option<u64> {
        let waits = matches!(self.fiber.state, State::Sleeping | State::Waiting);
        self.fiber.until.filter(|_| waits)
    }

    /// The function that it runs, or the type of what it was given.
    fn shown_entry(&self) -> Cell<'_> {
        match (&self.entry, self.fiber.entry.callable.as_deref()) {
            (Some(symbol), _) => Cell::Symbol(symbol.clone()),
            (None, Some(callable)) => Cell::text(callable),
            (None, None) => Cell::text(""),
        }
    }
}

const COLUMNS: &[Column] = &[
    Column::right("address", "FIBER", 16),
    Column::left("kind", "KIND", 10),
    Column::left("state", "STATE", 9),
    Column::right("scheduler", "SCHED", 7),
    Column::left("on", "ON", 32),
    Column::left("entry_symbol", "ENTRY", 0),
];

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "fiber"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let fiber = &self.fiber;
        let number = |tid: Option<kcore::Tid>| tid.map(|tid| u64::from(tid.get()));
        let function = self.entry.as_ref().and_then(|entry| entry.name.as_deref());
        out.addr("address", fiber.at)
            .text("kind", fiber.kind.as_str())
            .text("state", fiber.state.as_str())
            .num("scheduler", number(fiber.scheduler))
            .num("thread", number(fiber.state.thread()))
            .opt_text("waits_for", self.waits_for)
            .addr("queue", fiber.waits_on.map(|wait| wait.queue))
            .addr("joins", fiber.waits_on.and_then(|wait| wait.joins))
            .num("until", self.until())
            .addr("entry", fiber.entry.function)
            .opt_text("function", function)
            .opt_text("callable", fiber.entry.callable.as_deref())
            .addr("stack_start", fiber.stack.map(|stack| stack.start))
            .addr("stack_end", fiber.stack.map(|stack| stack.end))
            .display("on", Cell::or_null(self.on(), Cell::text))
            .display("entry_symbol", self.shown_entry());
    }

    fn dot(&self) -> Option<Dot> {
        Some(dot(&self.fiber))
    }
}
