//! The record of a bthread.

use kcore::{
    Core,
    bthread::{Bthread, State, Wait},
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, SymbolCell, View};

use super::{subject::id, wait};
use crate::names::Names;

/// A bthread as a row of a table, or with all details.
pub struct Row<'a> {
    bthread: Bthread,
    entry: SymbolCell<'a>,
    waits_for: Option<&'static str>,
    whole: bool,
}

impl<'a> Row<'a> {
    /// A row of a table.
    pub fn new(core: &Core, names: &'a Names<'_>, bthread: Bthread) -> Self {
        let entry = names.cell(bthread.entry);
        let waits_for = wait::kind(core, &bthread);
        Self { bthread, entry, waits_for, whole: false }
    }

    /// The same with all details.
    pub const fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// What it waits for, or the thread that runs it.
    fn on(&self) -> String {
        match (self.bthread.state, self.bthread.waits_on) {
            (State::Running(_) | State::Entered(_) | State::Left(_) | State::Parked(_), _) => {
                let thread = self.bthread.state.thread();
                thread.map(|thread| format!("thread {thread}")).unwrap_or_default()
            }
            (_, Some(Wait { joins: Some(id), .. })) => format!("join {id:x}"),
            (_, Some(wait)) => {
                format!("{} {:x}", self.waits_for.unwrap_or("butex"), wait.butex)
            }
            _ => self.waits_for.unwrap_or_default().to_owned(),
        }
    }

    /// The butex as JSON has it.
    fn butex(&self) -> Cell<'_> {
        Cell::or_null(self.bthread.waits_on, |wait| {
            let half = |value| Cell::or_null(value, |value: u32| Cell::Num(u64::from(value)));
            Cell::Object(vec![
                ("address", Cell::Addr(wait.butex)),
                ("value", half(wait.value)),
                ("expected", half(wait.expected)),
                ("joins", Cell::or_null(wait.joins, Cell::Hex)),
            ])
        })
    }
}

const COLUMNS: &[Column] = &[
    Column::right("id", "BTHREAD", 16),
    Column::left("state", "STATE", 9),
    Column::left("on", "ON", 24),
    Column::left("entry_symbol", "ENTRY", 40),
    Column::left("shown_name", "NAME", 0),
];

impl Record for Row<'_> {
    fn kind(&self) -> &'static str {
        "bthread"
    }

    fn view(&self) -> View {
        if !self.whole {
            return View::Table(COLUMNS);
        }
        View::Line(
            "bthread {id:x}{name? ({name})}: {state}{on?, on {on}}\n\
             \x20   entry: {entry_symbol}({argument:x})\n\
             \x20   meta: {meta:x}{stack?, stack: {stack}}{switches?, switched to {switches} times}\
             {butex_value?\n    butex value: {butex_value}{butex_expected?, {butex_expected} when the wait began}}",
        )
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let bthread = &self.bthread;
        let thread = bthread.state.thread().map(|tid| u64::from(tid.get()));
        let on = Some(self.on()).filter(|on| !on.is_empty());
        let stack = bthread.stack.map(|stack| format!("{:x}-{:x}", stack.start, stack.end));
        let half = |value: Option<u32>| Cell::or_null(value, |value| Cell::Num(u64::from(value)));
        out.hex("id", bthread.id)
            .addr("meta", bthread.meta)
            .opt_text("name", bthread.name.as_deref())
            .text("state", bthread.state.as_str())
            .opt_text("waits_for", self.waits_for)
            .put("butex", self.butex())
            .num("thread", thread)
            .addr("entry", bthread.entry)
            .opt_text("function", self.entry.name.as_deref())
            .addr("argument", bthread.argument)
            .addr("stack_start", bthread.stack.map(|stack| stack.start))
            .addr("stack_end", bthread.stack.map(|stack| stack.end))
            .num("switches", bthread.switches)
            .display("on", Cell::or_null(on, Cell::text))
            .display("stack", Cell::or_null(stack, Cell::text))
            .display("shown_name", Cell::text(bthread.name.as_deref().unwrap_or_default()))
            .display("butex_value", half(bthread.waits_on.and_then(|wait| wait.value)))
            .display("butex_expected", half(bthread.waits_on.and_then(|wait| wait.expected)))
            .display("entry_symbol", Cell::Symbol(self.entry.clone()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Task(id(&self.bthread)))
    }
}
